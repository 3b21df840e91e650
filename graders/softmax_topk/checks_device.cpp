// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "domain_questions.h"
#include "graders/kit/bits.h"
#include "graders/kit/device.h"
#include "graders/kit/traffic.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// Rows of drawn lengths with gaps between them.
std::vector<std::byte> ask_ragged(Probe& probe, Rng& rng, std::int64_t rows, std::int64_t vocab,
                                  std::int64_t k) {
  Problem problem =
      make_problem(rng, rows, near_to(rng, vocab), near_to(rng, k), {}, rng.integer(1, 9));
  problem.scale = static_cast<float>(rng.uniform(0.5, 1.5));
  problem.options.deterministic = 1;
  for (std::int64_t i = 0; i < rows; ++i)
    problem.valid_len.push_back(rng.chance(0.3) ? rng.integer(0, problem.vocab) : problem.vocab);
  const Answer answer = require_right(probe, problem);
  return kit::bits_of(answer.indices, answer.probs, answer.lse, answer.row_max);
}

/// Where warps, blocks and several blocks share a row, and more winners than a block has room for.
kit::DeviceQuestions questions() {
  struct Shape {
    const char* name;
    std::int64_t rows, vocab, k;
  };
  constexpr Shape kShapes[] = {{"many_short_rows", 37, 129, 17},
                               {"some_rows", 5, 2049, 65},
                               {"one_long_row", 1, 36'000, 40},
                               {"many_winners", 2, 4500, 4200}};
  kit::DeviceQuestions made;
  for (const Shape& shape : kShapes)
    made.cases.push_back({shape.name, [=](Probe& probe, Rng& rng) {
                            return ask_ragged(probe, rng, shape.rows, shape.vocab, shape.k);
                          }});
  made.domains = domain_questions();
  return made;
}

// Every row begins at a sector, so that whoever reads neighbouring entries by neighbouring threads
// needs no more sectors than there are.
void ask_traffic(Probe& probe, const char* name, std::int64_t rows, std::int64_t vocab,
                 std::int64_t k) {
  constexpr std::int64_t kSectorEntries = 8;
  Rng rng = probe.begin_case(name);
  const Problem problem =
      make_problem(rng, rows, vocab + kSectorEntries * rng.integer(0, 50), near_to(rng, k));
  kit::count_traffic(probe);
  require_right(probe, problem);
  const auto logits = static_cast<std::uint64_t>(logit_bytes(problem));
  const auto winners = static_cast<std::uint64_t>(problem.rows * problem.k);
  kit::TrafficBudget budget;
  budget.inputs = {{.name = "logits", .bytes = logits, .is_main = true}};
  budget.bytes = logits + winners * (sizeof(std::int32_t) + sizeof(float)) +
                 static_cast<std::uint64_t>(problem.rows) * 2 * sizeof(float);
  kit::judge_traffic(probe, budget);
}

void traffic_of_rows(Probe& probe) {
  ask_traffic(probe, "short_rows", 500, 512, 10);
  ask_traffic(probe, "rows", 16, 32'000, 50);
}

void traffic_of_long_rows(Probe& probe) {
  ask_traffic(probe, "two_rows", 2, 128'256, 20);
  ask_traffic(probe, "one_row", 1, 260'000, 64);
}

}  // namespace

std::vector<Check> device_checks() {
  using enum Section;
  using enum Severity;
  std::vector<Check> all = kit::device_checks(questions());
  all.push_back(
      {{"traffic_of_rows", "passes over the logits, scattered loads", performance, 2, minor},
       traffic_of_rows});
  all.push_back(
      {{"traffic_of_long_rows", "the same where several blocks share a row", performance, 2, minor},
       traffic_of_long_rows});
  return all;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
