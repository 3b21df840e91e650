// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <grp.h>
#include <memory>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "harness/build/solution.h"
#include "harness/core/files.h"
#include "harness/worker/session.h"
#include "harness/worker/worker_session.h"
#include "tests/support/text.h"

namespace gauntlet::test {

/// The contract of these tests: enough pointers and numbers for every kind of mischief.
struct Args {
  const float* x;
  float* y;
  float* z;
  std::int64_t count;
  std::int64_t mode;
};

constexpr const char* kContract = R"(
#pragma once
#include <stdint.h>
typedef struct {
  const float* x;
  float* y;
  float* z;
  int64_t count;
  int64_t mode;
} Args;
#ifdef __cplusplus
extern "C"
#endif
int64_t work(const Args* args);
)";

/// Compiles one source file against a contract, through the same path as a submission.
inline std::filesystem::path compiled(const std::string& source, const std::string& contract) {
  static const ScratchFolder cache("worker-test-cache");
  const ScratchFolder folder("worker-test");
  write_file(folder.path() / "contract.h", contract);
  Challenge challenge;
  challenge.id = "test";
  challenge.folder = folder.path();
  SolutionSource solution;
  solution.files.push_back({"solution.cpp", "#include \"contract.h\"\n" + source});
  const BuiltSolution built = build_solution(solution, challenge, cache.path());
  INFO(built.record.messages);
  REQUIRE(built.record.ok);
  return built.library;
}

inline WorkerConfig config_for(const std::string& source, const std::string& contract = kContract) {
  WorkerConfig config;
  config.worker = std::filesystem::path(GAUNTLET_BIN) / "gauntlet-worker";
  config.library = compiled(source, contract);
  config.exports = {"work"};
  config.call_seconds = 20;
  config.memory_bytes = std::size_t{512} << 20;
  config.arena_bytes = std::size_t{256} << 20;
  return config;
}

/// A session for `int64_t work(const Args*)` with this body.
struct Solution {
  WorkerConfig config;
  std::unique_ptr<WorkerSession> session;

  explicit Solution(const std::string& source) : config(config_for(source)) { open(); }
  void open() { session = std::make_unique<WorkerSession>(config); }
};

inline std::string work(const std::string& body, const std::string& before = "") {
  return before + "\nint64_t work(const Args* args) {\n" + body + "\n}\n";
}

/// One call with an input x and an output y of `count` floats.
struct WorkCall : Call<Args> {
  std::vector<float> data;
  Output<float> y;

  explicit WorkCall(std::size_t count, std::int64_t mode = 0, Placement placement = {})
      : Call("work"), data(count), y(*this, 0) {
    for (std::size_t i = 0; i < count; ++i) data[i] = static_cast<float>(i) + 0.5f;
    args.count = static_cast<std::int64_t>(count);
    args.mode = mode;
    in("x", args.x, data, placement);
    y = out<float>("y", args.y, count, placement);
  }
};

struct Ending {
  Verdict verdict = Verdict::passed;
  std::string text;
};

/// How a call ends: passed, or the failure.
inline Ending ending_of(Session& session, CallBase& call) {
  try {
    session.run(call);
    return {};
  } catch (const SolutionFailure& failure) {
    return {failure.verdict, failure.what()};
  }
}

/// How the first call of this body ends.
inline Ending ending_of(const std::string& body, const std::string& before = "") {
  const Solution solution(work(body, before));
  WorkCall call(256);
  return ending_of(*solution.session, call);
}

/// Copies what the worker is made from to where any user can read it.
inline void open_to_everybody(WorkerConfig& config, const ScratchFolder& folder) {
  chmod(folder.path().c_str(), 0755);
  for (std::filesystem::path* file : {&config.worker, &config.library}) {
    const std::filesystem::path copy = folder.path() / file->filename();
    std::filesystem::copy_file(*file, copy);
    *file = copy;
  }
}

/// What `act` returns, 0 to 255, in a fork of this process as an ordinary user who runs nothing.
inline int as_ordinary_user(uid_t id, const std::function<int()>& act) {
  const pid_t pid = fork();
  if (pid == 0) {
    if (geteuid() == 0 &&
        (setgroups(0, nullptr) != 0 || setresgid(id, id, id) != 0 || setresuid(id, id, id) != 0))
      _exit(255);
    try {
      _exit(act());
    } catch (const std::exception& error) {
      fmt::print(stderr, "{}\n", error.what());
      _exit(254);
    }
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 253;
}

}  // namespace gauntlet::test
