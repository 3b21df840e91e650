#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "drawing.h"
#include "graders/kit/compare.h"
#include "half.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "oracle.h"
#include "unit.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

struct Shape {
  const char* name;
  TernaryModel model;
};

constexpr Shape kShapes[] = {
    {"small", {61, 32, 1, 2, 64, 16, 16}},
    {"one_head", {40, 24, 2, 1, 36, 20, 12}},
    {"many_heads", {33, 64, 2, 16, 128, 12, 32}},
    {"deep", {50, 32, 6, 4, 32, 24, 32}},
    {"narrow_hidden", {97, 128, 2, 4, 64, 40, 64}},
    {"groups_of_4", {20, 16, 2, 2, 20, 9, 4}},
    {"one_token_windows", {30, 16, 2, 2, 32, 1, 16}},
};

// Full windows, short ones and single tokens; the last of the shapes is that of the graded run.
void forward_logits(Probe& probe) {
  for (const Shape& shape : kShapes) {
    Rng rng = probe.begin_case(shape.name);
    for (const std::int64_t length :
         {shape.model.context, (shape.model.context + 1) / 2, std::int64_t{1}})
      require_logits(probe, random_checkpoint(rng, shape.model),
                     random_text(rng, shape.model.vocab, length));
  }
  Rng rng = probe.begin_case("graded");
  const TernaryModel graded{512, 128, 4, 4, 384, 128, 128};
  require_logits(probe, random_checkpoint(rng, graded), random_text(rng, graded.vocab, 70));
}

// Queries and keys so large that attention picks few positions: which, is up to the rotation.
void rotary_positions(Probe& probe) {
  for (const auto& [heads, context] : {std::pair{1, 48}, {2, 96}, {8, 30}}) {
    Rng rng = probe.begin_case(fmt::format("{}_heads_{}_tokens", heads, context));
    const TernaryModel model{40, 64, 2, heads, 64, context, 32};
    // A few ids only, so that equal tokens stand at many positions.
    require_logits(probe, random_checkpoint(rng, model, 2), random_text(rng, 5, context));
  }
}

// Activations so small that the epsilon counts, and gains of all sizes and signs.
void norm_gains(Probe& probe) {
  for (const double size : {1.0, 0x1p-7, 0x1p-9}) {
    Rng rng = probe.begin_case(fmt::format("embedding_times_{}", size));
    const TernaryModel model{50, 48, 2, 2, 48, 20, 24};
    Checkpoint checkpoint = random_checkpoint(rng, model);
    for (std::uint16_t& scale : checkpoint.matrices[0].scales)
      scale = nearest_half(half_value(scale) * size);
    // Later layers leave the activations small.
    for (std::int64_t layer = 0; layer < model.layers; ++layer)
      for (const LayerTensor which : {kOut, kDown})
        for (std::uint16_t& scale : checkpoint.matrices[first_of(layer) + which].scales)
          scale = nearest_half(half_value(scale) * size);
    for (float& gain : checkpoint.gains) {
      gain *= static_cast<float>(std::exp(rng.normal()));
      if (rng.chance(0.05)) gain = 0;
      gain = std::clamp(gain, -8.0f, 8.0f);
    }
    require_logits(probe, checkpoint, random_text(rng, model.vocab, model.context));
  }
}

// Two texts that part at some token: before it, nothing may differ.
void causal(Probe& probe) {
  for (const std::int64_t common : {1, 7, 30, 63}) {
    Rng rng = probe.begin_case(fmt::format("part_after_{}", common));
    const TernaryModel model{70, 32, 2, 2, 64, 64, 32};
    const Checkpoint checkpoint = random_checkpoint(rng, model, 2);
    const std::vector<std::uint8_t> bytes = bytes_of(checkpoint);
    Text token = random_text(rng, model.vocab, model.context);
    ForwardCall one(bytes, token, model.vocab, {});
    probe.run_ok(one.call);
    const std::vector<float> first = one.logits->copy();
    const WantedLogits want = wanted_logits(checkpoint, std::span(token).first(1));
    for (std::size_t i = static_cast<std::size_t>(common); i < token.size(); ++i)
      token[i] = static_cast<std::uint16_t>((token[i] + 1 + rng.integer(0, model.vocab - 2)) %
                                            model.vocab);
    ForwardCall other(bytes, token, model.vocab, {});
    probe.run_ok(other.call);
    const auto entries = static_cast<std::size_t>(common * model.vocab);
    const auto second = other.logits->view().first(entries);
    // Both may be off by what float32 allows, which is about the same for every position.
    const std::vector<double> wanted(first.begin(), first.begin() + common * model.vocab);
    const double most = *std::max_element(want.allowed.begin(), want.allowed.end());
    const std::vector<double> allowed(entries, 4 * most);
    probe.require(kit::worst_miss(second, wanted, allowed,
                                  kit::index_namer("logits", {common, model.vocab})));
  }
}

}  // namespace

std::vector<Check> forward_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"forward_logits", "another model than the contract's", correctness, 3, critical},
       forward_logits},
      {{"causal", "positions that see what follows them", correctness, 2, critical}, causal},
      {{"rotary_positions", "rotations by other pairs, angles or signs", correctness, 2, critical},
       rotary_positions},
      {{"norm_gains", "epsilon or gains left out or in the wrong place", correctness, 1, major},
       norm_gains},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
