// SPDX-License-Identifier: Apache-2.0
#include "harness/grading/grader.h"

#include "graders/kit/groups.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

// Each group stands in the file of its name, which declares its checks beside their code.
std::vector<Check> domain_checks();     // every kind of value of every argument
std::vector<Check> values_checks();     // all elements against the oracle
std::vector<Check> scale_checks();      // inputs that float arithmetic finds hard
std::vector<Check> laws_checks();       // what any right answer obeys, whatever the oracle says
std::vector<Check> shapes_checks();     // few and many rows and columns
std::vector<Check> layout_checks();     // strides, alignment, what is asked for and what is not
std::vector<Check> steps_checks();      // contamination: between rows, between steps
std::vector<Check> execution_checks();  // host threads
std::vector<Check> device_checks();     // kernels: races, schedules, streams, memory traffic
std::vector<Check> refusals_checks();   // calls that must be turned down
std::vector<Check> memory_checks();     // memory
std::vector<Check> speed_checks();      // speed
ScalingQuestion growth_in_rows();

Grader make_grader();

Grader make_grader() {
  using kit::on_every_device;
  return {kit::joined({on_every_device(domain_checks()), on_every_device(values_checks()),
                       on_every_device(scale_checks()), on_every_device(laws_checks()),
                       on_every_device(shapes_checks()), on_every_device(layout_checks()),
                       on_every_device(steps_checks()), execution_checks(),
                       kit::on_cuda(device_checks()), on_every_device(refusals_checks()),
                       on_every_device(memory_checks()), on_every_device(speed_checks())}),
          growth_in_rows()};
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
