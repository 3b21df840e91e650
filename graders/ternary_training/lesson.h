#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "checkpoint.h"
#include "contract.h"
#include "harness/grading/probe.h"
#include "likelihood.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// One call of ternary_train: what is taught, and for how long.
struct Lesson {
  TernaryModel model{};
  std::vector<Text> documents;
  double max_seconds = -1;
  std::int64_t max_tokens = -1;
  std::uint64_t seed = 1;
  int threads = 1;
  Placement placement{64, 0};    // of every array; min_align is the alignment it really gives
  std::int64_t spare_bytes = 0;  // of checkpoint_capacity, beyond what is needed

  /// Asked at every report; true asks to end. Absent: train on.
  std::function<bool(const TernaryProgress&, double seconds)> enough;
};

/// A call of `progress`, and when the grader heard of it.
struct Report {
  double seconds = 0;  // since the call began
  TernaryProgress progress{};
};

/// What training wrote and said. Nothing of it is believed but what was measured here.
struct Outcome {
  std::vector<std::uint8_t> bytes;  // the first checkpoint_bytes of the checkpoint, or what fits
  std::int64_t checkpoint_bytes = 0;
  double train_nll = 0;          // claimed
  double held_out_nll = 0;       // claimed
  std::int64_t tokens_seen = 0;  // claimed
  std::vector<Report> reports;
  double seconds = 0;  // of the call, by our clock
};

/// A call with everything named, ready to run.
class TrainCall {
 public:
  explicit TrainCall(const Lesson& lesson);

  Call<TernaryTrainArgs> call{"ternary_train"};
  Outcome outcome() const;

  /// What the call will read, for checks that spoil it; sizes must stay.
  Text& token() { return token_; }
  std::vector<std::int64_t>& document_start() { return document_start_; }

  bool untouched() const;           // no output was written
  bool wrote_nothing_else() const;  // than checkpoint_bytes

 private:
  Text token_;
  std::vector<std::int64_t> document_start_{0};
  std::vector<Report> reports_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::optional<Output<std::uint8_t>> checkpoint_;
  std::optional<Output<std::int64_t>> checkpoint_bytes_, tokens_seen_;
  std::optional<Output<double>> train_nll_, held_out_nll_;
};

/// Trains; the call must return 0.
Outcome train(Probe& probe, const Lesson& lesson);

/// The checkpoint of an outcome, which must be one of the lesson's model. Ends the check if not.
Checkpoint checkpoint_of(Probe& probe, const Lesson& lesson, const Outcome& outcome);

/// All documents as one text, as LIKELIHOOD wants it for train_nll.
Text joined(const std::vector<Text>& documents);

/// The text that train_nll speaks of.
Text claimed_text(const std::vector<Text>& documents);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
