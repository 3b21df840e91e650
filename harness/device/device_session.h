// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>

#include "harness/device/device_control.h"
#include "harness/device/device_link.h"
#include "harness/worker/worker_session.h"

namespace gauntlet {

struct DeviceSessionConfig {
  /// The worker that has the host's half: its library is linked to our CUDA runtime. `call_seconds`
  /// holds for a call and the kernels that it waits for.
  WorkerConfig worker;
  DeviceConfig device;
  std::filesystem::path kernels;  // the device's half, PTX
};

/// A CUDA solution: its host part in a worker, its kernels in a device process. Every buffer of a
/// call lies in device memory, inputs read-only, outputs poisoned, each aligned as its placement
/// says and to no more, with nothing near it, or behind another where it says; the struct's device
/// and stream are set as the call's device_fields say. After the function has returned and the
/// worker is frozen, the call's stream is waited for and nothing else: what the outputs hold then
/// counts.
///
/// A call fails, with the kernel's line where there is one, for whatever the device complains of
/// (memory out of bounds, misaligned or freed, a write to an input, a trap, the budget, a forged
/// command), for what a worker fails for, and where bytes of an output came from the host or more
/// went there than its device_fields allow. Races and undefined reads are in the report and fail
/// nothing: checks ask for them.
///
/// Throws Broken for a call without device_fields, whose contract knows no device.
class DeviceSession : public Session, private DeviceControl {
 public:
  explicit DeviceSession(DeviceSessionConfig config);
  ~DeviceSession() override;

  void run(CallBase& call) override;

  /// The next call meets a fresh worker and a fresh device.
  void restart() override;

  DeviceControl* device() override { return this; }

  /// Of the workers; a simulated device's time is nobody's.
  std::chrono::nanoseconds cpu_time() const override;

  /// Diagnostic text of the solution's host part, see WorkerSession::output.
  std::string output() const;

 private:
  void set_terms(const DeviceTerms& terms) override;
  void set_stream(StreamKind kind) override;
  const DeviceReport& report() const override;

  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gauntlet
