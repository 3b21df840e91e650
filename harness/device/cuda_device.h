// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "harness/device/device_link.h"
#include "harness/device/device_report.h"
#include "harness/device/device_terms.h"
#include "harness/worker/call.h"

namespace gauntlet {

using DeviceAddress = std::uint64_t;  // of device memory: a pointer in a contract's struct
using DeviceStream = std::uint64_t;   // a cudaStream_t in a contract's struct

/// The grader's side of a device: places inputs, hands the mailbox to a worker, reads outputs.
///
///   CudaDevice device({program});
///   device.load(ptx);                                    // of the solution
///   args.logits = device.input("logits", bytes);
///   args.probs = device.output("probs", size);           // poisoned
///   args.stream = device.make_stream();
///   device.begin(terms);                                 // from here on the worker is served
///   ... the worker calls the contract's function, and is frozen ...
///   device.settle(args.stream);                          // what its caller does
///   const auto probs = device.read(args.probs, size);
///   const DeviceReport report = device.finish();
///
/// Every function throws SolutionFailure when the device process has ended or does not answer;
/// whatever was wrong with it, kernels were there to bring it about. A device whose report has a
/// complaint executes nothing more: make a new one. So does who starts another worker, which could
/// find in the mailbox what the last one left there. The process ends with the thread that made it.
class CudaDevice {
 public:
  /// Throws Broken when the process cannot be started.
  explicit CudaDevice(const DeviceConfig& config) : link_(config) {}

  /// Shared memory of sizeof(device_wire::Mailbox) bytes, for the worker to map. Ours.
  int mailbox_fd() const { return link_.mailbox_fd(); }
  pid_t pid() const { return link_.pid(); }  // of the device process; -1 once it has ended

  /// The kernels. Once; before begin(). Throws SolutionFailure (rejected) that names what cannot be
  /// executed, with its line.
  void load(const std::string& ptx);

  /// Memory with these bytes in it, which no kernel and no copy may write. It stays until
  /// release(), for any number of calls. `name` is what diagnostics call it.
  DeviceAddress input(const std::string& name, std::span<const std::byte> bytes);
  template <class T>
  DeviceAddress input(const std::string& name, const std::vector<T>& values) {
    return input(name, std::as_bytes(std::span(values)));
  }
  /// Memory full of bytes 0xFF that count as unwritten.
  DeviceAddress output(const std::string& name, std::size_t bytes);
  void release(DeviceAddress address);

  DeviceStream make_stream(bool non_blocking = false);

  /// A call begins: counts are zero, and commands of the worker are carried out.
  void begin(const DeviceTerms& terms);

  /// The worker is no longer served; what this stream has to do runs, and what that depends on, and
  /// nothing else. Outputs can be read then.
  void settle(DeviceStream stream);

  struct Contents {
    std::vector<std::byte> bytes;
    std::uint64_t unwritten = 0;  // of these bytes, nobody has written
    std::uint64_t from_host = 0;  // of these bytes, came from the worker's memory

    template <class T>
    std::vector<T> as() const {
      std::vector<T> values(bytes.size() / sizeof(T));
      if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
      return values;
    }
  };
  Contents read(DeviceAddress address, std::size_t bytes);

  /// The same, but all that is queued runs, and the counts are told.
  DeviceReport finish();

  // A whole call in two steps, which takes a fifth of the time that one by one takes.

  /// Places all buffers, each with its own alignment and no larger one, and begins. The addresses
  /// are in the order of the buffers.
  std::vector<DeviceAddress> open_call(const std::vector<Buffer>& buffers,
                                       const DeviceTerms& terms);
  struct CallEnd {
    std::vector<Contents> contents;  // in the order of the buffers; nothing of inputs
    DeviceReport report;
  };
  /// Settles, reads, finishes, and releases the buffers.
  CallEnd close_call(DeviceStream stream, const std::vector<Buffer>& buffers,
                     const std::vector<DeviceAddress>& addresses);

 private:
  DeviceLink link_;
};

}  // namespace gauntlet
