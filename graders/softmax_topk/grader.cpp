// SPDX-License-Identifier: Apache-2.0
#include "harness/grading/grader.h"

#include "graders/kit/groups.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

ScalingQuestion growth_in_vocabulary();
// Each group stands in the file of its name, which declares its checks beside their code.
std::vector<Check> domain_checks();     // every kind of value of every argument
std::vector<Check> winners_checks();    // where in a row, and in which row, the winners are
std::vector<Check> order_checks();      // values that are hard to tell apart, rows in order already
std::vector<Check> softmax_checks();    // the numbers
std::vector<Check> values_checks();     // infinities, NaN, signs
std::vector<Check> laws_checks();       // what any right answer obeys, whatever the oracle says
std::vector<Check> layout_checks();     // lengths, strides, alignment, what is asked for
std::vector<Check> threads_checks();    // what num_threads says
std::vector<Check> execution_checks();  // large batches, repetition
std::vector<Check> refusals_checks();   // calls that must be turned down
std::vector<Check> memory_checks();
std::vector<Check> device_checks();  // what is asked of kernels
std::vector<Check> speed_checks();

Grader make_grader();

Grader make_grader() {
  const std::vector<Check> everywhere =
      kit::joined({domain_checks(), winners_checks(), order_checks(), softmax_checks(),
                   values_checks(), laws_checks(), layout_checks(), execution_checks(),
                   refusals_checks(), memory_checks(), speed_checks()});
  return {kit::joined(
              {kit::on_every_device(everywhere), threads_checks(), kit::on_cuda(device_checks())}),
          growth_in_vocabulary()};
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
