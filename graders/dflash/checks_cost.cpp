#include <algorithm>
#include <fmt/format.h>

#include "cases.h"
#include "graders/kit/memory.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "play.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// One long request among many short ones, as a server has them.
Play serve(Probe& probe, const char* name) {
  Rng rng = probe.begin_case(name);
  const Language language(rng.integer(30, 60), rng);
  Scene scene{&language, {}, 16, chain_drafter(language, rng.seed(), 2, 16)};
  for (int r = 0; r < 12; ++r)
    scene.prompts.push_back(random_prompt(language, rng.integer(1, 40), r == 5 ? 90 : 4, rng));
  return play(probe, scene);
}

double ratio(std::int64_t a, std::int64_t b) {
  return static_cast<double>(a) / static_cast<double>(b);
}

/// Memory that one call of dflash_verify takes; the answer has to be right.
std::int64_t peak_of(Probe& probe, std::int64_t vocab, Rng& rng) {
  const Language language(vocab, rng);
  Batch batch{&language, {}, {}};
  for (int t = 0; t < 2; ++t) {
    const std::int64_t correct = rng.integer(2, 31);
    batch.drafts.push_back(draw_draft(language, chain_plan(correct, 31 - correct), rng));
  }
  expect_greedy(probe, batch);  // libraries and thread stacks are there before it is measured
  VerifyCall verify(batch);
  verify.call.measure_memory = true;
  probe.run_ok(verify.call);
  if (!verify.call.peak_bytes) probe.unmeasured("memory cannot be measured here");
  return *verify.call.peak_bytes;
}

// The share of points is the share of passes that was needed. What a fifth more passes cost no
// drafter can bring back.
void forward_passes(Probe& probe) {
  const Play seen = serve(probe, "passes");
  const std::int64_t need = seen.fewest_forwards();
  const std::int64_t made = seen.model->forwards();
  probe.fact("forward passes over the fewest possible", ratio(made, need), "x");
  if (5 * made > 6 * need)
    probe.fail(
        fmt::format("{} forward passes where {} do, want {} or fewer", made, need, 6 * need / 5));
  probe.earn(std::min(1.0, ratio(need, made)));
}

// Rows are the work of a pass. Laying out every path on its own may take three times the nodes, and
// costs points; four times is no layout.
void forward_rows(Probe& probe) {
  const Play seen = serve(probe, "rows");
  const std::int64_t need = seen.fewest_rows();
  const std::int64_t made = seen.model->rows();
  probe.fact("rows over those of the drafted trees", ratio(made, need), "x");
  if (made > 4 * need)
    probe.fail(fmt::format("{} rows in the forward passes, the drafted trees have {}", made, need));
  probe.earn(std::min(1.0, ratio(need, made)));
}

// 64 rows of logits, 8 MiB and then 16: what grows with them is a copy of them.
void scratch_memory(Probe& probe) {
  constexpr std::int64_t kRows = 64;
  kit::Held held[2];
  for (int turn = 0; turn < 2; ++turn) {
    Rng rng = probe.begin_case(turn == 0 ? "half" : "whole");
    const std::int64_t vocab = 32'768 * (turn + 1) + rng.integer(-99, 99);
    probe.restart();
    held[turn] = {peak_of(probe, vocab, rng), vocab * kRows * 4};
    const double mib = static_cast<double>(held[turn].bytes) / (1 << 20);
    probe.workspace_at("vocabulary", static_cast<double>(vocab), mib);
    probe.answer(ClaimKind::peak_workspace, "scratch memory", mib, "MiB");
  }
  const double each = kit::held_per_byte(held[0], held[1]);
  probe.fact("memory per byte of logits", each, "B");
  if (each > 0.1)
    probe.fail(fmt::format("holds {:.2f} bytes per byte of logits, want 0.10 or less", each));
}

}  // namespace

std::vector<Check> cost_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"forward_passes", "more passes of the target than the drafts make necessary", performance,
        2, minor},
       forward_passes},
      {{"forward_rows", "rows of the target that nobody needs", performance, 1, minor},
       forward_rows},
      {{"scratch_memory", "copies of the logits", performance, 1, major}, scratch_memory},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
