// SPDX-License-Identifier: Apache-2.0
#include "tensors.h"

#include <fmt/format.h>

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr std::int64_t kHeaderBytes = 4 + 7 * 4;

}  // namespace

std::vector<Tensor> tensors_of(const TernaryModel& model) {
  std::vector<Tensor> tensors{{"embedding", model.vocab, model.width}};
  for (std::int64_t layer = 0; layer < model.layers; ++layer) {
    const auto name = [&](const char* matrix) { return fmt::format("layer {} {}", layer, matrix); };
    for (const char* matrix : {"Wq", "Wk", "Wv", "Wo"})
      tensors.push_back({name(matrix), model.width, model.width});
    tensors.push_back({name("Wgate"), model.hidden, model.width});
    tensors.push_back({name("Wup"), model.hidden, model.width});
    tensors.push_back({name("Wdown"), model.width, model.hidden});
  }
  tensors.push_back({"head", model.vocab, model.width});
  return tensors;
}

std::int64_t gains_of(const TernaryModel& model) {
  return (2 * model.layers + 1) * model.width;
}

std::int64_t weights_of(const TernaryModel& model) {
  std::int64_t weights = 0;
  for (const Tensor& tensor : tensors_of(model)) weights += tensor.rows * tensor.columns;
  return weights;
}

std::int64_t checkpoint_bytes_of(const TernaryModel& model) {
  const std::int64_t weights = weights_of(model);
  return kHeaderBytes + weights / 4 + weights / model.group * 2 + gains_of(model) * 4;
}

bool same_model(const TernaryModel& a, const TernaryModel& b) {
  return a.vocab == b.vocab && a.width == b.width && a.layers == b.layers && a.heads == b.heads &&
         a.hidden == b.hidden && a.context == b.context && a.group == b.group;
}

std::string describe(const TernaryModel& model) {
  return fmt::format(
      "vocab {}, width {}, {} layers of {} heads, hidden {}, context {}, groups of {}", model.vocab,
      model.width, model.layers, model.heads, model.hidden, model.context, model.group);
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
