// SPDX-License-Identifier: Apache-2.0
// A run that is killed anywhere, and begun again, leaves the same bytes as one that nobody killed,
// and no cell is graded twice. The places are system calls, so that they are the same each time.
#include <cerrno>
#include <csignal>
#include <doctest/doctest.h>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "harness/core/files.h"
#include "harness/store/ledger.h"
#include "harness/store/observation_json.h"
#include "harness/store/reuse.h"
#include "tests/run/quick_runner.h"

using namespace gauntlet;

namespace fs = std::filesystem;

namespace {

constexpr int kPoints = 50;
constexpr int kNever = 1 << 30;

/// Two cells: one that was never graded, and one whose grade is replaced.
struct Work {
  std::vector<GradedCell> before{quick_cell("bravo", 1)};
  std::vector<GradedCell> after{quick_cell("alpha", 2), quick_cell("bravo", 2)};
};

void do_nothing(const CellEvent&) {}

/// A folder of results as it is before the run.
class Run {
 public:
  explicit Run(const Work& work) : work_(work) {
    QuickRunner runner(work.before, folder_.path() / "first.log");
    grade_quickly(store(), work.before, runner, do_nothing);
  }

  ResultStore store() const { return ResultStore(folder_.path() / "results"); }

  /// Grades in a process that is killed at its `point`th step into or out of a system call. Answers
  /// how many it had come to. Nothing where no process may be traced.
  std::optional<int> killed_at(int point) const {
    const pid_t child = fork();
    if (child == 0) {
      if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(9);
      raise(SIGSTOP);
      grade();
      _exit(0);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return std::nullopt;
    for (int seen = 0;; ++seen) {
      if (seen == point) kill(child, SIGKILL);
      if (ptrace(PTRACE_SYSCALL, child, nullptr, nullptr) != 0 && errno != ESRCH)
        return std::nullopt;
      if (waitpid(child, &status, 0) != child) return std::nullopt;
      if (WIFEXITED(status) || WIFSIGNALED(status)) return seen;
    }
  }

  void grade() const {
    QuickRunner runner(work_.after, log());
    grade_quickly(store(), work_.after, runner, do_nothing);
  }

  /// Everything that lies in the folder of results.
  std::map<std::string, std::string> bytes() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(store().root()))
      if (entry.is_regular_file())
        files[entry.path().lexically_relative(store().root())] = read_file(entry.path());
    return files;
  }

  /// What the store vouches for is one of the two results, and nothing between.
  void check_that_nothing_is_half() const {
    for (const CellObservation& cell : load_all_marked(store())) {
      const std::string text = to_json(cell);
      int same = 0;
      for (const auto* results : {&work_.before, &work_.after})
        for (const GradedCell& result : *results) same += to_json(result.observation) == text;
      CHECK(same == 1);
    }
  }

  /// Those that another run would not grade again.
  std::set<std::string> kept() const {
    std::set<std::string> names;
    for (const GradedCell& cell : work_.after)
      if (planned(store(), cell).reused) names.insert(cell.observation.key.submission);
    return names;
  }

  /// Whose grading was begun though it was kept by then.
  std::string graded_twice() const {
    std::istringstream lines(read_file(log()));
    std::set<std::string> kept;
    for (std::string what, name; lines >> what >> name;) {
      if (what == "begin" && kept.contains(name)) return name;
      if (what == "kept") kept.insert(name);
    }
    return "";
  }

  /// So that another grading of them counts, though the run was killed before it could say so.
  void note_kept(const std::set<std::string>& names) const {
    std::string text = fs::exists(log()) ? read_file(log()) : "";
    for (const std::string& name : names) text += "kept " + name + "\n";
    write_file(log(), text);
  }

 private:
  fs::path log() const { return folder_.path() / "log"; }

  const Work& work_;
  ScratchFolder folder_{"killed"};
};

}  // namespace

TEST_CASE("a run that is killed at fifty points and goes on leaves the same bytes") {
  const Work work;
  const Run whole(work);
  const auto steps = whole.killed_at(kNever);
  if (!steps) {
    MESSAGE("no process may be traced here; this test is skipped");
    return;
  }
  const auto wanted = whole.bytes();
  CHECK(load_ledger(whole.store().ledger_file()).size() == work.before.size());
  REQUIRE(whole.kept().size() == work.after.size());

  std::mt19937 random(20);
  const auto below = [&](int end) {
    return static_cast<int>(random() % static_cast<unsigned>(end));
  };
  int killed = 0;
  for (int i = 0; i < kPoints; ++i) {
    const Run run(work);
    for (const int point : {below(*steps), below(*steps)}) {  // the run that goes on is killed too
      INFO(point, " of ", *steps);
      killed += *run.killed_at(point) == point ? 1 : 0;
      run.check_that_nothing_is_half();
      run.note_kept(run.kept());
    }
    run.grade();
    CHECK(run.graded_twice() == "");
    for (const auto& file : run.bytes()) {
      INFO(file.first);
      const auto as_wanted = wanted.find(file.first);
      CHECK((as_wanted != wanted.end() && as_wanted->second == file.second));
    }
    CHECK(run.bytes().size() == wanted.size());
  }
  CHECK(killed > kPoints);
}
