// SPDX-License-Identifier: Apache-2.0
// Workers come and go by the thousand in one grading run.

#include <cerrno>
#include <filesystem>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "worker_fixture.h"

using namespace gauntlet;
using namespace gauntlet::test;

namespace {

std::size_t entries_of(const std::string& folder) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

/// Alive or not yet reaped.
bool has_children() {
  siginfo_t info{};
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

}  // namespace

TEST_CASE("a hundred workers at eight at a time leave no process and no descriptor") {
  constexpr int kAtOnce = 8, kEach = 13;
  const WorkerConfig config = config_for(work("args->y[0] = 1; return 0;"));
  const auto use_workers = [&] {
    WorkerSession session(config);
    for (int i = 0; i < kEach; ++i) {
      WorkCall call(256);
      session.run(call);
      session.restart();
    }
  };
  use_workers();  // what is opened once stays open
  const std::size_t descriptors = entries_of("/proc/self/fd");
  REQUIRE_FALSE(has_children());
  std::vector<std::thread> threads;
  for (int i = 0; i < kAtOnce; ++i) threads.emplace_back(use_workers);
  for (std::thread& thread : threads) thread.join();
  CHECK(entries_of("/proc/self/fd") == descriptors);
  CHECK_FALSE(has_children());
}

TEST_CASE("a worker that ends while another one lives is not taken for a survivor") {
  const WorkerConfig config = config_for(work("args->y[0] = 1; return 0;"));
  WorkerSession first(config), second(config);
  WorkCall call(256);
  first.run(call);
  second.run(call);  // its process was made when the first one's memory was open
  first.restart();
  first.run(call);
  CHECK(call.y.view()[0] == 1);
}
