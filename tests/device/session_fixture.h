// SPDX-License-Identifier: Apache-2.0
// Sessions on a device with tests/device/solutions/session.cu.
#pragma once

#include "harness/core/error.h"
#include "harness/device/device_session.h"
#include "tests/device/device_fixture.h"
#include "tests/device/solutions/contract.h"

namespace gauntlet {

/// A session on a device; it has the budget of `budget` where there is one, and
/// so many seconds of patience with its device.
class SessionBench {
 public:
  explicit SessionBench(TimeBudget* budget = nullptr, double patience = 60) {
    static const BuiltHalves kBuilt = built_solution("session");
    write_file(folder_.path() / "solution.so", kBuilt.library);
    write_file(folder_.path() / "solution.ptx", kBuilt.ptx);
    DeviceSessionConfig config{{}, device_config(), folder_.path() / "solution.ptx"};
    config.device.patience = std::chrono::duration<double>(patience);
    config.worker.worker = kDeviceBin / "gauntlet-worker";
    config.worker.library = folder_.path() / "solution.so";
    config.worker.exports = {"scale"};
    config.worker.call_seconds = 60;
    config.worker.budget = budget;
    config.worker.arena_bytes = std::size_t{16} << 20;
    session.emplace(std::move(config));
  }

  std::optional<DeviceSession> session;

 private:
  ScratchFolder folder_{"device-session"};
};

constexpr std::uint64_t kHostCopyBytes = 1200;  // of the test contract

/// A call of one of its functions, with x = 1, 2, ... and y of as many numbers.
struct SessionCall : Call<DeviceTestArgs> {
  std::vector<float> data;
  Output<float> y;

  explicit SessionCall(const std::string& symbol, std::size_t n = 300, Placement placement = {})
      : Call(symbol), data(n), y(*this, 1) {
    for (std::size_t i = 0; i < n; ++i) data[i] = static_cast<float>(i + 1);
    args.device = TEST_HOST;
    args.n = static_cast<std::int64_t>(n);
    lies_on(args.device, TEST_HOST, TEST_CUDA, args.stream, kHostCopyBytes);
    in("x", args.x, data, placement);
    y = out<float>("y", args.y, n, placement);
  }

  std::vector<float> doubled() const {
    std::vector<float> wanted = data;
    for (float& value : wanted) value *= 2;
    return wanted;
  }
};

}  // namespace gauntlet
