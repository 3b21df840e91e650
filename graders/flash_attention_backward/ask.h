#pragma once

#include <string_view>

#include "contract.h"
#include "harness/grading/probe.h"
#include "layout.h"
#include "oracle.h"
#include "problem.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

using Answer = Results<float>;

/// How the solution is asked. Default: dense tensors, everything wanted but delta.
struct Asking {
  std::int32_t num_threads = 2;
  bool deterministic = false;
  Placement placement;  // of every float tensor
  Layout q, k, v, o, dout, dq, dk, dv;
  bool want_dq = true, want_dk = true, want_dv = true, want_delta = false;
  std::string_view missing_input;  // the one whose pointer is null
  const Answer* dirty = nullptr;   // what the outputs hold before the call; null: NaN
};

/// One call made from a problem; owns the tensors as the solution sees them.
class Question {
 public:
  /// Both arguments must outlive the question.
  Question(const Problem& problem, const Asking& asking);

  Call<FlashAttentionBackwardArgs> call{"flash_attention_backward"};

  /// Results of the last run as dense arrays, empty where not wanted. Ends the check when a foreign
  /// element between the rows was written.
  Answer answer(Probe& probe) const;
  Answer answer() const;

 private:
  struct Taken {
    std::string name;
    std::vector<float> Answer::*part;
    Placed placed;
    Output<float> output;
    std::vector<float> initial;  // empty: poison
  };
  struct Strides {
    std::int64_t &batch, &head, &row;
  };

  void set_form();
  void bring_all();
  void take_all();
  void bring(const char* name, const void* const& field, const std::vector<float>& dense,
             const Extents& extents, const Layout& layout, Strides strides);
  void take(const char* name, void* const& field, std::vector<float> Answer::*part,
            const Extents& extents, const Layout& layout, Strides strides);

  const Problem& problem_;
  const Asking& asking_;
  std::vector<std::vector<float>> inputs_;
  std::vector<Taken> outputs_;
};

/// Asks once; the call must return 0.
Answer ask(Probe& probe, const Problem& problem, const Asking& asking = {});

/// Remembers the largest share of a tolerance that any case of the check used.
void note_share(Probe& probe, double share);

/// Ends the check unless every element that was asked for is within kRoundings of its bound.
void require_close(Probe& probe, const Problem& problem, const Answer& got,
                   const Expected& expected);

/// Asks and compares with the oracle.
Answer require_right(Probe& probe, const Problem& problem, const Asking& asking = {});

/// Ends the check unless both answers are equal in every element, -0 and +0 being equal.
void require_equal(Probe& probe, const Problem& problem, const Answer& got, const Answer& want);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
