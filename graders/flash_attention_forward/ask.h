#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "contract.h"
#include "harness/grading/probe.h"
#include "problem.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// What a solution wrote, dense: o [batch][q_heads][q_len][value_dim], lse [batch][q_heads][q_len].
struct Answer {
  std::vector<float> o;
  std::vector<float> lse;
};

/// What the contract promises about rounding: errors stay below this times the oracle's bound.
/// grader.cpp tells how it was calibrated.
double allowance(const Problem& problem);

/// Remembers the largest share of a tolerance that any case of the check used, for calibration.
void note_share(Probe& probe, double share);

/// The call for a problem, which must outlive it. The array called `missing` is not given.
class ForwardCall : public Call<FlashAttentionForwardArgs> {
 public:
  explicit ForwardCall(const Problem& problem, std::string_view missing = "");

  /// After the call ran: its outputs. The first fails the check when a gap of o was written.
  Answer answer(Probe& probe) const;
  Answer answer() const;

  /// What was written between rows of o, as a sentence.
  std::optional<std::string> written_gap() const;

  const Problem& problem;

 private:
  std::vector<Output<float>> outputs_;  // o, then lse when it is wanted
};

/// Asks once; the call must succeed.
Answer ask(Probe& probe, const Problem& problem);

/// Compares every element with float64.
void check_answer(Probe& probe, const Problem& problem, const Answer& answer);

/// The same against given numbers instead of the oracle's own, for relations between two calls.
/// `slack` multiplies the allowance.
void check_against(Probe& probe, const Problem& problem, const Answer& answer,
                   const kit::AttentionForward& wanted, double slack = 1);

void ask_and_check(Probe& probe, const Problem& problem);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
