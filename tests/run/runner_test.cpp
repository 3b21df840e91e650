// SPDX-License-Identifier: Apache-2.0
// A cell that another process graded is the cell that this one grades.
#include <chrono>
#include <cstdlib>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include "harness/core/files.h"
#include "harness/run/cell_request_json.h"
#include "harness/run/grading_run.h"
#include "harness/run/local_runner.h"
#include "harness/sandbox/fd.h"
#include "harness/store/json_fields.h"
#include "harness/store/observation_json.h"
#include "harness/store/receipt_check.h"
#include "tests/end_to_end/grading_environment.h"

using namespace gauntlet;

namespace fs = std::filesystem;

namespace {

/// Of a sample that solves the challenge right, the same each time.
CellRequest textbook_request() {
  CellRequest request =
      untimed_request("textbook", fs::path(GAUNTLET_ROOT) / "submissions/textbook" / kChallenge);
  request.seed = 0xfedcba9876543210;
  request.only_checks = {"all_gradients", "every_argument", "every_refusal", "needles",
                         "peak_memory",   "saved_bytes",    "strides",       "warning_free_build"};
  return request;
}

/// What was seen, but for how long it took, how many pages the kernel gave meanwhile, where and
/// when.
Json seen_in(CellObservation cell) {
  cell.provenance = {};
  cell.build.seconds = 0;
  for (CheckObservation& check : cell.checks) {
    check.seconds = 0;
    if (check.workspace) check.facts.clear();
    check.workspace.reset();
  }
  return Json::parse(to_json(cell));
}

}  // namespace

TEST_CASE("a request in a file is graded by another process as the local runner grades it") {
  const ScratchFolder folder("request");
  const fs::path file = folder.path() / "request.json";
  const CellRequest request = textbook_request();
  write_file(file, to_json(request));
  const std::string command = fmt::format(
      "{}/gauntlet --quiet --allow-weaker-sandbox run-cell {} --out {} > {} 2>&1", GAUNTLET_BIN,
      file.string(), (folder.path() / "out").string(), (folder.path() / "said").string());
  REQUIRE_MESSAGE(std::system(command.c_str()) == 0, read_file(folder.path() / "said"));

  const ResultStore out(folder.path() / "out");
  const auto remote = out.load(request.key());
  REQUIRE(remote.has_value());
  const auto receipt = out.load_receipt(request.key());
  REQUIRE(receipt.has_value());
  CHECK(check_commitment(*receipt, "").outcome == Proof::Outcome::holds);
  CHECK(check_observation(*receipt, read_file(out.observation_file(request.key())), "o").outcome ==
        Proof::Outcome::holds);
  CHECK_FALSE(fs::exists(out.opened_file(request.key())));
  CHECK(fs::exists(out.score_file(request.key())));

  std::optional<Receipt> local_receipt;
  const auto local = LocalRunner(environment(), 1)
                         .grade(
                             {request}, [](const CellEvent&) {},
                             [&](const GradedCell& cell) { local_receipt = cell.receipt; });
  REQUIRE(local_receipt.has_value());
  CHECK(remote->checks.size() == request.only_checks.size());
  for (std::size_t i = 0; i < local_receipt->closing->checks.size(); ++i) {
    const CheckTrace& here = local_receipt->closing->checks[i];
    const CheckTrace& there = receipt->closing->checks.at(i);
    INFO(here.id);
    CHECK(here.opening == there.opening);
    if (here.timed) continue;  // what follows goes by the clock
    CHECK(here.inputs == there.inputs);
    CHECK(here.outputs == there.outputs);
  }
  CHECK(seen_in(*remote) == seen_in(local.at(0)));
}

TEST_CASE("while cells wait for their races, others are checked, and then all race") {
  const char* const raced = "flash_attention_forward";  // of which a check has one short race
  CellRequest request =
      untimed_request("textbook", fs::path(GAUNTLET_ROOT) / "submissions/textbook" / raced);
  request.challenge = load_challenge(GAUNTLET_ROOT, raced);
  request.races = true;
  request.only_checks = {"speed_dim_128"};
  std::vector<CellRequest> requests(3, request);
  for (std::size_t i = 0; i < requests.size(); ++i) requests[i].attempt = static_cast<int>(i) + 1;
  // Nothing races until two have come to their races: these cells have nothing else to do, and the
  // first might be through before the second is there.
  using Clock = std::chrono::steady_clock;
  Clock::time_point first_waits;
  double held = 0;
  const Fd gate(open((environment().cache / "timing.lock").c_str(), O_RDWR | O_CREAT, 0600));
  REQUIRE(flock(gate.get(), LOCK_SH) == 0);
  int begun = 0;
  int racing = 0;
  int begun_before_an_end = 0;
  std::vector<CellTimings> timings;
  LocalRunner(environment(), 2)
      .grade(
          requests,
          [&](const CellEvent& event) {
            if (event.kind == CellEvent::Kind::building) ++begun;
            if (event.kind == CellEvent::Kind::racing) ++racing;
            if (event.kind == CellEvent::Kind::racing && racing == 1) first_waits = Clock::now();
            if (event.kind == CellEvent::Kind::racing && racing == 2) {
              held = std::chrono::duration<double>(Clock::now() - first_waits).count();
              flock(gate.get(), LOCK_UN);
            }
            if (event.kind == CellEvent::Kind::cell_done && timings.empty())
              begun_before_an_end = begun;
          },
          [&](const GradedCell& cell) { timings.push_back(cell.timings); });
  CHECK(begun_before_an_end == 3);
  REQUIRE(timings.size() == 3);
  double waiting = 0;
  for (const CellTimings& one : timings) {
    CHECK(one.races > 0);
    CHECK(one.self_test == 0);
    waiting += one.waiting;
  }
  CHECK(waiting - held > timings.front().races);  // the second waited while the first one raced
}
