// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>

#include "graders/kit/laps.h"
#include "harness/grading/grader.h"
#include "lap.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

RaceSpec verify_race(const char* name, const LapTrees::Sizes& sizes) {
  const auto trees = std::make_shared<LapTrees>(sizes);
  RaceSpec spec;
  spec.case_name = name;
  spec.floor_bytes = 4.0 * static_cast<double>(sizes.vocab * sizes.trees * (sizes.correct + 1));
  spec.prepare = [trees](Rng& inputs, Rng&) { trees->renew(inputs); };
  spec.lap = [trees](Session& session) { return trees->run(session); };
  return spec;
}

// Chains of which half is right: up to where each of them ends every row has to be read, 51 MB of
// logits in all. Big trees with a short path: most rows need not be read. Neither fits into a
// cache.
void speed_verify(Probe& probe) {
  kit::race(probe, {verify_race("chains_6x26_vocab_152064", {6, 26, 13, 152'064, true}),
                    verify_race("trees_8x63_vocab_32768", {8, 63, 7, 32'768})});
}

void speed_build(Probe& probe) {
  const auto masks = std::make_shared<std::optional<LapMasks>>();
  RaceSpec spec;
  spec.case_name = "masks_1024x255";
  // Parents in; masks and positions out.
  spec.floor_written = 1024.0 * 256 * (4 * 8 + 8);
  spec.floor_bytes = 1024.0 * 255 * 4 + spec.floor_written;
  spec.prepare = [masks](Rng& inputs, Rng&) { masks->emplace(inputs); };
  spec.lap = [masks](Session& session) { return (*masks)->run(session); };
  kit::race(probe, {spec});
}

}  // namespace

std::vector<Check> speed_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"speed_verify", "slow verification: logits that are read twice or for nothing", performance,
        4, minor},
       speed_verify},
      {{"speed_build", "slow masks", performance, 1, minor}, speed_build},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
