// SPDX-License-Identifier: Apache-2.0
// What a cluster does to jobs: the programs of Slurm are a script here (fake_slurm.sh), and what
// grades is one that hands out results which were made before. tests/run/slurm_round_trip.sh asks
// the real ones.
#include "harness/run/slurm/slurm_runner.h"

#include <csignal>
#include <cstdlib>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/run/grading_run.h"
#include "harness/run/keep.h"
#include "tests/store/receipt_sample.h"
#include "tests/support/text.h"

using namespace gauntlet;

namespace fs = std::filesystem;

namespace {

constexpr const char* kStub = R"(#!/bin/sh
# FOLDER ... --json run-cell REQUEST --out OUT
prepared=$1
while [ "$1" != run-cell ]; do shift; done
number=$(basename "$2" .json)
[ -d "$prepared/$number" ] || { echo 'no such result' >&2; exit 70; }
cp -r "$prepared/$number" "$4"
echo '{"schema": "gauntlet.run-cell/1", "timings": [1, 2, 3, 4, 5]}'
)";

/// Requests, what they come to, and a cluster that hands it over.
class Cluster {
 public:
  explicit Cluster(int cells) {
    for (const char* program : {"sbatch", "squeue", "sacct", "scancel", "scontrol"})
      fs::create_symlink(fs::path(GAUNTLET_ROOT) / "tests/run/fake_slurm.sh", path("bin", program));
    write_file(path("bin", "stub"), kStub);
    fs::permissions(path("bin", "stub"), fs::perms::owner_all);
    const char* old = std::getenv("PATH");
    path_before_ = old == nullptr ? "" : old;
    setenv("PATH", (path("bin", "").string() + ":" + path_before_).c_str(), 1);
    setenv("FAKE_SLURM", path("state", "").c_str(), 1);
    for (int i = 0; i < cells; ++i) add_cell(i);
  }
  ~Cluster() {
    setenv("PATH", path_before_.c_str(), 1);
    unsetenv("FAKE_SLURM");
  }
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  fs::path path(const char* part, const std::string& name) const {
    fs::create_directories(folder_.path() / part);
    return folder_.path() / part / name;
  }
  void tell(const std::string& file, const std::string& text) const {
    write_file(path("state", file), text);
  }
  std::string seen(const std::string& file) const {
    return fs::exists(path("state", file)) ? read_file(path("state", file)) : "";
  }
  ResultStore results() const { return ResultStore(path("results", "")); }
  ResultStore prepared(int cell) const {
    return ResultStore(path("prepared", std::to_string(cell)));
  }

  std::vector<CellObservation> grade(const SlurmTerms& terms = {}) {
    SlurmRunner::Setting setting{
        terms, path("shared", ""), {path("bin", "stub").string(), path("prepared", "").string()}};
    setting.look = std::chrono::milliseconds(5);
    setting.lag = std::chrono::seconds(0);
    setting.silence = std::chrono::seconds(0);
    const Rubric rubric = load_rubric(fs::path(GAUNTLET_ROOT) / "harness/score/rubric.yaml");
    return SlurmRunner(setting).grade(
        requests, [this](const CellEvent& event) { events.push_back(event); },
        [&](const GradedCell& cell) {
          finished.push_back(cell);
          keep(results(), rubric, cell, "a test asked for it");
        });
  }

  std::string told(CellEvent::Kind kind) const {
    std::string text;
    for (const CellEvent& event : events)
      if (event.kind == kind) text += event.key.submission + ": " + event.check + "\n";
    return text;
  }

  std::vector<CellRequest> requests;
  std::vector<CellObservation> cells;  // that come of them
  std::vector<CellEvent> events;
  std::vector<GradedCell> finished;

 private:
  void add_cell(int number) {
    CellRequest request;
    request.submission = fmt::format("model{}", number);
    request.challenge = load_challenge(GAUNTLET_ROOT, std::string(all_graders().front().id));
    request.solution.files = {{"solution.cpp", fmt::format("int n = {};\n", number)}};
    request.results = results().root();
    CellObservation cell = sample::cell();
    cell.key = request.key();
    cell.provenance.submission_digest = request.solution.digest();
    cell.provenance.grader_digest = grader_for(request.challenge.id).digest(Device::cpu);
    cell.checks = {sample::passed("base")};
    prepared(number).save(cell);
    prepared(number).close_receipt(cell, sample::receipt_of(cell));
    requests.push_back(request);
    cells.push_back(cell);
  }

  ScratchFolder folder_{"cluster"};
  std::string path_before_;
};

bool is_broken(const CellObservation& cell) {
  return cell.checks.at(0).verdict == Verdict::broken &&
         contains(cell.checks[0].finding->summary, "(our fault: the cluster took the job away");
}

std::string refusal_of(Cluster& cluster) {
  try {
    cluster.grade();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no refusal";
}

}  // namespace

TEST_CASE("cells are graded by jobs, come back in order, and are bound to their seeds here too") {
  Cluster cluster(3);
  const auto seen = cluster.grade();
  REQUIRE(seen.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(seen[i].key == cluster.requests[i].key());
    const auto receipt = cluster.results().load_receipt(seen[i].key);
    REQUIRE(receipt.has_value());
    const std::string name = seen[i].key.submission;
    CHECK(contains(cluster.told(CellEvent::Kind::committed), name + ": " + receipt->commitment));
    CHECK(contains(cluster.told(CellEvent::Kind::closed), name + ": " + closing_digest(*receipt)));
    CHECK_FALSE(fs::exists(cluster.results().opened_file(seen[i].key)));
    CHECK(cluster.finished[i].timings.waiting == 5);
  }
  CHECK(fs::is_empty(cluster.path("shared", "")));
}

TEST_CASE("what is asked of the cluster reaches it, and nobody else sees the requests") {
  Cluster cluster(2);
  cluster.tell("fates", "1_1 CANCELLED\n1_0 CANCELLED\n2_0 CANCELLED\n3_0 CANCELLED\n");
  SlurmTerms terms{"night", "epyc&quiet", 4, 7};
  cluster.grade(terms);
  const std::string call = cluster.seen("sbatch.log");
  for (const char* word : {"--partition=night", "--constraint=epyc&quiet", "--cpus-per-task=4",
                           "--array=0-1%7", "--no-requeue", "--export=NIL"})
    CHECK_MESSAGE(contains(call, word), call);
  REQUIRE_FALSE(fs::is_empty(cluster.path("shared", "")));  // kept, for a cell that was lost
  for (const auto& run : fs::directory_iterator(cluster.path("shared", "")))
    CHECK((fs::status(run).permissions() & fs::perms::all) == fs::perms::owner_all);
  Cluster usual(1);
  usual.grade();
  CHECK(contains(usual.seen("sbatch.log"), "--exclusive"));
  CHECK_FALSE(contains(usual.seen("sbatch.log"), "--partition"));
}

TEST_CASE("a job that the cluster ended is run again, and the cell is as if nothing had been") {
  Cluster cluster(3);
  cluster.tell("fates", "1_1 NODE_FAIL\n2_0 PREEMPTED\n1_2 COMPLETED\n");
  cluster.tell("accounts", "");
  const auto seen = cluster.grade();
  for (std::size_t i = 0; i < 3; ++i) CHECK(seen[i].checks[0].verdict == Verdict::passed);
  const std::string told = cluster.told(CellEvent::Kind::waiting);
  CHECK(contains(told,
                 "model1: job 1_1 was lost: NODE_FAIL on node1 (NODE_FAIL on node1); it is "
                 "graded again"));
  CHECK(contains(told, "model1: job 2_0 was lost: PREEMPTED on node1"));
  CHECK(contains(told, "model2: job 1_2 was lost: COMPLETED on node1"));
  CHECK(contains(cluster.seen("sbatch.log"), "--array=0-0"));
}

TEST_CASE("a cell whose jobs are all lost is broken, and others are not") {
  Cluster cluster(2);
  cluster.tell("fates", "1_1 NODE_FAIL\n2_0 OUT_OF_MEMORY\n3_0 TIMEOUT\n");
  const auto seen = cluster.grade();
  CHECK(seen[0].checks[0].verdict == Verdict::passed);
  CHECK(is_broken(seen[1]));
  CHECK(seen[1].checks.size() == grader_for(cluster.requests[1].challenge.id).make().checks.size());
  CHECK(contains(seen[1].checks[0].finding->summary, "job 3_0 was lost: TIMEOUT on node1"));
  CHECK_FALSE(cluster.finished.back().receipt.has_value());
}

TEST_CASE("what grades fails: its words are told") {
  Cluster cluster(1);
  fs::remove_all(cluster.prepared(0).root());
  const auto seen = cluster.grade();
  CHECK(is_broken(seen[0]));
  CHECK(contains(seen[0].checks[0].finding->summary, "no such result"));
}

TEST_CASE("a result that is of something else, or that its receipt does not fit, does not count") {
  Cluster cluster(2);
  CellObservation other = cluster.cells[0];
  other.provenance.submission_digest = sha256("other");
  cluster.prepared(0).save(other);
  cluster.prepared(0).close_receipt(other, sample::receipt_of(other));
  const fs::path file = cluster.prepared(1).observation_file(cluster.cells[1].key);
  write_file(file, replaced(read_file(file), "\"cases\": 3", "\"cases\": 4"));
  const auto seen = cluster.grade();
  CHECK(is_broken(seen[0]));
  CHECK(contains(seen[0].checks[0].finding->summary, "not what it was asked to grade"));
  CHECK(is_broken(seen[1]));
  CHECK(contains(seen[1].checks[0].finding->summary, "its receipt does not fit"));
}

TEST_CASE("more cells than an array may have are graded in several") {
  Cluster cluster(5);
  cluster.tell("max", "2");
  CHECK(cluster.grade().size() == 5);
  std::istringstream calls(cluster.seen("sbatch.log"));
  int arrays = 0;
  for (std::string line; std::getline(calls, line); ++arrays)
    CHECK(contains(line, arrays < 2 ? "--array=0-1 " : "--array=0-0 "));
  CHECK(arrays == 3);
}

TEST_CASE("a cluster that refuses, does not answer or is not there says so") {
  Cluster cluster(1);
  cluster.tell("refuse", "sbatch: error: invalid partition specified: nihgt");
  CHECK(contains(refusal_of(cluster), "invalid partition specified: nihgt"));
  fs::remove(cluster.path("state", "refuse"));
  cluster.tell("fates", "1_0 RUNNING\n");
  cluster.tell("silent", "");
  CHECK_THROWS_WITH_AS(cluster.grade(), doctest::Contains("Slurm has not answered"), Broken);
  CHECK(contains(cluster.seen("cancelled"), "--name=gauntlet-run-"));
  setenv("PATH", cluster.path("empty", "").c_str(), 1);
  CHECK(contains(refusal_of(cluster), "there is no scontrol on PATH"));
}

TEST_CASE("an interrupt ends the jobs first") {
  Cluster cluster(1);
  cluster.tell("fates", "1_0 RUNNING\n");
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGTERM, SIG_DFL);  // doctest has its own
    alarm(60);
    cluster.grade();
    _exit(0);
  }
  for (int i = 0; i < 60'000 && !contains(cluster.seen("queue"), "RUNNING"); ++i) usleep(1000);
  kill(child, SIGTERM);
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGTERM);
  CHECK(contains(cluster.seen("cancelled"), "--name=gauntlet-run-"));
  CHECK(fs::is_empty(cluster.path("shared", "")));
}
