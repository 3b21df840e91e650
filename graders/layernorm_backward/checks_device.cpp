// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <fmt/format.h>

#include "domain_questions.h"
#include "graders/kit/bits.h"
#include "graders/kit/device.h"
#include "graders/kit/groups.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using Bits = std::vector<std::byte>;

Bits run_one_forward(Probe& probe, const Problem& problem) {
  CallOptions options;
  options.deterministic = 1;
  Answer answer;
  run_forward(probe, problem, answer, options);
  require_y(probe, problem, answer, expect(problem));
  return kit::bits_of(answer.y);
}

/// Asked to be deterministic: then all of it is promised to the bit. Otherwise nothing is.
Bits run_one_backward(Probe& probe, const Problem& problem, bool deterministic) {
  CallOptions options;
  options.deterministic = deterministic ? 1 : 0;
  const Answer answer = run_step(probe, problem, options);
  require_gradients(probe, problem, answer, expect(problem));
  return deterministic ? kit::bits_of(answer.dx, answer.dgamma, answer.dbeta) : Bits();
}

using Size = std::array<std::int64_t, 2>;  // rows, columns

Problem ragged(Rng& rng, const Size& size) {
  const Gaps gaps{1, 2, 3, 4};
  return make_problem(rng, near_to(rng, size[0]), near_to(rng, size[1]), {}, gaps);
}

std::vector<kit::DeviceCase> small_cases() {
  // Lanes to spare, a warp and some more, a block and some more, more than a block holds.
  constexpr std::array<Size, 6> kSizes{
      {{70, 2}, {200, 17}, {37, 61}, {9, 333}, {5, 1500}, {2, 9000}}};
  std::vector<kit::DeviceCase> cases;
  for (const Size& size : kSizes) {
    const std::string about = fmt::format("about_{}x{}", size[0], size[1]);
    cases.push_back({"forward_" + about, [=](Probe& probe, Rng& rng) {
                       return run_one_forward(probe, ragged(rng, size));
                     }});
    cases.push_back({"backward_" + about, [=](Probe& probe, Rng& rng) {
                       return run_one_backward(probe, ragged(rng, size), true);
                     }});
  }
  cases.push_back({"given_statistics_in_any_order", [](Probe& probe, Rng& rng) {
                     Problem problem = ragged(rng, {300, 40});
                     give_drawn_statistics(rng, problem);
                     return run_one_backward(probe, problem, false);
                   }});
  cases.push_back({"no_rows", [](Probe& probe, Rng& rng) {
                     return run_one_backward(probe, make_problem(rng, 0, near_to(rng, 33)), true);
                   }});
  return cases;
}

void require_clean(Probe& probe) {
  for (const auto& seen : kit::device_of(probe).report().diagnostics()) probe.fail(seen.text);
}

/// The bits of a whole step, of which no call has a fault.
Bits run_clean(Probe& probe, const Problem& problem) {
  CallOptions options;
  options.deterministic = 1;
  Answer answer;
  const Bytes saved = run_forward(probe, problem, answer, options);
  require_clean(probe);
  run_backward(probe, problem, saved, answer, options);
  require_clean(probe);
  const Expected expected = expect(problem);
  require_y(probe, problem, answer, expected);
  require_gradients(probe, problem, answer, expected);
  return kit::bits_of(answer.y, answer.dx, answer.dgamma, answer.dbeta);
}

// Sizes from which kernels of another kind are started, or none at all: no race and no undefined
// read in these, on a stream that waits for no other, no work on the host, and the same bits
// however blocks and warps follow each other.
void clean_when_large(Probe& probe) {
  constexpr std::array<Size, 5> kSizes{{{900, 5}, {400, 61}, {150, 500}, {40, 2500}, {8, 12'000}}};
  DeviceControl& device = kit::device_of(probe);
  device.set_stream(StreamKind::non_blocking);
  for (const auto& [rows, cols] : kSizes) {
    Rng rng = probe.begin_case(fmt::format("about_{}x{}", rows, cols));
    const Problem problem = make_big_problem(rng, near_to(rng, rows), near_to(rng, cols));
    DeviceTerms terms = strict_terms();
    device.set_terms(terms);
    const Bits in_order = run_clean(probe, problem);
    terms.schedule_seed = rng();
    device.set_terms(terms);
    if (run_clean(probe, problem) != in_order)
      probe.fail("deterministic results have other bits when blocks and warps are shuffled");
  }
}

}  // namespace

std::vector<Check> traffic_checks();

std::vector<Check> device_checks() {
  using enum Section;
  using enum Severity;
  return kit::joined({kit::device_checks({small_cases(), domain_questions()}),
                      {{{"clean_when_large",
                         "races, undefined reads and lost order in kernels that large inputs start",
                         robustness, 2, major},
                        clean_when_large}},
                      traffic_checks()});
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
