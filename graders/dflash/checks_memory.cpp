// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>
#include <string>

#include "freed.h"
#include "graders/kit/memory.h"
#include "harness/grading/grader.h"
#include "judge.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

// 64 rows of logits, 8 MiB and then 16, and these once more apart from each other and for several
// threads: what grows with them is a copy of them. Nor does memory grow with the number of calls.
void memory_growth(Probe& probe) {
  constexpr std::int64_t kRows = 64;
  kit::Held half;
  double each = 0;
  for (const std::string name : {"half", "whole", "whole_apart"}) {
    Rng rng = probe.begin_case(name);
    const Language language((name == "half" ? 32'768 : 65'536) + rng.integer(-99, 99), rng);
    Batch batch{&language};
    for (int t = 0; t < 2; ++t) {
      const std::int64_t correct = rng.integer(2, 31);
      batch.drafts.push_back(random_draft(language, chain_plan(correct, 31 - correct), rng));
    }
    CallOptions options;
    if (name == "whole_apart") {
      options.stride_extra = rng.integer(1, 9);
      options.threads = 3;
    }
    VerifyCall verify(batch, options);
    const kit::Held held{kit::fresh_peak_bytes(probe, verify), language.vocab() * kRows * 4};
    require_walks(probe, batch, verify);
    const double peak = kit::mib(held.bytes);
    if (name != "whole_apart")
      probe.workspace_at("vocabulary", static_cast<double>(language.vocab()), peak);
    probe.answer(ClaimKind::peak_workspace, "scratch memory", peak, "MiB");
    if (name == "half")
      half = held;
    else
      each = std::max(each, kit::held_per_byte(half, held));
  }
  probe.fact("memory per byte of logits", each, "B");
  if (each > 0.1)
    probe.fail(fmt::format("holds {:.2f} bytes per byte of logits, want 0.10 or less", each));
  using enum Problem::Callback;
  for (const auto& [name, failing] :
       {std::pair{"call_after_call", none}, std::pair{"failing_target", forward},
        std::pair{"failing_cache", keep}}) {
    Rng rng = probe.begin_case(name);
    require_freed(probe, rng, failing);
    if (failing == forward) require_passes_freed(probe, rng, failing);
  }
  Rng rng = probe.begin_case("trees_again_and_again");
  require_trees_freed(probe, rng);
  rng = probe.begin_case("bad_drafts_again_and_again");
  require_bad_drafts_freed(probe, rng);
}

}  // namespace

std::vector<Check> memory_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"memory_growth", "copies of the logits", performance, 1, major}, memory_growth},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
