// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <tuple>

#include "freed.h"
#include "graders/kit/compare.h"
#include "graders/kit/refusals.h"
#include "half.h"
#include "harness/grading/grader.h"
#include "judge.h"

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
    {"long_windows", {25, 16, 1, 2, 32, 130, 16}},
    {"one_token_windows", {30, 16, 2, 2, 32, 1, 16}},
    {"largest_vocab", {65'536, 4, 1, 1, 4, 5, 4}},
};

// Heads of four numbers: their angles are as good as exact in float32, however far they go.
void require_long_windows(Probe& probe) {
  Rng rng = probe.begin_case("beyond_1024_positions");
  const TernaryModel model{20, 8, 1, 2, 8, 1'040, 4};
  for (const std::int64_t length : {model.context, model.context / 2, std::int64_t{1}})
    require_logits(probe, steady_checkpoint(rng, model, 1), random_text(rng, model.vocab, length));
}

// More matrices than 16 bits count. All layers but the last add nothing, so that it is seen.
void require_many_layers(Probe& probe) {
  Rng rng = probe.begin_case("beyond_65536_matrices");
  const TernaryModel model{20, 4, 9'363, 2, 4, 5, 4};
  Checkpoint checkpoint = random_checkpoint(rng, model);
  for (std::int64_t layer = 0; layer + 1 < model.layers; ++layer)
    for (const LayerTensor which : {kOut, kDown})
      std::ranges::fill(checkpoint.matrices[first_of(layer) + which].scales, std::uint16_t{0});
  CallOptions options;
  options.threads = 1;  // to share out so many matrices of nothing would take seconds
  require_logits(probe, checkpoint, random_text(rng, model.vocab, model.context), options);
}

// Keys that are the opposite of queries: the first position has one score, far below zero.
void require_scores_below_zero(Probe& probe) {
  Rng rng = probe.begin_case("scores_below_zero");
  const TernaryModel model{40, 32, 1, 2, 32, 12, 16};
  Checkpoint checkpoint = random_checkpoint(rng, model, 12);
  TernaryMatrix& key = checkpoint.matrices[first_of(0) + kKey];
  key = checkpoint.matrices[first_of(0) + kQuery];
  for (std::int8_t& code : key.codes) code = static_cast<std::int8_t>(-code);
  for (const std::int64_t length : {1, 2, 12})
    require_logits(probe, checkpoint, random_text(rng, model.vocab, length));
}

// The longest windows there are; what is made for all their positions does not fit into memory.
void require_longest_windows(Probe& probe) {
  Rng rng = probe.begin_case("longest_windows");
  const TernaryModel model{40, 32, 1, 2, 32, 0x7fff'ffff, 16};
  for (const std::int64_t length : {7, 1})
    require_logits(probe, random_checkpoint(rng, model), random_text(rng, model.vocab, length));
}

// One size beyond what is usual: vectors, groups, heads that attend to many, gates of one position.
void require_wide_models(Probe& probe) {
  const std::tuple<const char*, TernaryModel, std::int64_t> all[] = {
      {"vectors_of_520", {12, 520, 1, 2, 260, 4, 260}, 2},
      {"heads_of_136", {30, 136, 1, 1, 4, 140, 4}, 130},
      {"beyond_65536_gates", {12, 4, 1, 2, 66'000, 4, 4}, 2}};
  for (const auto& [name, model, length] : all) {
    Rng rng = probe.begin_case(name);
    require_logits(probe, random_checkpoint(rng, model), random_text(rng, model.vocab, length));
  }
}

// Full windows, short ones and single tokens; the shape of the graded run; and a large window.
void forward_logits(Probe& probe) {
  for (const Shape& shape : kShapes) {
    Rng rng = probe.begin_case(shape.name);
    CallOptions options;
    // So many logits may be written by vectors where fewer are not.
    if (shape.model.vocab * shape.model.context >= 1 << 18) options.placement = {16, 4};
    for (const std::int64_t length :
         {shape.model.context, (shape.model.context + 1) / 2, std::int64_t{1}})
      require_logits(probe, random_checkpoint(rng, shape.model),
                     random_text(rng, shape.model.vocab, length), options);
  }
  Rng rng = probe.begin_case("a_hundred_threads");
  CallOptions options;
  options.threads = 100;
  const TernaryModel long_windows{25, 16, 1, 2, 32, 130, 16};
  require_logits(probe, random_checkpoint(rng, long_windows),
                 random_text(rng, long_windows.vocab, long_windows.context), options);
  probe.restart();  // threads that idle cost later calls time
  rng = probe.begin_case("graded");
  const TernaryModel graded{512, 128, 4, 4, 384, 128, 128};
  require_logits(probe, random_checkpoint(rng, graded), random_text(rng, graded.vocab, 70));
  // The numbers of all positions together do not fit into 16 bits, of the stream nor of the gates.
  rng = probe.begin_case("beyond_65536_numbers");
  require_logits(probe, random_checkpoint(rng, kWideModel),
                 random_text(rng, kWideModel.vocab, kWideModel.context));
  require_many_layers(probe);
  require_scores_below_zero(probe);
  require_long_windows(probe);
  require_longest_windows(probe);
  require_wide_models(probe);
}

// Further than tables of angles go; in heads of four numbers, whose angles float32 has.
void require_far_positions(Probe& probe) {
  Rng rng = probe.begin_case("beyond_4096_positions");
  const TernaryModel model{20, 4, 1, 1, 4, 8'192, 4};
  require_logits(probe, steady_checkpoint(rng, model, 2),
                 random_text(rng, 5, rng.integer(4'100, 4'200)));
}

// Queries and keys so large that attention picks few positions: which, is up to the rotation.
void rotary_positions(Probe& probe) {
  for (const auto& [heads, context] : {std::pair{1, 48}, {2, 96}, {8, 30}, {4, 150}}) {
    Rng rng = probe.begin_case(fmt::format("{}_heads_{}_tokens", heads, context));
    const TernaryModel model{40, 64, 2, heads, 64, context, 32};
    // A few ids only, so that equal tokens stand at many positions.
    require_logits(probe, random_checkpoint(rng, model, 2), random_text(rng, 5, context));
  }
  require_far_positions(probe);
  require_scores_below_zero(probe);
  require_longest_windows(probe);
}

// Activations so small that the epsilon counts, and gains of all sizes and signs.
void norm_gains(Probe& probe) {
  // So small at last that there is little left of a half, and that their squares may be taken for
  // nothing.
  for (const int exponent : {0, -7, -9, -14, -18, -21, -23}) {
    const double size = std::ldexp(1.0, exponent);
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
  require_wide_models(probe);
}

// Two texts that part at some token: before it, nothing may differ.
void causal(Probe& probe) {
  for (const std::int64_t common : {1, 7, 30, 63}) {
    Rng rng = probe.begin_case(fmt::format("part_after_{}", common));
    const TernaryModel model{70, 32, 2, 2, 64, 64, 32};
    const Checkpoint checkpoint = random_checkpoint(rng, model, 2);
    const std::vector<std::uint8_t> bytes = bytes_of(checkpoint);
    Text token = random_text(rng, model.vocab, model.context);
    ForwardCall one(bytes, token, model.vocab);
    probe.run_ok(one);
    const std::vector<float> first = one.logits->copy();
    const ExpectedLogits want = expect(checkpoint, std::span(token).first(1));
    for (std::size_t i = static_cast<std::size_t>(common); i < token.size(); ++i)
      token[i] = static_cast<std::uint16_t>((token[i] + 1 + rng.integer(0, model.vocab - 2)) %
                                            model.vocab);
    ForwardCall other(bytes, token, model.vocab);
    probe.run_ok(other);
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

using Bytes = std::vector<std::uint8_t>;

// Files that are whole, of models that the contract rules out.
void refuse_whole_files(Probe& probe) {
  const Shape shapes[] = {{"whole_without_layers", {40, 24, 0, 2, 36, 10, 12}},
                          {"whole_without_hidden", {40, 24, 1, 2, 0, 10, 12}},
                          {"whole_in_groups_of_6", {40, 24, 1, 2, 36, 10, 6}},
                          {"whole_of_65537_ids", {65'537, 4, 1, 2, 4, 10, 4}}};
  for (const auto& [name, model] : shapes) {
    Rng rng = probe.begin_case(name);
    const Bytes bytes = bytes_of(random_checkpoint(rng, model));
    const Text token{7};
    ForwardCall call(bytes, token, model.vocab);
    kit::require_refused(probe, call, TERNARY_BAD_ARGUMENT);
  }
}

// A file of so many words that who looks at a part of them overlooks what is behind it.
void refuse_large_files(Probe& probe) {
  Rng rng = probe.begin_case("of_300000_scales");
  const TernaryModel model{65'536, 8, 1, 2, 8, 10, 4};
  const Bytes good = bytes_of(random_checkpoint(rng, model));
  const Place table = place_of(model, 0);
  const Place head = place_of(model, tensors_of(model).size() - 1);
  const auto behind = [&](std::int64_t size) {
    return static_cast<std::size_t>(rng.integer(size * 5 / 8, size - 1));
  };
  const std::int64_t codes = model.vocab * model.width / 4;
  const std::int64_t scales = model.vocab * model.width / model.group;
  for (const Place& place : {table, head})
    for (const bool of_codes : {true, false}) {
      Bytes bytes = good;
      if (of_codes)
        bytes[place.codes + behind(codes)] |= 0x30;
      else
        put(bytes, place.scales + 2 * behind(scales), kHalfInfinity);
      const Text token{7};
      ForwardCall call(bytes, token, model.vocab);
      kit::require_refused(probe, call, TERNARY_BAD_ARGUMENT);
    }
}

// Every fault that the contract names, at the beginning, the end and in the middle.
void refused_checkpoints(Probe& probe) {
  Rng rng = probe.begin_case("drawn");
  constexpr TernaryModel model{40, 24, 3, 2, 36, 10, 12};
  const Checkpoint checkpoint = random_checkpoint(rng, model);
  const Bytes good = bytes_of(checkpoint);
  const Text token = random_text(rng, model.vocab, model.context);
  const std::size_t last = tensors_of(model).size() - 1;
  const Place head = place_of(model, last);
  // Neither the first layer nor the last, one of which is looked at where not all are.
  const Place gate = place_of(model, first_of(1) + kGate);
  const std::size_t gains = place_of_gains(model);
  const std::vector<kit::Flaw<Bytes>> flaws{
      {"empty", [](Bytes& b) { b.clear(); }},
      {"half_a_header", [](Bytes& b) { b.resize(20); }},
      {"one_byte_short", [](Bytes& b) { b.pop_back(); }},
      {"one_byte_long", [](Bytes& b) { b.push_back(0); }},
      {"a_dense_embedding_longer", [](Bytes& b) { b.resize(b.size() + std::size_t{40} * 24 * 4); }},
      {"another_magic", [](Bytes& b) { b[3] = '2'; }},
      {"first_code_3", [](Bytes& b) { b[32] |= 3; }},
      {"last_code_3", [&](Bytes& b) { b[head.scales - 1] |= 0xc0; }},
      {"code_3_in_the_middle", [&](Bytes& b) { b[gate.codes + 7] |= 0x0c; }},
      {"scale_nan", [&](Bytes& b) { put(b, head.scales, std::uint16_t{0x7e01}); }},
      {"scale_infinite", [&](Bytes& b) { put(b, gate.scales + 2, kHalfInfinity); }},
      {"scale_negative", [&](Bytes& b) { put(b, gate.scales, std::uint16_t{0xbc00}); }},
      {"scale_minus_zero", [&](Bytes& b) { put(b, gains - 2, std::uint16_t{0x8000}); }},
      {"gain_nan", [&](Bytes& b) { put(b, gains, kit::kNan); }},
      {"gain_infinite", [&](Bytes& b) { put(b, b.size() - 4, -kit::kInfinity); }},
      {"gain_above_64", [&](Bytes& b) { put(b, gains + 4, -64.001f); }},
      {"no_layers", [](Bytes& b) { put(b, 12, std::uint32_t{0}); }},
      {"heads_do_not_divide", [](Bytes& b) { put(b, 16, std::uint32_t{5}); }},
      {"odd_heads", [](Bytes& b) { put(b, 16, std::uint32_t{24}); }},
      {"group_does_not_divide", [](Bytes& b) { put(b, 28, std::uint32_t{16}); }},
      {"group_of_6", [](Bytes& b) { put(b, 28, std::uint32_t{6}); }},
      {"sizes_that_overflow", [](Bytes& b) { put(b, 8, std::uint32_t{0xfffffff0}); }},
  };
  for (const kit::Flaw<Bytes>& flaw : flaws) {
    probe.begin_case(flaw.name);
    Bytes bytes = good;
    flaw.spoil(bytes);
    ForwardCall call(bytes, token, model.vocab);
    kit::require_refused(probe, call, TERNARY_BAD_ARGUMENT);
  }
  refuse_whole_files(probe);
  refuse_large_files(probe);
  require_damaged_files_freed(probe);
  // What is at the edge and no error: the largest half, gains of 64, very many layers.
  probe.begin_case("largest_gain");
  Checkpoint edge = checkpoint;
  edge.gains[1] = -64;
  edge.gains.back() = 64;
  require_logits(probe, edge, token);
  require_many_layers(probe);
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
      {{"refused_checkpoints", "damaged checkpoints that are used", robustness, 1, major},
       refused_checkpoints},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
