// SPDX-License-Identifier: Apache-2.0
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
  problem_.weight.resize(static_cast<std::size_t>(kRows * kColumns));
  kit::fill_uniform(inputs, problem_.weight);
  rows_ = kit::some_of(judge, kRows, kSampledRows);
}

Lap QuantizeLap::run(Session& session) const {
  QuantizeCall call(problem_, all_cores());
  Lap lap = kit::verified_lap(session, call,
                              [&] { return miss(rows_, call.codes->view(), call.scales->view()); });
  kit::judge_all_later(lap, [this, codes = call.codes->copy(), scales = call.scales->copy()] {
    return miss(kit::all_of(kRows), codes, scales);
  });
  return lap;
}

std::optional<Miss> QuantizeLap::miss(const std::vector<std::int64_t>& rows,
                                      std::span<const std::uint8_t> codes,
                                      std::span<const std::uint16_t> scales) const {
  return kit::first_of_rows(rows, [&](std::int64_t row) { return miss_of(row, codes, scales); });
}

std::optional<Miss> QuantizeLap::miss_of(std::int64_t row, std::span<const std::uint8_t> codes,
                                         std::span<const std::uint16_t> scales) const {
  const std::span weights(problem_.weight.data() + row * kColumns,
                          static_cast<std::size_t>(kColumns));
  const TernaryMatrix want = quantized(weights, 1, kColumns, kGroup);
  const auto first_difference = [&](const char* name, auto got, const auto& right) {
    std::optional<Miss> miss;
    for (std::size_t at = 0; at < right.size() && !miss; ++at)
      if (const auto value = got[static_cast<std::size_t>(row) * right.size() + at];
          value != right[at])
        miss = Miss{fmt::format("{} of row {}, entry {}", name, row, at),
                    static_cast<double>(value), static_cast<double>(right[at])};
    return miss;
  };
  if (auto miss = first_difference("scales", scales, want.scales)) return miss;
  return first_difference("codes", codes, packed(want.codes));
}

void GradientLap::prepare(Rng& inputs, Rng& judge) {
  problem_ = linear_problem(inputs, kRows, kColumns / kGroup, kGroup, kCount);
  matrix_ = quantized(problem_.weight, kRows, kColumns, kGroup);
  sample_ = {kit::some_of(judge, kCount * kRows, kSampledEntries),
             kit::some_of(judge, kCount * kColumns, kSampledEntries),
             kit::some_of(judge, kRows * kColumns, kSampledEntries)};
}

Lap GradientLap::run(Session& session) const {
  GradientCall call(problem_, all_cores());
  Got got;
  Lap lap = kit::verified_lap(session, call, [&] {
    got = {call.y->copy(), call.input_gradient->copy(), call.weight_gradient->copy()};
    return miss(sample_, got);
  });
  kit::judge_all_later(lap, [this, got = std::move(got)] {
    return miss({kit::all_of(kCount * kRows), kit::all_of(kCount * kColumns),
                 kit::all_of(kRows * kColumns)},
                got);
  });
  return lap;
}

/// Each entry is a sum of products, which float64 makes exactly enough.
template <class A, class B>
std::optional<Miss> sum_miss(const char* name, std::int64_t at, float got, std::int64_t terms,
                             const A& a, const B& b) {
  Sums sum{{0}, {0}, terms};
  for (std::int64_t i = 0; i < terms; ++i) {
    const double term = static_cast<double>(a(i)) * static_cast<double>(b(i));
    sum.value[0] += term;
    sum.size[0] += std::abs(term);
  }
  const double allowed = sum.allowed()[0];
  if (kit::within(sum.value[0], got, allowed)) return std::nullopt;
  return Miss{fmt::format("{}[{}]", name, at), got, sum.value[0], allowed};
}

std::optional<Miss> GradientLap::miss(const Places& places, const Got& got) const {
  const auto x = [this](std::int64_t i, std::int64_t c) {
    return problem_.x[static_cast<std::size_t>(i * kColumns + c)];
  };
  const auto dy = [this](std::int64_t i, std::int64_t r) {
    return problem_.output_gradient[static_cast<std::size_t>(i * kRows + r)];
  };
  if (auto miss = kit::first_of_rows(places.y, [&](std::int64_t at) {
        return sum_miss(
            "y", at, got.y[static_cast<std::size_t>(at)], kColumns,
            [&](std::int64_t c) { return matrix_.weight(at % kRows, c); },
            [&](std::int64_t c) { return x(at / kRows, c); });
      }))
    return miss;
  if (auto miss = kit::first_of_rows(places.input_gradient, [&](std::int64_t at) {
        return sum_miss(
            "input_gradient", at, got.input_gradient[static_cast<std::size_t>(at)], kRows,
            [&](std::int64_t r) { return matrix_.weight(r, at % kColumns); },
            [&](std::int64_t r) { return dy(at / kColumns, r); });
      }))
    return miss;
  return kit::first_of_rows(places.weight_gradient, [&](std::int64_t at) {
    return sum_miss(
        "weight_gradient", at, got.weight_gradient[static_cast<std::size_t>(at)], kCount,
        [&](std::int64_t i) { return dy(i, at / kColumns); },
        [&](std::int64_t i) { return x(i, at % kColumns); });
  });
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
