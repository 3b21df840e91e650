// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/device/device_report.h"
#include "harness/device/device_terms.h"

namespace gauntlet {

/// The stream that a contract's struct names.
enum class StreamKind {
  blocking,        // the usual one: made by cudaStreamCreate
  non_blocking,    // neither waits for the default stream nor is waited for
  legacy_default,  // null: the default stream itself
};

/// How the calls of a session are executed on its device, and what the device saw of the last one.
/// A check reaches it by Session::device(), which is null on the CPU:
///
///   DeviceControl& device = *probe.solution().device();
///   DeviceTerms terms = strict_terms();
///   terms.schedule_seed = 7;
///   device.set_terms(terms);
///   probe.run_ok(call);
///   for (const auto& seen : device.report().diagnostics()) ...
class DeviceControl {
 public:
  /// Of the calls to come, until the session is restarted: then the usual ones hold again, which
  /// are DeviceTerms{} and StreamKind::blocking.
  virtual void set_terms(const DeviceTerms& terms) = 0;
  virtual void set_stream(StreamKind kind) = 0;

  /// Of the last call that ran to its end or failed with a report; stays valid until the next call.
  /// Empty before the first one, and after a call whose device had nothing more to say.
  virtual const DeviceReport& report() const = 0;

 protected:
  ~DeviceControl() = default;
};

}  // namespace gauntlet
