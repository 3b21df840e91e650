// SPDX-License-Identifier: Apache-2.0
// What submissions do when they do not work, and what the cell then says. All of them are graded in
// one run beside an honest one, which must not notice.
#include <doctest/doctest.h>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/files.h"
#include "harness/grading/cell.h"
#include "harness/grading/run_cell.h"
#include "harness/run/local_runner.h"
#include "tests/end_to_end/grading_environment.h"

using namespace gauntlet;
namespace fs = std::filesystem;

namespace {

constexpr const char* kCheck = "all_gradients";  // the plainest of its checks

CellRequest request(std::string name, std::string backward) {
  CellRequest request;
  request.submission = std::move(name);
  request.challenge = load_challenge(GAUNTLET_ROOT, kChallenge);
  request.challenge.call_seconds = 0.5;
  request.challenge.memory_mib = 256;
  request.seed = 1;
  request.only_checks = {kCheck};
  request.audit = true;
  request.solution.files.push_back({"solution.cpp", fmt::format(R"(
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <unistd.h>
#include "contract.h"
extern "C" int64_t layernorm_saved_bytes(const LayernormArgs*) {{ return 0; }}
extern "C" int64_t layernorm_forward(const LayernormArgs*) {{ return 0; }}
extern "C" int64_t layernorm_backward(const LayernormArgs* a) {{
  (void)a;
  {}
  return 0;
}}
)",
                                                                backward)});
  return request;
}

CellRequest honest_request() {
  CellRequest request = ::request("honest", "");
  request.challenge.call_seconds = 10;
  request.solution = read_solution(fs::path(GAUNTLET_ROOT) / "submissions/textbook" / kChallenge);
  return request;
}

const CheckObservation& seen_by(const CellObservation& cell) {
  for (const CheckObservation& check : cell.checks)
    if (check.info.id == kCheck) return check;
  FAIL("the check is missing");
  return cell.checks.at(0);
}

struct Expectation {
  const char* name;
  const char* backward;  // body of the backward pass
  Verdict verdict;
  const char* words;  // that the finding must contain
};

const Expectation kMisbehaviours[] = {
    {"crashes", "std::abort();", Verdict::crashed, "SIGABRT"},
    {"reads_null", "return *(volatile int*)nullptr;", Verdict::crashed, "SIGSEGV"},
    {"exits", "_exit(0);", Verdict::crashed, "exit"},
    {"hangs", "for (volatile int i = 0;;) i = i + 1;", Verdict::timed_out, "no answer"},
    {"sleeps", "for (;;) sleep(1);", Verdict::timed_out, "no answer"},
    {"eats_memory", "for (;;) { char* p = new char[1 << 24]; std::memset(p, 1, 1 << 24); }",
     Verdict::over_memory, "used more than 256 MiB"},
    {"prints", "for (int i = 0; i < 40000000; ++i) std::printf(\"%d\\n\", i);", Verdict::crashed,
     "printed"},
    {"returns_nan",
     "for (int64_t i = 0; i < a->rows; ++i) for (int64_t j = 0; j < a->cols; ++j) if (a->dx) "
     "((float*)a->dx)[i * a->dx_row_stride + j] = std::numeric_limits<float>::quiet_NaN();",
     Verdict::wrong, "got nan"},
    {"writes_nothing", "", Verdict::wrong, "got nan"},
    {"changes_its_input", "if (a->rows > 0) ((float*)a->x)[0] = 1;", Verdict::crashed, "input"},
    {"says_no", "return -1;", Verdict::wrong, "returned -1"},
};

}  // namespace

TEST_CASE("each way of not working has its verdict and its sentence, and the others go on") {
  std::vector<CellRequest> requests;
  for (const Expectation& expected : kMisbehaviours) {
    requests.push_back(request(expected.name, expected.backward));
    if (expected.verdict != Verdict::timed_out) requests.back().challenge.call_seconds = 30;
  }
  requests.push_back(honest_request());
  const auto cells = LocalRunner(environment(), 2).grade(requests, [](const CellEvent&) {});
  REQUIRE(cells.size() == requests.size());

  for (std::size_t i = 0; i + 1 < cells.size(); ++i) {
    const Expectation& expected = kMisbehaviours[i];
    CAPTURE(expected.name);
    CAPTURE(cells[i].build.messages);
    REQUIRE(cells[i].build.ok);
    const CheckObservation& check = seen_by(cells[i]);
    CHECK(name_of(check.verdict) == name_of(expected.verdict));
    REQUIRE(check.finding);
    CHECK_MESSAGE(check.finding->summary.find(expected.words) != std::string::npos,
                  check.finding->summary);
  }
  CHECK(cells.back().key.submission == "honest");
  CHECK(name_of(seen_by(cells.back()).verdict) == "passed");
}

TEST_CASE("a solution that does not build is rejected with the compiler's first words") {
  CellRequest broken = request("broken", "this is no C++;");
  const auto cells = LocalRunner(environment(), 1).grade({broken}, [](const CellEvent&) {});
  CHECK_FALSE(cells[0].build.ok);
  CHECK(cells[0].build.messages.find("error:") != std::string::npos);
  CHECK(cells[0].build.messages.find("solution.cpp") != std::string::npos);
}

TEST_CASE("a check that breaks through a fault of ours is asked once more, and blames nobody") {
  const ScratchFolder folder("worker");
  GradingEnvironment shop = environment();
  const fs::path worker = std::exchange(shop.worker, folder.path() / "worker");
  int again = 0;
  const auto mend = [&](const CellEvent& event) {
    if (event.check.find("once more, after a fault of ours") == std::string::npos) return;
    if (++again > 1) fs::copy_file(worker, shop.worker, fs::copy_options::skip_existing);
  };
  CHECK(name_of(seen_by(run_cell(shop, honest_request(), mend).observation).verdict) == "broken");
  CHECK(name_of(seen_by(run_cell(shop, honest_request(), mend).observation).verdict) == "passed");
  CHECK(again == 2);
}

/// Right in everything, and slow in every call.
CellRequest dawdling_request() {
  CellRequest dawdling = honest_request();
  dawdling.submission = "dawdles";
  dawdling.grade_tests = false;
  dawdling.only_checks = {"all_gradients", "offset_ladder", "tiny_variance", "eps_identity"};
  for (SolutionSource::File& file : dawdling.solution.files)
    if (file.name == "solution.cpp") file.name = "honest.h";
  dawdling.solution.files.push_back({"solution.cpp", R"(
#include <unistd.h>
#include "contract.h"
#define layernorm_backward honest_backward
#include "honest.h"
#undef layernorm_backward
extern "C" int64_t layernorm_backward(const LayernormArgs* a) {
  usleep(90000);
  return honest_backward(a);
}
)"});
  return dawdling;
}

TEST_CASE("who dawdles in every call, within its limit, gets what a cell may take and no more") {
  CellRequest request = dawdling_request();
  request.challenge.check_seconds = 0.4;
  request.challenge.cell_seconds = 0.6;
  const auto cell = run_cell(environment(), request, [](const CellEvent&) {}).observation;
  REQUIRE(cell.build.ok);
  REQUIRE(cell.checks.size() == 4);
  const char* const words[] = {"s of the 0.4 s that those of one check may take together",
                               "s of the 0.6 s that those of all checks may take together",
                               "not asked: its calls have used", "not asked: its calls have used"};
  for (std::size_t i = 0; i < 4; ++i) {
    CAPTURE(cell.checks[i].info.id);
    CHECK(name_of(cell.checks[i].verdict) == "timed_out");
    REQUIRE(cell.checks[i].finding);
    CHECK_MESSAGE(cell.checks[i].finding->summary.find(words[i]) != std::string::npos,
                  cell.checks[i].finding->summary);
  }
}
