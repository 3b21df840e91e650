// SPDX-License-Identifier: Apache-2.0
// A device, and a host process in the worker's walls that calls one function of a library.
#pragma once

#include <algorithm>
#include <csignal>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <vector>

#include "harness/core/files.h"
#include "harness/device/cuda_device.h"
#include "harness/sandbox/landlock.h"
#include "harness/sandbox/launch.h"
#include "harness/sandbox/runtime_files.h"
#include "harness/worker/session.h"
#include "harness/worker/shared_memory.h"
#include "tests/device/host/host_page.h"
#include "tests/support/compile_cuda.h"

namespace gauntlet {

inline const std::filesystem::path kDeviceRoot = GAUNTLET_ROOT;
inline const std::filesystem::path kDeviceBin = GAUNTLET_BIN;

inline DeviceConfig device_config() {
  DeviceConfig config;
  config.program = kDeviceBin / "gauntlet-device";
  config.memory_bytes = std::size_t{256} << 20;
  config.patience = std::chrono::seconds(60);
  return config;
}

/// Both halves of tests/device/solutions/NAME.cu.
struct BuiltHalves {
  std::string ptx, library;
};

inline BuiltHalves built_solution(const std::string& name) {
  // To ctest a skipped test, to who runs it by hand a failed one that says what to install.
  if (!find_cuda_compiler()) FAIL(kNoCudaCompiler, "; this test is skipped");
  const ScratchFolder folder("device-test");
  const auto solutions = kDeviceRoot / "tests/device/solutions";
  std::filesystem::copy_file(solutions / "contract.h", folder.path() / "contract.h");
  const auto source = folder.path() / "solution.cu";
  write_file(source, "#line 1\n" + read_file(solutions / (name + ".cu")));
  const CudaProduct device = compile_for_device(source), host = compile_for_host(source);
  INFO(device.messages, host.messages);
  REQUIRE_FALSE(device.bytes.empty());
  REQUIRE_FALSE(host.bytes.empty());
  return {device.bytes, host.bytes};
}

/// The line of tests/device/solutions/NAME.cu that holds a text, as diagnostics name it.
inline std::string line_of(const std::string& text, const std::string& name) {
  const std::string source = read_file(kDeviceRoot / "tests/device/solutions" / (name + ".cu"));
  const std::size_t at = source.find(text);
  REQUIRE(at != std::string::npos);
  return "solution.cu:" +
         std::to_string(1 + std::count(source.begin(), source.begin() + std::ptrdiff_t(at), '\n'));
}

/// How a host process ended.
struct HostEnd {
  bool late = false;  // it had to be killed
  int signal = 0;     // that ended it
  int code = -1;      // that it exited with
  std::int64_t returned = 0;
  std::vector<std::uint64_t> words;

  bool is_fine() const { return !late && signal == 0 && code == 0; }
};

/// Calls `symbol` of a library in a process of its own.
class HostRun {
 public:
  HostRun(const CudaDevice& device, const std::string& library, const std::string& symbol,
          const std::vector<std::uint64_t>& words)
      : shared_("test-host", 3 * wire::kPage, SharedMemory::Writers::us_and_it) {
    static_assert(sizeof(HostPage) <= 3 * wire::kPage);
    auto& page = *new (shared_.base()) HostPage();
    symbol.copy(page.symbol, sizeof page.symbol - 1);
    std::copy(words.begin(), words.end(), page.words);
    user_ = SpareUser::take_if_root();
    const Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));
    const Fd program = sealed_copy(kDeviceBin / "gauntlet-device-test-host", "test-host");
    const Fd filter = sealed_copy(std::as_bytes(std::span(worker_filter())), "filter");
    const Fd code = sealed_copy(std::as_bytes(std::span(library)), "solution");
    const Fd landlock = landlock_ruleset(worker_rules());
    static const FileView kFiles(worker_rules());
    LaunchPlan plan;
    plan.argv = {"test-host"};
    plan.program = program.get();
    plan.environment = {"LC_ALL=C"};
    plan.descriptors = {null.get(),          null.get(), null.get(),   shared_.fd(),
                        device.mailbox_fd(), null.get(), filter.get(), code.get()};
    plan.landlock = landlock.get();
    plan.files = &kFiles;
    if (user_) plan.user = user_->id();
    launched_ = launch(plan);
  }
  ~HostRun() {
    if (!reaped_) wait(0);
    end_namespace_init(launched_);
  }

  /// Until it ends, or is killed after so many seconds.
  HostEnd wait(double seconds = 30) {
    HostEnd end;
    int status = 0;
    const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (waitpid(launched_.pid, &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() < until) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        continue;
      }
      end.late = true;
      kill(launched_.pid, SIGKILL);
      waitpid(launched_.pid, &status, 0);
      break;
    }
    reaped_ = true;
    if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
    if (WIFEXITED(status)) end.code = WEXITSTATUS(status);
    const auto& page = *reinterpret_cast<HostPage*>(shared_.base());
    end.returned = page.returned;
    end.words.assign(page.words, page.words + 512);
    return end;
  }

  bool is_running() const {
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(launched_.pid), &info, WEXITED | WNOHANG | WNOWAIT) ==
               0 &&
           info.si_pid == 0;
  }

  HostPage& page() { return *reinterpret_cast<HostPage*>(shared_.base()); }

 private:
  SharedMemory shared_;
  std::optional<SpareUser> user_;
  Launched launched_;
  bool reaped_ = false;
};

/// Its words; empty where there is no complaint.
inline std::string complaint_text(const DeviceReport& report) {
  return report.complaint ? report.complaint->text : "";
}

/// The verdict and the words that a function fails with; fails the test where it does not.
template <class Function>
SolutionFailure failure_of(const Function& function) {
  try {
    function();
  } catch (const SolutionFailure& failure) {
    return failure;
  }
  FAIL("nothing failed");
  return {Verdict::passed, ""};
}

}  // namespace gauntlet
