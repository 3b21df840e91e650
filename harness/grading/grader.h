// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/core/check.h"
#include "harness/measure/scaling.h"

namespace gauntlet {

class Probe;

/// One adversarial question and the code that asks it.
struct Check : CheckInfo {
  /// Puts inputs to the solution through the probe and states what it saw. Returning normally means
  /// that every case held; a miss leaves through Probe::fail.
  std::function<void(Probe&)> ask;

  /// Of whose solutions it is asked; see kit::on_every_device and kit::on_cuda.
  std::vector<Device> devices = {Device::cpu};
};

/// Everything the harness needs to know to grade one challenge. Built by
/// graders/<id>/grader.cpp as `Grader make_grader()` in namespace gauntlet::<id>.
struct Grader {
  std::vector<Check> checks;
  std::optional<ScalingQuestion> scaling = {};  // for claims on the growth of time

  /// The same grader with the checks of one device, in the same order.
  Grader on(Device device) const;
};

/// A challenge that this program was built with.
struct GraderEntry {
  std::string_view id;  // the folder name
  Grader (*make)();     // with the checks of all devices
  // Of every source that its verdicts depend on, by device.
  std::string_view cpu_digest;
  std::string_view cuda_digest;

  std::string_view digest(Device device) const;
};

/// All graders, sorted by id. Defined in a file that the build writes from the folders it finds.
std::span<const GraderEntry> all_graders();

}  // namespace gauntlet
