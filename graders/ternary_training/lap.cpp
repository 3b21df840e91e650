#include "lap.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "graders/kit/compare.h"
#include "graders/kit/inputs.h"
#include "graders/kit/laps.h"
#include "harness/core/machine.h"
#include "network.h"
#include "oracle.h"
#include "quantizer.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr int kSampledRows = 40;
constexpr int kSampledEntries = 300;

/// Of the root mean square of a row of logits. Two float32 runs differ by a hundredth of this;
/// arithmetic in 16 bits by ten times of it.
constexpr double kLogitSlack = 5e-4;

CallOptions all_cores() {
  return {.threads = this_machine().cores};
}

}  // namespace

void ForwardLap::prepare(Rng& rng, Rng&) {
  const Checkpoint checkpoint = random_checkpoint(rng, kModel);
  bytes_ = bytes_of(checkpoint);
  token_ = random_text(rng, kModel.vocab, kModel.context);
  want_ = Network(checkpoint).logits(token_);
}

Lap ForwardLap::run(Session& session) const {
  ForwardCall call(bytes_, token_, kModel.vocab, all_cores());
  return kit::verified_lap(session, call, [&] { return miss(call.logits->view()); });
}

std::optional<Miss> ForwardLap::miss(std::span<const float> logits) const {
  constexpr auto kVocab = static_cast<std::size_t>(kModel.vocab);
  for (std::size_t p = 0; p < token_.size(); ++p) {
    const std::span want(want_.data() + p * kVocab, kVocab);
    double squares = 0;
    for (const float logit : want) squares += double{logit} * logit;
    const double allowed = kLogitSlack * std::sqrt(squares / kVocab);
    for (std::size_t id = 0; id < kVocab; ++id)
      if (const float got = logits[p * kVocab + id]; !kit::within(want[id], got, allowed))
        return Miss{fmt::format("logits[{}][{}]", p, id), got, want[id], allowed};
  }
  return std::nullopt;
}

void QuantizeLap::prepare(Rng& inputs, Rng& judge) {
  const auto columns = static_cast<std::size_t>(kColumns);
  problem_.weight.resize(static_cast<std::size_t>(kRows) * columns);
  kit::fill_uniform(inputs, problem_.weight);
  rows_.clear();
  want_.clear();
  for (int i = 0; i < kSampledRows; ++i) {
    const std::int64_t row = judge.integer(0, kRows - 1);
    const std::span weights(problem_.weight.data() + row * kColumns, columns);
    rows_.push_back(row);
    want_.push_back(quantized(weights, 1, kColumns, kGroup));
  }
}

Lap QuantizeLap::run(Session& session) const {
  QuantizeCall call(problem_, all_cores());
  return kit::verified_lap(session, call,
                           [&] { return miss(call.codes->view(), call.scales->view()); });
}

std::optional<Miss> QuantizeLap::miss(std::span<const std::uint8_t> codes,
                                      std::span<const std::uint16_t> scales) const {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const auto first_difference = [&](const char* name, auto got, const auto& want) {
      std::optional<Miss> miss;
      for (std::size_t at = 0; at < want.size() && !miss; ++at)
        if (const auto value = got[static_cast<std::size_t>(rows_[i]) * want.size() + at];
            value != want[at])
          miss = Miss{fmt::format("{} of row {}, entry {}", name, rows_[i], at),
                      static_cast<double>(value), static_cast<double>(want[at])};
      return miss;
    };
    if (auto miss = first_difference("scales", scales, want_[i].scales)) return miss;
    if (auto miss = first_difference("codes", codes, packed(want_[i].codes))) return miss;
  }
  return std::nullopt;
}

template <class A, class B>
GradientLap::Entry GradientLap::entry(std::int64_t at, std::int64_t terms, const A& a,
                                      const B& b) const {
  Sums sum{{0}, {0}, terms};
  for (std::int64_t i = 0; i < terms; ++i) {
    const double term = static_cast<double>(a(i)) * static_cast<double>(b(i));
    sum.value[0] += term;
    sum.size[0] += std::abs(term);
  }
  return {static_cast<std::size_t>(at), sum.value[0], sum.allowed()[0]};
}

void GradientLap::prepare(Rng& inputs, Rng& judge) {
  problem_ = linear_problem(inputs, kRows, kColumns / kGroup, kGroup, kCount);
  const TernaryMatrix matrix = quantized(problem_.weight, kRows, kColumns, kGroup);
  const auto x = [this](std::int64_t i, std::int64_t c) {
    return problem_.x[static_cast<std::size_t>(i * kColumns + c)];
  };
  const auto dy = [this](std::int64_t i, std::int64_t r) {
    return problem_.output_gradient[static_cast<std::size_t>(i * kRows + r)];
  };
  for (auto* entries : {&y_, &input_gradient_, &weight_gradient_}) entries->clear();
  for (int n = 0; n < kSampledEntries; ++n) {
    const std::int64_t i = judge.integer(0, kCount - 1);
    const std::int64_t r = judge.integer(0, kRows - 1);
    const std::int64_t c = judge.integer(0, kColumns - 1);
    y_.push_back(entry(
        i * kRows + r, kColumns, [&](std::int64_t k) { return matrix.weight(r, k); },
        [&](std::int64_t k) { return x(i, k); }));
    input_gradient_.push_back(entry(
        i * kColumns + c, kRows, [&](std::int64_t k) { return matrix.weight(k, c); },
        [&](std::int64_t k) { return dy(i, k); }));
    weight_gradient_.push_back(entry(
        r * kColumns + c, kCount, [&](std::int64_t k) { return dy(k, r); },
        [&](std::int64_t k) { return x(k, c); }));
  }
}

Lap GradientLap::run(Session& session) const {
  GradientCall call(problem_, all_cores());
  return kit::verified_lap(session, call, [&] { return miss(call); });
}

std::optional<Miss> GradientLap::miss(const GradientCall& call) const {
  struct Compared {
    const char* name;
    const Output<float>& got;
    const std::vector<Entry>& want;
  };
  for (const Compared& one : {Compared{"y", *call.y, y_},
                              Compared{"input_gradient", *call.input_gradient, input_gradient_},
                              Compared{"weight_gradient", *call.weight_gradient, weight_gradient_}})
    for (const Entry& entry : one.want)
      if (const float got = one.got.view()[entry.at]; !kit::within(entry.want, got, entry.allowed))
        return Miss{fmt::format("{}[{}]", one.name, entry.at), got, entry.want, entry.allowed};
  return std::nullopt;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
