// SPDX-License-Identifier: Apache-2.0
#include "harness/device/device_session.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <map>

#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/device/cuda_device.h"
#include "harness/device/device_charge.h"
#include "harness/device/host_call.h"

namespace gauntlet {
namespace {

/// Bytes that copies from the host brought are nobody's result, whatever they are. Nor is what
/// kernels were given by a host that had the inputs.
void require_computed_on_device(const CallBase& call, const DeviceReport& report,
                                const std::vector<CudaDevice::Contents>& contents) {
  const std::uint64_t most = call.device_fields->host_copy_bytes;
  if (report.copied_out > most)
    throw SolutionFailure(
        Verdict::wrong,
        fmt::format("`{}` copies {} bytes from the device to the host, want {} or less: scalars "
                    "and sizes",
                    call.symbol, report.copied_out, most));
  for (std::size_t n = 0; n < contents.size(); ++n)
    if (contents[n].from_host > 0)
      throw SolutionFailure(
          Verdict::wrong,
          fmt::format("`{}`: {} of {} bytes of `{}` were copied from the host; results count when "
                      "kernels wrote them",
                      call.symbol, contents[n].from_host, contents[n].bytes.size(),
                      call.buffers()[n].name));
}

/// Kernels that do not end are to use up their budget, which knows their line, before patience,
/// which knows nothing: so the budget is what a device executes meanwhile. On an x86-64 core that
/// six others wanted, gauntlet_bench_simt took 29 to 95 ns for a warp's instruction, a third of
/// what is reckoned with here. With all checks it took up to 600: patience may end first there.
DeviceTerms within(const std::chrono::duration<double>& patience, DeviceTerms terms) {
  constexpr double kPerSecond = 3.4e6;  // instructions of warps
  terms.budget = std::min(terms.budget, static_cast<std::uint64_t>(kPerSecond * patience.count()));
  return terms;
}

/// What the solution holds in device memory at most: its allocations, and its variables always.
std::int64_t peak_of(const DeviceReport& report) {
  std::uint64_t bytes = report.scratch_peak;
  for (const DeviceReport::Buffer& buffer : report.buffers)
    if (buffer.role == "variable") bytes += buffer.bytes;
  return static_cast<std::int64_t>(bytes);
}

}  // namespace

class DeviceSession::Impl {
 public:
  explicit Impl(DeviceSessionConfig config)
      : budget_(config.worker.budget),
        device_config_(std::move(config.device)),
        kernels_(read_file(config.kernels)),
        worker_(std::move(config.worker)) {}

  void run(CallBase& call) {
    if (!call.device_fields)
      throw Broken(OwnFault::bug,
                   fmt::format("call of {}: it is to run on a device, and does not say where its "
                               "struct tells the device (CallBase::device_fields)",
                               call.symbol));
    report_ = {};
    try {
      run_on_device(call);
    } catch (...) {
      end();
      throw;
    }
  }

  void restart() {
    end();
    terms_ = {};
    stream_kind_ = StreamKind::blocking;
  }

  void set_terms(const DeviceTerms& terms) { terms_ = terms; }
  void set_stream(StreamKind kind) { stream_kind_ = kind; }
  const DeviceReport& report() const { return report_; }

  std::chrono::nanoseconds cpu_time() const { return worker_.cpu_time(); }
  std::string output() const { return worker_.output(); }

 private:
  void start() {
    const DeviceCharge charge(budget_);
    device_.emplace(device_config_);
    device_->load(kernels_);
    worker_.set_device_mailbox(device_->mailbox_fd());
  }

  void end() {
    worker_.restart();
    const DeviceCharge charge(budget_);
    device_.reset();
    streams_.clear();
  }

  void run_on_device(CallBase& call) {
    if (!device_) start();
    const DeviceStream stream = stream_now();
    const std::vector<DeviceAddress> addresses = open(call);
    HostCall host(call, stream, addresses);
    try {
      worker_.run(host);
    } catch (const SolutionFailure&) {
      throw_complaint(finish());
      throw;
    }
    take_over(host, call);
    end_ = close(call, stream, addresses);
    report_ = std::move(end_.report);
    throw_complaint(report_);
    require_computed_on_device(call, report_, end_.contents);
    for (std::size_t n = 0; n < addresses.size(); ++n)
      call.buffers()[n].result = end_.contents[n].bytes;
    call.peak_bytes.reset();
    if (call.measure_memory) call.peak_bytes = peak_of(report_);
  }

  std::vector<DeviceAddress> open(const CallBase& call) {
    const DeviceCharge charge(budget_);
    return device_->open_call(call.buffers(), within(device_config_.patience, terms_));
  }

  CudaDevice::CallEnd close(const CallBase& call, DeviceStream stream,
                            const std::vector<DeviceAddress>& addresses) {
    const DeviceCharge charge(budget_);
    return device_->close_call(stream, call.buffers(), addresses);
  }

  /// What the device saw of a call that its host part did not survive.
  const DeviceReport& finish() {
    const DeviceCharge charge(budget_);
    report_ = device_->finish();
    return report_;
  }

  /// A host part often ends badly because a kernel did: the kernel's line says more.
  static void throw_complaint(const DeviceReport& report) {
    if (report.complaint) throw SolutionFailure(report.complaint->verdict, report.complaint->text);
  }

  /// Made when it is first asked for, and then the same for all calls.
  DeviceStream stream_now() {
    if (stream_kind_ == StreamKind::legacy_default) return device_wire::kDefaultStream;
    const auto known = streams_.find(stream_kind_);
    if (known != streams_.end()) return known->second;
    return streams_[stream_kind_] = device_->make_stream(stream_kind_ == StreamKind::non_blocking);
  }

  TimeBudget* budget_;
  DeviceConfig device_config_;
  std::string kernels_;
  WorkerSession worker_;
  std::optional<CudaDevice> device_;
  std::map<StreamKind, DeviceStream> streams_;
  DeviceTerms terms_;
  StreamKind stream_kind_ = StreamKind::blocking;
  CudaDevice::CallEnd end_;  // the results of the last call lie here
  DeviceReport report_;
};

DeviceSession::DeviceSession(DeviceSessionConfig config)
    : impl_(std::make_unique<Impl>(std::move(config))) {}
DeviceSession::~DeviceSession() = default;
void DeviceSession::run(CallBase& call) {
  try {
    impl_->run(call);
  } catch (...) {
    keep(impl_->report());
    throw;
  }
  keep(impl_->report());
}
void DeviceSession::restart() {
  impl_->restart();
}
std::chrono::nanoseconds DeviceSession::cpu_time() const {
  return impl_->cpu_time();
}
std::string DeviceSession::output() const {
  return impl_->output();
}
void DeviceSession::set_terms(const DeviceTerms& terms) {
  impl_->set_terms(terms);
}
void DeviceSession::set_stream(StreamKind kind) {
  impl_->set_stream(kind);
}
const DeviceReport& DeviceSession::report() const {
  return impl_->report();
}

}  // namespace gauntlet
