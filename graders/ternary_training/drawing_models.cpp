// SPDX-License-Identifier: Apache-2.0
#include "drawing_models.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "domain.h"
#include "graders/kit/inputs.h"
#include "half.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Assignment;

constexpr std::uint16_t kLargestHalf = kHalfInfinity - 1;

TernaryModel model_of(const Assignment& choice, Rng& rng) {
  TernaryModel model = largest_model(choice);
  model.vocab = choice.draw(rng, "vocab");
  model.context = choice.draw(rng, "context");
  return model;
}

void put_codes(const Assignment& choice, Rng& rng, Checkpoint& checkpoint) {
  const auto is = [&](const char* name) { return choice.is("codes", name); };
  if (is("a third each")) return;
  const double zeros = is("zeros") ? 1 : is("mostly zeros") ? 0.9 : 0;
  const bool none = is("no zeros");
  for (TernaryMatrix& matrix : checkpoint.matrices)
    for (std::int8_t& code : matrix.codes) {
      if (none && code == 0) code = rng.chance(0.5) ? 1 : -1;
      if (zeros > 0 && rng.chance(zeros)) code = 0;
    }
  // Were all of them alike, positions would differ by a factor only, and nothing but rounding would
  // be left where two are subtracted.
  const int all = is("a tensor of +1") ? 1 : is("a tensor of -1") ? -1 : 0;
  const auto lone = rng.integer(0, std::ssize(checkpoint.matrices) - 1);
  if (all != 0)
    std::ranges::fill(checkpoint.matrices[static_cast<std::size_t>(lone)].codes,
                      static_cast<std::int8_t>(all));
}

/// The tensors of all layers that are of one kind.
template <class Put>
void for_each_scale(Checkpoint& checkpoint, LayerTensor which, const Put& put) {
  for (std::int64_t layer = 0; layer < checkpoint.model.layers; ++layer)
    std::ranges::for_each(checkpoint.matrices[first_of(layer) + which].scales, put);
}

void multiply_scales(Checkpoint& checkpoint, LayerTensor which, double factor) {
  for_each_scale(checkpoint, which, [factor](std::uint16_t& scale) {
    scale = nearest_half(half_value(scale) * factor);
  });
}

void put_tables(const Assignment& choice, Rng& rng, Checkpoint& checkpoint) {
  const auto is = [&](const char* name) { return choice.is("scales", name); };
  auto& embedding = checkpoint.matrices.front().scales;
  auto& head = checkpoint.matrices.back().scales;
  const auto subnormal = [&](std::uint16_t& scale) {
    scale = static_cast<std::uint16_t>(rng.integer(1, 1023));
  };
  if (is("tokens of zeros"))
    for (std::uint16_t& scale : embedding) scale = rng.chance(0.5) ? 0 : scale;
  if (is("subnormal embedding")) std::ranges::for_each(embedding, subnormal);
  // Subnormal as well, and so small that their squares may be taken for nothing.
  if (is("smallest stream"))
    for (std::uint16_t& scale : embedding) scale = static_cast<std::uint16_t>(rng.integer(1, 7));
  if (is("subnormal head")) std::ranges::for_each(head, subnormal);
  if (is("largest embedding")) std::ranges::fill(embedding, kLargestHalf);
  if (is("largest head")) std::ranges::fill(head, kLargestHalf);
}

void put_scales(const Assignment& choice, Rng& rng, Checkpoint& checkpoint) {
  const auto is = [&](const char* name) { return choice.is("scales", name); };
  put_tables(choice, rng, checkpoint);
  if (is("flat attention")) multiply_scales(checkpoint, kQuery, 0);
  if (is("no attention")) multiply_scales(checkpoint, kOut, 0);
  if (is("smallest stream"))
    for (const LayerTensor which : {kOut, kDown}) multiply_scales(checkpoint, which, 0x1p-21);
  if (is("no gates")) multiply_scales(checkpoint, kGate, 0);
  if (is("gates far from zero")) multiply_scales(checkpoint, kGate, 300);
  if (is("no values but some"))
    for_each_scale(checkpoint, kValue,
                   [&](std::uint16_t& scale) { scale = rng.chance(0.8) ? 0 : scale; });
  const bool binades = is("every binade");
  if (!binades && !is("zeros")) return;
  for (TernaryMatrix& matrix : checkpoint.matrices)
    for (std::uint16_t& scale : matrix.scales)
      scale = binades ? nearest_half(kit::log_uniform(rng, 0x1p-14, 1)) : std::uint16_t{0};
}

void put_gains(const Assignment& choice, Rng& rng, Checkpoint& checkpoint) {
  const auto is = [&](const char* name) { return choice.is("gains", name); };
  const std::int64_t width = checkpoint.model.width;
  const double zeros = is("0") ? 1 : is("with zeros") ? 0.3 : 0;
  const bool ones = is("1"), negative = is("negative"), largest = is("64"), tiny = is("1e-20");
  for (std::int64_t i = 0; i < std::ssize(checkpoint.gains); ++i) {
    float& gain = checkpoint.gains[static_cast<std::size_t>(i)];
    // Before attention they would make scores of which float32 says nothing.
    const bool of_attention = i / width % 2 == 0 && i / width < 2 * checkpoint.model.layers;
    if (ones) gain = 1;
    if (negative) gain = -std::fabs(gain);
    if (largest && !of_attention) gain = rng.chance(0.5) ? 64.0F : -64.0F;
    if (tiny) gain *= 1e-20F;
    if (rng.chance(zeros)) gain = rng.chance(0.5) ? 0.0F : -0.0F;
  }
}

std::int64_t tokens_of(const Assignment& choice, Rng& rng, std::int64_t context) {
  if (choice.is("tokens", "1")) return 1;
  if (choice.is("tokens", "2")) return 2;
  if (choice.is("tokens", "a few")) return std::min(context, rng.integer(3, 8));
  return choice.is("tokens", "context") ? context : context - 1;
}

Text text_of(const Assignment& choice, Rng& rng, std::int64_t vocab, std::int64_t length) {
  Text text = random_text(rng, vocab, length);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (choice.is("text", "one id")) text[i] = text[0];
    if (choice.is("text", "the ends"))
      text[i] = static_cast<std::uint16_t>(rng.chance(0.5) ? 0 : vocab - 1);
    if (choice.is("text", "ascending"))
      text[i] = static_cast<std::uint16_t>((text[0] + static_cast<std::int64_t>(i)) % vocab);
  }
  return text;
}

// ---------------------------------------------------------------- training

Text training_text_of(const Assignment& choice, Rng& rng, const TernaryModel& model) {
  const auto length_is = [&](const char* name) { return choice.is("text length", name); };
  const std::int64_t length = length_is("context + 1")     ? model.context + 1
                              : length_is("context + 2")   ? model.context + 2
                              : length_is("2 context + 1") ? 2 * model.context + 1
                                                           : model.context + rng.integer(40, 50);
  const auto is = [&](const char* name) { return choice.is("training text", name); };
  if (is("a source")) return source_text(rng, std::min<std::int64_t>(model.vocab, 8), length);
  Text text = random_text(rng, model.vocab, length);
  if (is("drawn")) return text;
  const auto last = static_cast<std::uint16_t>(model.vocab - 1);
  std::ranges::fill(text, is("one id") ? last : std::uint16_t{0});
  text.back() = last;
  return text;
}

std::vector<Text> documents_of(const Assignment& choice, Rng& rng, const Text& text) {
  const auto is = [&](const char* name) { return choice.is("documents", name); };
  std::vector<Text> all;
  if (is("one a token")) {
    for (const std::uint16_t id : text) all.push_back({id});
    return all;
  }
  const auto cut = text.begin() + rng.integer(1, std::ssize(text) - 1);
  all = {Text(text.begin(), cut), Text(cut, text.end())};
  if (is("one")) all = {text};
  if (is("the first empty")) all.insert(all.begin(), Text{});
  if (is("the last empty")) all.emplace_back();
  const std::size_t between = is("empty ones between") ? 3 : is("a hundred empty") ? 100 : 0;
  all.insert(all.begin() + 1, between, Text{});
  return all;
}

std::int64_t max_tokens_of(const Assignment& choice, const TernaryModel& model) {
  using Limits = std::numeric_limits<std::int64_t>;
  const auto is = [&](const char* name) { return choice.is("max_tokens", name); };
  if (is("0")) return 0;
  if (is("1")) return 1;
  if (is("context - 1")) return model.context - 1;
  if (is("context")) return model.context;
  if (is("context + 1")) return model.context + 1;
  if (is("two windows")) return 2 * model.context + 3;
  return is("none") ? -1 : is("least") ? Limits::min() : Limits::max();
}

double max_seconds_of(const Assignment& choice) {
  const auto is = [&](const char* name) { return choice.is("max_seconds", name); };
  constexpr double kForever = std::numeric_limits<double>::infinity();
  if (is("-1e-300")) return -1e-300;
  if (is("least")) return std::numeric_limits<double>::lowest();
  if (is("-infinity")) return -kForever;
  if (is("0")) return 0;
  if (is("-0")) return -0.0;  // is not below 0
  if (is("0.004")) return 0.004;
  if (is("1e300")) return 1e300;
  return is("infinity") ? kForever : -1;
}

std::uint64_t seed_of(const Assignment& choice, Rng& rng) {
  const auto is = [&](const char* name) { return choice.is("seed", name); };
  if (is("0")) return 0;
  if (is("1")) return 1;
  if (is("2^32")) return std::uint64_t{1} << 32;
  if (is("2^63")) return std::uint64_t{1} << 63;
  return is("largest") ? ~std::uint64_t{0} : rng();
}

}  // namespace

ForwardProblem forward_problem_of(const Assignment& choice, Rng& rng) {
  const TernaryModel model = model_of(choice, rng);
  ForwardProblem problem{
      random_checkpoint(rng, model, choice.is("scales", "sharp attention") ? 3 : 1), {}};
  put_codes(choice, rng, problem.checkpoint);
  put_scales(choice, rng, problem.checkpoint);
  put_gains(choice, rng, problem.checkpoint);
  problem.token = text_of(choice, rng, model.vocab, tokens_of(choice, rng, model.context));
  return problem;
}

TrainingRequest training_request_of(const Assignment& choice, Rng& rng) {
  TrainingRequest request;
  request.model = model_of(choice, rng);
  request.documents = documents_of(choice, rng, training_text_of(choice, rng, request.model));
  request.max_tokens = max_tokens_of(choice, request.model);
  request.max_seconds = max_seconds_of(choice);
  request.seed = seed_of(choice, rng);
  request.null_listener = choice.is("listener", "null");
  request.spare_bytes = choice.is("capacity", "exact")         ? 0
                        : choice.is("capacity", "a byte more") ? 1
                                                               : 4096;
  request.options.threads = static_cast<int>(choice["threads"].least);
  request.options.placement = *kit::placement_named(choice["placement"].name);
  return request;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
