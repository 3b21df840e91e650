// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/exit_codes.h"

#include <csignal>
#include <doctest/doctest.h>
#include <functional>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/cli/interrupt.h"
#include "harness/core/hold_interrupts.h"
#include "harness/store/json_fields.h"
#include "tests/cli/checkout.h"

using namespace gauntlet;
namespace fs = std::filesystem;

namespace {

struct Line {
  const char* what;
  std::vector<std::string> arguments;
  int code;
  const char* says;  // part of the message
};

/// A submission for each way to be invalid, and a good one with results.
void furnish(const Checkout& checkout) {
  const fs::path submissions = checkout.root() / "submissions";
  for (const char* name :
       {"good", "no_model_card", "no_solution", "odd_folder", "bad_model_card", "empty"})
    checkout.add_submission(name);
  fs::remove(submissions / "no_model_card/model.yaml");
  fs::rename(submissions / "no_solution" / checkout.challenge / "solution.cpp",
             submissions / "no_solution" / checkout.challenge / "other.cpp");
  fs::rename(submissions / "odd_folder" / checkout.challenge,
             submissions / "odd_folder" / (checkout.challenge + "x"));
  write_file(submissions / "bad_model_card/model.yaml", "name: x\nprovidr: y\n");
  fs::remove_all(submissions / "empty" / checkout.challenge);
  write_file(submissions / "odd_folder/a.out", "x");
  checkout.add_result("good", 1);
  checkout.add_result("reference", 1);
}

std::vector<Line> lines(const std::string& challenge) {
  return {
      {"help", {"help"}, kExitDone, ""},
      {"the table of exit codes", {"help", "exit-codes"}, kExitDone, ""},
      {"a bad grade without a gate", {"grade", "good"}, kExitDone, ""},
      {"a reward, which is 0", {"reward", "good", "-c", challenge, "--no-speed"}, kExitDone, ""},
      {"a reward of nothing", {"reward", "good"}, kExitUsage, "challenge"},
      {"a reward of what is not there",
       {"reward", "empty", "-c", challenge},
       kExitInvalidSubmission,
       "is no folder"},
      {"nothing to sanitize", {"sanitize", "good"}, kExitDone, ""},
      {"something to sanitize", {"sanitize", "odd_folder"}, kExitGateFailed, ""},
      {"no folder to sanitize", {"sanitize", "goood"}, kExitUsage, "is no folder"},
      {"an export in a format that nobody reads", {"export", "habor", "x"}, kExitUsage, "harbor"},
      {"an export to nowhere", {"export", "harbor"}, kExitUsage, "folder"},
      {"a gate that holds", {"grade", "good", "--fail-under", "F"}, kExitDone, ""},
      {"a valid submission", {"validate", "good"}, kExitDone, ""},
      {"a gate that fails", {"grade", "good", "--fail-under", "B"}, kExitGateFailed, ""},
      {"a gate by score", {"grade", "good", "--fail-under", "99.5"}, kExitGateFailed, ""},
      {"a report that was never written", {"report", "--check"}, kExitGateFailed, ""},
      {"an unknown verb", {"grdae"}, kExitUsage, "did you mean 'grade'?"},
      {"an unknown option", {"grade", "good", "--frsh"}, kExitUsage, "did you mean '--fresh'?"},
      {"a missing argument", {"grade"}, kExitUsage, "submission"},
      {"a number out of range", {"grade", "good", "-j", "0"}, kExitUsage, "jobs"},
      {"a bad seed", {"grade", "good", "--seed", "0xzz"}, kExitUsage, "--seed 0xzz"},
      {"a bad colour", {"--color", "red", "list"}, kExitUsage, "auto, always or never"},
      {"a bad gate", {"grade", "good", "--fail-under", "Z"}, kExitUsage, "--fail-under Z"},
      {"an empty gate", {"grade", "good", "--fail-under", ""}, kExitUsage, "is empty"},
      {"an empty gate after a sign", {"grade", "good", "--fail-under="}, kExitUsage, ""},
      {"an empty commitment",
       {"verify", "good", challenge, "--commitment", ""},
       kExitUsage,
       "is empty"},
      {"an empty closing digest",
       {"verify", "good", challenge, "--closing", ""},
       kExitUsage,
       "is empty"},
      {"an empty seed", {"grade", "good", "--seed", ""}, kExitUsage, "is empty"},
      {"an empty place", {"--results", "", "grade", "good"}, kExitUsage, "is empty"},
      {"a cluster's option without one",
       {"grade", "good", "--slurm-jobs", "3"},
       kExitUsage,
       "--runner slurm"},
      {"a runner that is none", {"grade", "good", "--runner", "pbs"}, kExitUsage, "--runner"},
      {"a shard that is none", {"grade", "good", "--shard", "0/2"}, kExitUsage, "is no shard"},
      {"a merge of what is not there",
       {"merge", "nowhere", "--into", "x"},
       kExitUsage,
       "is no folder of results"},
      {"an unknown challenge",
       {"grade", "good", "-c", challenge + "x"},
       kExitUsage,
       "did you mean"},
      {"an unknown submission", {"grade", "goood"}, kExitUsage, "did you mean 'good'?"},
      {"an unknown topic", {"help", "exit-code"}, kExitUsage, "did you mean 'exit-codes'?"},
      {"something else to list", {"list", "chekcs"}, kExitUsage, "did you mean 'checks'?"},
      {"an unwritable place", {"--results", "/proc/x", "grade", "good"}, kExitUsage, "/proc/x"},
      {"a bad name", {"new", "A/../B"}, kExitUsage, "is no name for a submission"},
      {"no model card",
       {"grade", "no_model_card"},
       kExitInvalidSubmission,
       "model.yaml is missing"},
      {"bad model card",
       {"grade", "bad_model_card"},
       kExitInvalidSubmission,
       "did you mean 'provider'?"},
      {"no solution", {"grade", "no_solution"}, kExitInvalidSubmission, "solution.cpp"},
      {"no folder at all", {"grade", "empty"}, kExitInvalidSubmission, "has no solution"},
      {"an odd folder", {"grade", "odd_folder"}, kExitInvalidSubmission, "did you mean"},
      {"an invalid one to validate", {"validate", "no_model_card"}, kExitInvalidSubmission, ""},
      {"no such check",
       {"rerun", "good", challenge, "--check", "nope"},
       kExitNothingMatched,
       "nope"},
      {"no such result", {"show", "empty", challenge}, kExitNothingMatched, "grade it first"},
      {"no such finding", {"show", "good", challenge + "/bsae"}, kExitNothingMatched, "'base'"},
      {"no results", {"--results", "none", "score"}, kExitNothingMatched, "grade something first"},
  };
}

}  // namespace

TEST_CASE("every command line ends with the code of the table, in text and in JSON") {
  const Checkout checkout;
  furnish(checkout);
  for (Line line : lines(checkout.challenge)) {
    INFO(line.what);
    const Ran ran = checkout.run(line.arguments);
    INFO(ran.out, ran.err);
    CHECK(ran.code == line.code);
    CHECK(ran.err.find(line.says) != std::string::npos);
    CHECK(ran.err.find('\x1b') == std::string::npos);
    // Failures that give no answer leave stdout alone.
    if (*line.says != '\0') CHECK(ran.out.empty());

    line.arguments.push_back("--json");
    const Ran json = checkout.run(line.arguments);
    CHECK(json.code == line.code);
    Json document;
    REQUIRE_NOTHROW(document = Json::parse(json.out));
    CHECK(document.contains("schema"));
    if (*line.says != '\0') {
      CHECK(document["schema"] == "gauntlet.error/1");
      CHECK(document["exit_code"] == line.code);
      CHECK(document["message"].get<std::string>().find(line.says) != std::string::npos);
    }
  }
}

TEST_CASE("a grader that cannot work ends with 5, and blames nobody") {
  Checkout checkout;
  checkout.add_submission("good");
  checkout.worker_folder = checkout.root() / "nowhere";
  const std::string check = grader_for(checkout.challenge).make().checks.front().id;
  const Ran ran = checkout.run({"rerun", "good", checkout.challenge, "--check", check, "--json"});
  CHECK(ran.code == kExitIncomplete);
  CHECK(Json::parse(ran.out)["observation"]["checks"][0]["verdict"] == "broken");
}

TEST_CASE("a bug of ours ends with 70") {
  Checkout checkout;
  checkout.environment = [](const std::string&) -> std::string { throw std::logic_error("oops"); };
  const Ran ran = checkout.run({"list"});
  CHECK(ran.code == kExitInternal);
  CHECK(ran.err.find("internal error, please report it: oops") != std::string::npos);
}

namespace {

struct Interrupted {
  int code = 0;
  std::string out;
  std::string err;
};

std::string all_from(int fd) {
  std::string text;
  char bytes[4096];
  for (ssize_t n; (n = read(fd, bytes, sizeof bytes)) > 0;)
    text.append(bytes, static_cast<std::size_t>(n));
  close(fd);
  return text;
}

/// Whoever prepares for it and is then sent the signal.
Interrupted interrupted(int signal, const std::function<void()>& prepare) {
  int out[2];
  int err[2];
  REQUIRE(pipe(out) == 0);
  REQUIRE(pipe(err) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    prepare();
    raise(signal);
    _exit(0);
  }
  close(out[1]);
  close(err[1]);
  Interrupted seen;
  seen.out = all_from(out[0]);
  seen.err = all_from(err[0]);
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status));
  seen.code = WEXITSTATUS(status);
  return seen;
}

}  // namespace

TEST_CASE("Ctrl-C ends with 130 and SIGTERM with 143, with one document for --json") {
  for (const int signal : {SIGINT, SIGTERM}) {
    const Interrupted seen = interrupted(signal, [] { end_on_interrupt(true); });
    CHECK(seen.code == (signal == SIGINT ? kExitInterrupted : kExitTerminated));
    CHECK(Json::parse(seen.out)["exit_code"] == seen.code);
    CHECK(seen.err == "\ninterrupted\n");  // and no word of what would be kept
  }
}

TEST_CASE(
    "an interrupt says what becomes of what was done, and prints what there is of the answer") {
  const std::string table(200'000, 'x');  // more than a pipe takes at once
  for (const bool json : {false, true}) {
    const Interrupted seen = interrupted(SIGINT, [&] {
      end_on_interrupt(json);
      leave_last_words({"nothing yet", "old"});
      leave_last_words({"begin again", table});
    });
    CHECK(seen.code == kExitInterrupted);
    CHECK(seen.err == "\ninterrupted; begin again\n");
    CHECK(seen.out == table);
  }
  const Interrupted next = interrupted(SIGINT, [&] {
    leave_last_words({"of another run", table});
    end_on_interrupt(false);
  });
  CHECK(next.err == "\ninterrupted\n");
  CHECK(next.out.empty());
}

TEST_CASE("of a grading that is interrupted cells are kept, of other verbs nothing") {
  const Checkout checkout;
  checkout.add_submission("bravo");
  checkout.add_result("bravo", 1);
  CHECK(interrupted(SIGINT, [&] {
          checkout.run({"grade", "bravo"});
        }).err == "\ninterrupted; finished cells are kept, the same command goes on\n");
  CHECK(interrupted(SIGINT, [&] { checkout.run({"list"}); }).err == "\ninterrupted\n");
}

TEST_CASE("an interrupt waits until files are written") {
  const pid_t child = fork();
  if (child == 0) {
    end_on_interrupt(false);
    close(STDERR_FILENO);
    {
      const HoldInterrupts hold;
      raise(SIGINT);
      if (getppid() == 0) _exit(1);
      alarm(0);
    }
    _exit(7);  // never reached: the signal arrives when it is let through
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WEXITSTATUS(status) == kExitInterrupted);
}

TEST_CASE("of several codes the worst wins") {
  CHECK(worse_exit_code(kExitDone, kExitGateFailed) == kExitGateFailed);
  CHECK(worse_exit_code(kExitGateFailed, kExitIncomplete) == kExitIncomplete);
  CHECK(worse_exit_code(kExitIncomplete, kExitInvalidSubmission) == kExitInvalidSubmission);
  CHECK(worse_exit_code(kExitInvalidSubmission, kExitUsage) == kExitUsage);
  CHECK(worse_exit_code(kExitInternal, kExitUsage) == kExitInternal);
}
