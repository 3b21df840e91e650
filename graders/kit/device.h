// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "graders/kit/domain.h"
#include "harness/device/device_control.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"

/// What is asked of every CUDA solution, whatever it computes.
namespace gauntlet::kit {

/// Whether the solution runs on a device: for cases that ask there for less, or for other values.
bool on_device(Probe& probe);

/// The device that the solution runs on. Throws Broken on the CPU.
DeviceControl& device_of(Probe& probe);

/// On a device: the kernels of the calls to come are executed with blocks and warps in an order of
/// their own. On the CPU nothing.
void shuffle_schedule(Probe& probe, Rng& rng);

/// On a device: the calls to come name one kind of stream, all kinds in turn. On the CPU nothing.
void take_stream(Probe& probe, int turn);

/// A small call, which is asked again and again under other terms of the device.
struct DeviceCase {
  std::string name;
  /// Draws a problem, runs it, in one call or several, and requires it to be right. Gives the bits
  /// of the answer that no schedule may change; none where the contract does not promise that.
  std::function<std::vector<std::byte>(Probe&, Rng&)> ask;
};

struct DeviceQuestions {
  /// Ragged sizes, and every kernel of the reference and the honest variants. Each takes the
  /// simulator some 10 ms, since there are about forty runs of it.
  std::vector<DeviceCase> cases;
  /// Of every class of these arguments a call is looked at for races and undefined reads. Empty:
  /// that is not asked.
  std::vector<DomainQuestion> domains = {};
};

/// computed_on_device, any_schedule, race_free, initialised_reads, strict_domain,
/// streams_respected, device_memory_freed. For kit::on_cuda.
std::vector<Check> device_checks(DeviceQuestions questions);

}  // namespace gauntlet::kit
