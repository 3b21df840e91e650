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

/// What a device saw in several calls.
struct DeviceRecord {
  /// One for each kind of fault at a line, as of the first call that had it.
  std::vector<DeviceReport::Diagnostic> faults;
  bool races_complete = true;          // looked for in all of memory, in every call
  std::uint64_t most_left_behind = 0;  // by a call

  void add(const DeviceReport& report);
};

/// How the calls of a session are executed on its device, and what the device saw of them.
/// A check reaches it by Session::device(), which is null on the CPU:
///
///   DeviceControl& device = *probe.solution().device();
///   DeviceTerms terms = strict_terms();
///   terms.schedule_seed = 7;
///   device.set_terms(terms);
///   device.begin_record();
///   probe.run_ok(call);  // as many as there are
///   for (const auto& seen : device.record().faults) ...
class DeviceControl {
 public:
  /// Of the calls to come, until the session is restarted: then the usual ones hold again, which
  /// are DeviceTerms{} and StreamKind::blocking.
  virtual void set_terms(const DeviceTerms& terms) = 0;
  virtual void set_stream(StreamKind kind) = 0;

  /// Of the last call that ran to its end or failed with a report; stays valid until the next call.
  /// Empty before the first one, and after a call whose device had nothing more to say.
  virtual const DeviceReport& report() const = 0;

  /// Of all calls since begin_record(), through restarts as well.
  const DeviceRecord& record() const { return record_; }
  void begin_record() { record_ = {}; }

 protected:
  ~DeviceControl() = default;

  /// For whoever runs calls: one has ended, well or not.
  void keep(const DeviceReport& report) { record_.add(report); }

 private:
  DeviceRecord record_;
};

}  // namespace gauntlet
