// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "harness/device/wire.h"
#include "harness/sandbox/launch.h"
#include "harness/sandbox/output_pipe.h"
#include "harness/sandbox/spare_user.h"
#include "harness/worker/shared_memory.h"

namespace gauntlet {

struct DeviceConfig {
  std::filesystem::path program;                    // gauntlet-device
  std::size_t memory_bytes = std::size_t{1} << 30;  // of the device
  std::chrono::duration<double> patience{60};       // for one request, kernels included
  Walls walls = {};
};

/// A device process, and the socket to it. Used by one thread.
class DeviceLink {
 public:
  /// Throws Broken when it cannot be started: nothing of a submission has run by then.
  explicit DeviceLink(const DeviceConfig& config);
  ~DeviceLink();
  DeviceLink(const DeviceLink&) = delete;
  DeviceLink& operator=(const DeviceLink&) = delete;

  int mailbox_fd() const { return mailbox_.fd(); }
  pid_t pid() const { return pid_; }

  /// Sends a request, waits for its reply, and leaves the reply's bytes in `data`. Throws
  /// SolutionFailure when the process has ended, or had to be ended because it did not answer; so
  /// does every later request; and when the solution has taken the memory that the request needs.
  /// Throws Broken for a reply that has "error" in it.
  nlohmann::json ask(const nlohmann::json& request, std::vector<std::byte>& data);
  nlohmann::json ask(const nlohmann::json& request);

  /// The two halves of ask(): several requests may be sent, and then their replies received in the
  /// same order; they may be on their way only when the first reply is waited for. Whoever did not
  /// receive all of them cannot use the link any more.
  void send(const nlohmann::json& request, std::span<const std::byte> data = {});
  nlohmann::json receive(std::vector<std::byte>& data);

 private:
  using Clock = std::chrono::steady_clock;

  void start(const DeviceConfig& config);
  template <class Byte>
  std::size_t transfer_some(std::span<Byte> bytes, Clock::time_point deadline);
  void gather(std::span<const std::byte> bytes, Clock::time_point deadline);
  void flush(Clock::time_point deadline);
  void take(std::span<std::byte> bytes, Clock::time_point deadline);
  [[noreturn]] void fail(Clock::time_point deadline);
  std::string ending(int status) const;
  void watch();
  void stop();

  SharedMemory mailbox_;
  OutputPipe output_;
  std::chrono::duration<double> patience_;
  std::optional<SpareUser> user_;
  Fd socket_;
  std::vector<std::byte> unsent_;    // requests that nobody waits for yet
  std::vector<std::byte> received_;  // of which `unread_` are to be taken
  std::span<const std::byte> unread_;
  Fd watch_ends_;  // closed when the watch is to end
  Launched launched_;
  pid_t pid_ = -1;  // -1 once reaped
  std::thread watcher_;
  std::optional<Verdict> failed_;  // with why_: what every later request is told
  std::string why_;
};

}  // namespace gauntlet
