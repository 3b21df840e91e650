// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/spread_threads.h"

#include <algorithm>
#include <csignal>
#include <doctest/doctest.h>
#include <filesystem>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "worker_fixture.h"

using namespace gauntlet;
using namespace gauntlet::test;

namespace {

cpu_set_t only(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  return set;
}

/// A stopped process of several threads, the main one on a core that it chose. Its name makes its
/// line in /proc hard to read.
class Stopped {
 public:
  Stopped(int threads, int core) {
    int ready[2];
    REQUIRE(pipe(ready) == 0);
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      prctl(PR_SET_NAME, "a) R 1 2 (b");
      for (int i = 1; i < threads; ++i) std::thread([] { pause(); }).detach();
      const cpu_set_t there = only(core);
      if (sched_setaffinity(0, sizeof there, &there) != 0 || write(ready[1], "", 1) != 1) _exit(1);
      while (true) pause();
    }
    char byte = 0;
    REQUIRE(read(ready[0], &byte, 1) == 1);
    close(ready[0]);
    close(ready[1]);
    kill(pid_, SIGSTOP);
    REQUIRE(waitpid(pid_, nullptr, WUNTRACED) == pid_);
  }
  ~Stopped() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  pid_t pid() const { return pid_; }

  std::vector<pid_t> others() const {
    std::vector<pid_t> threads;
    for (const auto& entry :
         std::filesystem::directory_iterator("/proc/" + std::to_string(pid_) + "/task"))
      if (const pid_t thread = std::stoi(entry.path().filename()); thread != pid_)
        threads.push_back(thread);
    return threads;
  }

 private:
  pid_t pid_ = -1;
};

std::vector<int> cores_of(pid_t thread) {
  cpu_set_t set;
  REQUIRE(sched_getaffinity(thread, sizeof set, &set) == 0);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

}  // namespace

TEST_CASE("threads wake up on different cores, next to the main one, and get all of them back") {
  const std::vector<int> all = cores_of(0);
  const auto cores = all.size();
  if (cores < 2) {
    MESSAGE("there is one core; this test is skipped");
    return;
  }
  const Stopped process(static_cast<int>(cores), all.back());
  {
    const SpreadThreads spread(ProcessTasks(process.pid()).list());
    CHECK(spread.any());
    std::vector<int> taken = cores_of(0);
    CHECK(taken == std::vector{all.back()});
    for (const pid_t thread : process.others()) {
      const auto core = cores_of(thread);
      REQUIRE(core.size() == 1);
      taken.push_back(core.front());
    }
    std::sort(taken.begin(), taken.end());
    CHECK(taken == all);
  }
  CHECK(cores_of(0) == all);
  for (const pid_t thread : process.others()) CHECK(cores_of(thread) == all);
}

TEST_CASE("a process of one thread and one that is gone are left alone") {
  const std::vector<int> all = cores_of(0);
  const Stopped process(1, all.front());
  const SpreadThreads alone(ProcessTasks(process.pid()).list());
  CHECK_FALSE(alone.any());
  CHECK(cores_of(0) == all);
  CHECK_FALSE(SpreadThreads(ProcessTasks(1 << 30).list()).any());
}

TEST_CASE("a thread stays within the cores that it chose for itself") {
  const std::vector<int> all = cores_of(0);
  const Stopped process(static_cast<int>(all.size()) + 1, all.back());
  for (const pid_t thread : process.others()) {
    const cpu_set_t first = only(all.front());
    REQUIRE(sched_setaffinity(thread, sizeof first, &first) == 0);
  }
  const SpreadThreads spread(ProcessTasks(process.pid()).list());
  for (const pid_t thread : process.others()) CHECK(cores_of(thread) == std::vector{all.front()});
}

TEST_CASE("a call whose threads are kept apart sees all cores") {
  const Solution solution(
      work("int threads = 0;\n"
           "#pragma omp parallel num_threads(2) reduction(+ : threads)\n"
           "threads = 1;\n"
           "args->y[0] = threads > 1 ? std::thread::hardware_concurrency() : 0;\n"
           "return 0;",
           "#include <thread>"));
  solution.session->keep_threads_apart();
  WorkCall call(1);
  for (int i = 0; i < 20; ++i) {
    solution.session->run(call);
    CHECK(call.y.view()[0] == static_cast<float>(cores_of(0).size()));
  }
}
