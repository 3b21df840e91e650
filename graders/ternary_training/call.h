// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "contract.h"
#include "harness/grading/probe.h"
#include "problem.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

using kit::CallOptions;

/// Calls with everything named, ready to run. What they read must outlive them.
struct QuantizeCall : Call<TernaryQuantizeArgs> {
  explicit QuantizeCall(const QuantizeProblem& problem, const CallOptions& options = {});

  std::optional<Output<std::uint8_t>> codes;
  std::optional<Output<std::uint16_t>> scales;
};

struct GradientCall : Call<TernaryLinearGradientArgs> {
  explicit GradientCall(const LinearProblem& problem, const CallOptions& options = {});

  std::optional<Output<float>> y, input_gradient, weight_gradient;
};

struct ForwardCall : Call<TernaryForwardArgs> {
  ForwardCall(const std::vector<std::uint8_t>& checkpoint, const Text& token, std::int64_t vocab,
              const CallOptions& options = {});

  std::optional<Output<float>> logits;
};

/// A call of `progress`, and when the grader heard of it.
struct Report {
  double seconds = 0;  // since the call began
  TernaryProgress progress{};
};

/// What training wrote and said. Nothing of it is believed but what was measured here.
struct TrainingResult {
  std::vector<std::uint8_t> bytes;  // the first checkpoint_bytes of the checkpoint, or what fits
  std::int64_t checkpoint_bytes = 0;
  double train_nll = 0;          // claimed
  double held_out_nll = 0;       // claimed
  std::int64_t tokens_seen = 0;  // claimed
  std::vector<Report> reports;
  double seconds = 0;  // of the call, by our clock
};

class TrainingCall : public Call<TernaryTrainArgs> {
 public:
  explicit TrainingCall(const TrainingRequest& request);

  TrainingResult result() const;

  /// What the call will read, for checks that spoil it; sizes must stay.
  Text& token() { return token_; }
  std::vector<std::int64_t>& document_start() { return document_start_; }

 private:
  void add_report(const TernaryProgress& progress);

  Text token_;
  std::vector<std::int64_t> document_start_{0};
  std::vector<Report> reports_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::optional<Output<std::uint8_t>> checkpoint_;
  std::optional<Output<std::int64_t>> checkpoint_bytes_, tokens_seen_;
  std::optional<Output<double>> train_nll_, held_out_nll_;
};

/// Trains; the call must return 0.
TrainingResult train(Probe& probe, const TrainingRequest& request);

/// All documents as one text, as LIKELIHOOD wants it for train_nll.
Text joined(const std::vector<Text>& documents);

/// The text that train_nll speaks of.
Text claimed_text(const std::vector<Text>& documents);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
