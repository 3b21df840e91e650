// SPDX-License-Identifier: Apache-2.0
#include "harness/grading/grader.h"

#include "graders/kit/groups.h"
#include "model.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

// Each group stands in the file of its name, which declares its checks beside their code. Those
// that take a run look at the one graded run.
using Run = std::shared_ptr<TrainingRun>;
std::vector<Check> quantizer_checks();             // codes and scales of given weights
std::vector<Check> gradient_checks();              // one linear layer, straight-through estimator
std::vector<Check> forward_checks();               // logits of checkpoints that nobody trained
std::vector<Check> refusals_checks();              // calls that must be turned down
std::vector<Check> checkpoint_checks(const Run&);  // what the graded run wrote, as a file
std::vector<Check> text_checks(const Run&);        // what it knows
std::vector<Check> sources_checks();               // other runs, other texts
std::vector<Check> limits_checks(const Run&);      // when training ends, what it says meanwhile
std::vector<Check> shapes_checks();                // models and texts of other sizes
std::vector<Check> execution_checks();             // threads, alignment, repetition
std::vector<Check> domain_checks();                // all that the contract allows
std::vector<Check> speed_checks();                 // speed

Grader make_grader();

Grader make_grader() {
  const Run run = std::make_shared<TrainingRun>();
  return {
      kit::joined({quantizer_checks(), gradient_checks(), forward_checks(), refusals_checks(),
                   checkpoint_checks(run), text_checks(run), sources_checks(), limits_checks(run),
                   shapes_checks(), execution_checks(), domain_checks(), speed_checks()})};
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
