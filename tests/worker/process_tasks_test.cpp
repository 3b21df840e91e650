// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/process_tasks.h"

#include <algorithm>
#include <atomic>
#include <doctest/doctest.h>
#include <filesystem>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

using namespace gauntlet;

namespace {

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator entries("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

/// A thread that does nothing until it is told to end.
class Idle {
 public:
  Idle()
      : thread_([this](const std::stop_token& stop) {
          id_ = static_cast<pid_t>(syscall(SYS_gettid));
          id_.notify_one();
          while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }) {
    id_.wait(0);
  }
  pid_t id() const { return id_; }

 private:
  std::atomic<pid_t> id_ = 0;
  std::jthread thread_;
};

std::vector<pid_t> ids_in(const std::vector<Task>& tasks) {
  std::vector<pid_t> ids;
  for (const Task& task : tasks) ids.push_back(task.id);
  return ids;
}

bool has(const std::vector<pid_t>& ids, pid_t id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

/// Joined threads are gone a moment later.
std::vector<pid_t> settled(ProcessTasks& tasks, std::size_t count) {
  for (int tries = 0; tries < 2000 && tasks.count() != count; ++tries) usleep(1000);
  return ids_in(tasks.list());
}

}  // namespace

TEST_CASE("threads that come and go are seen by whoever looks again, the main one first") {
  ProcessTasks tasks(getpid());
  const std::size_t others = tasks.count();
  const Idle stays;
  CHECK(has(settled(tasks, others + 1), stays.id()));
  pid_t gone = 0;
  {
    const Idle goes;
    gone = goes.id();
    const std::vector<pid_t> both = settled(tasks, others + 2);
    CHECK(both.size() == others + 2);
    CHECK(both.front() == getpid());
    CHECK(has(both, stays.id()));
    CHECK(has(both, gone));
  }
  const std::vector<pid_t> left = settled(tasks, others + 1);
  CHECK(left.size() == others + 1);
  CHECK(left.front() == getpid());
  CHECK(has(left, stays.id()));
  CHECK_FALSE(has(left, gone));
}

TEST_CASE("a file is open for each thread that there is, for 256 at most, and none for others") {
  ProcessTasks tasks(getpid());
  const std::size_t others = tasks.count();
  settled(tasks, others);
  const std::size_t before = open_descriptors();
  {
    std::vector<std::unique_ptr<Idle>> idle;
    for (int i = 0; i < 20; ++i) idle.push_back(std::make_unique<Idle>());
    CHECK(settled(tasks, others + 20).size() == others + 20);
    CHECK(open_descriptors() == before + 20);
    for (int i = 0; i < 280; ++i) idle.push_back(std::make_unique<Idle>());
    CHECK(settled(tasks, others + 300).size() == others + 300);
    CHECK(open_descriptors() == before + 256 - others);
  }
  CHECK(settled(tasks, others).size() == others);
  CHECK(open_descriptors() == before);
}
