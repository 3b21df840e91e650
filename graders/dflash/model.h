// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "contract.h"
#include "harness/worker/call.h"
#include "pass_rows.h"
#include "problem.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// Answers the callbacks of one call, as the drafter and as the target with its KV cache, and looks
/// at every request. The target's logits for a row come from the texts of the slots that the row
/// sees, so that a wrong mask, position or cache also changes what is decoded.
class Model {
 public:
  explicit Model(const Problem& problem);

  std::int64_t draft(DflashDraft& ask, CallbackRequest& raw);
  std::int64_t forward(DflashForward& ask, CallbackRequest& raw);
  std::int64_t keep(DflashKeep& ask, CallbackRequest& raw);

  /// The first broken rule, if any; nothing is answered after it.
  const std::optional<Violation>& violation() const { return violation_; }
  /// Broken rules that do not spoil the text.
  const std::optional<Violation>& stale_context() const { return stale_context_; }
  const std::optional<Violation>& late_request() const { return late_request_; }

  std::int64_t forwards() const { return forwards_; }
  std::int64_t rows() const { return rows_; }
  bool failed() const { return failed_; }  // as the problem wants it
  bool is_over() const;                    // it has failed, or all requests have ended
  std::int64_t calls_after_failure() const { return calls_after_failure_; }
  /// Every pass came after drafts of the whole budget; fewer nodes may be wanted, or none.
  bool whole_drafts() const { return whole_drafts_; }

  /// For request r: how many tokens were decided when each of its passes began.
  const std::vector<std::int64_t>& known_at(std::size_t r) const { return texts_.at(r).known_at; }

 private:
  /// One request as the target sees it.
  struct Text {
    std::vector<std::int32_t> truth;  // prompt and what greedy decoding appends, beyond the end too
    std::vector<State> states;        // states[k]: the first k tokens of truth
    std::int64_t committed = 0;
    std::int64_t decided = 0;       // tokens of truth that the solution knows
    std::int64_t end = 0;           // tokens of truth when the request has ended
    bool drafted = false;           // since its latest pass
    bool passed = false;            // it has had a pass whose slots wait to be kept
    std::vector<State> row_states;  // of the latest pass
    std::vector<std::int32_t> row_tokens;
    std::vector<std::int64_t> known_at;

    bool ended() const { return decided >= end; }
  };
  std::int64_t refuse(std::string text, std::vector<std::string> drawing = {});
  std::optional<std::int64_t> failure_of(Problem::Callback callback, std::int64_t call);
  bool well_formed(std::string_view callback, std::span<const std::int64_t> requests,
                   std::span<const std::int64_t> counts, std::int64_t least, std::int64_t sum);
  Tree answer_draft(std::size_t r, std::span<const std::int32_t> context);
  bool enter(std::size_t r, std::int64_t context_length);
  void read(std::size_t r, const PassRows& rows, std::span<float> logits);
  bool keep_slots(std::size_t r, std::span<const std::int64_t> slots);

  const Problem& problem_;
  std::vector<Text> texts_;
  std::optional<Violation> violation_;
  std::optional<Violation> stale_context_;
  std::optional<Violation> late_request_;
  std::int64_t most_forwards_ = 0;
  std::int64_t forwards_ = 0;
  std::int64_t rows_ = 0;
  std::int64_t calls_after_failure_ = 0;
  std::int64_t drafts_ = 0;
  std::int64_t keeps_ = 0;
  bool failed_ = false;
  bool whole_drafts_ = true;
};

}  // namespace gauntlet::GAUNTLET_CHALLENGE
