// SPDX-License-Identifier: Apache-2.0
#include "freed.h"

#include <algorithm>

#include "call.h"
#include "graders/kit/memory.h"
#include "half.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

namespace {

/// Some 100,000 weights, which are an array of bytes, of codes or of more; and a window of a token.
constexpr TernaryModel kModel{40, 128, 1, 2, 96, 1, 32};
const Text kToken{7};

}  // namespace

void require_calls_freed(Probe& probe) {
  Rng rng = probe.begin_case("called_thirty_times");
  LinearProblem layer = linear_problem(rng, 96, 20, 32, 1);
  QuantizeProblem matrix{layer.rows, layer.columns, layer.group, layer.weight};
  QuantizeCall quantize(matrix);
  kit::require_freed(probe, quantize);
  GradientCall gradient(layer);
  kit::require_freed(probe, gradient);
  const std::vector<std::uint8_t> bytes = bytes_of(random_checkpoint(rng, kModel));
  ForwardCall forward(bytes, kToken, kModel.vocab);
  kit::require_freed(probe, forward);
  TrainingRequest request = small_request(rng, 0);
  request.model = {24, 64, 1, 2, 64, 4, 32};
  request.documents[0].resize(5);
  TrainingCall training(request);
  kit::require_freed(probe, training);
  std::fill_n(layer.weight.end() - layer.group, layer.group, 7e4F);
  matrix.weight = layer.weight;
  QuantizeCall infinite(matrix);
  kit::require_freed(probe, infinite, TERNARY_BAD_ARGUMENT);
  GradientCall infinite_layer(layer);
  kit::require_freed(probe, infinite_layer, TERNARY_BAD_ARGUMENT);
}

void require_damaged_files_freed(Probe& probe) {
  Rng rng = probe.begin_case("damaged_thirty_times");
  const std::vector<std::uint8_t> good = bytes_of(random_checkpoint(rng, kModel));
  const std::size_t head = tensors_of(kModel).size() - 1;
  std::vector<std::uint8_t> code = good, scale = good, gain = good;
  code[place_of(kModel, head).scales - 1] |= 0xc0;
  put(scale, place_of_gains(kModel) - 2, kHalfInfinity);
  put(gain, gain.size() - 4, 65.0F);
  for (const auto& bytes : {&code, &scale, &gain}) {
    ForwardCall call(*bytes, kToken, kModel.vocab);
    kit::require_freed(probe, call, TERNARY_BAD_ARGUMENT);
  }
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
