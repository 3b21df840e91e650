// SPDX-License-Identifier: Apache-2.0
// What others left where our files are expected: no verb waits for it, breaks on it or mistakes it.
#include <algorithm>
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/cli/exit_codes.h"
#include "harness/store/reuse.h"
#include "tests/cli/checkout.h"
#include "tests/support/text.h"

using namespace gauntlet;
namespace fs = std::filesystem;

namespace {

constexpr unsigned kPatience = 120;  // seconds; a verb that waits for ever is then killed

Ran run(const Checkout& checkout, const std::vector<std::string>& words) {
  alarm(kPatience);
  Ran ran = checkout.run(words);
  alarm(0);
  return ran;
}

/// A checkout with a graded submission, and builds that all such checkouts share.
class Graded : public Checkout {
 public:
  Graded() {
    const fs::path builds = fs::path(GAUNTLET_ROOT) / "build/cache/builds";
    fs::create_directories(builds);
    fs::create_directories(root() / "build/cache");
    fs::create_directory_symlink(builds, root() / "build/cache/builds");
    for (const char* name : {"bravo", "charlie"}) {
      add_submission(name);
      add_result(name, 0.5);
      results().save_model_card({name, ""},
                                read_model_card(root() / "submissions" / name / "model.yaml"));
    }
    add_result("reference", 1);
  }
};

std::vector<std::vector<std::string>> readers(const Checkout& checkout) {
  return {{"score"},
          {"report"},
          {"grade", "bravo"},
          {"compare", "bravo", "charlie"},
          {"show", "bravo", checkout.challenge}};
}

void replace_by_pipe(const fs::path& file) {
  fs::remove(file);
  fs::create_directories(file.parent_path());
  REQUIRE(mkfifo(file.c_str(), 0644) == 0);
}

}  // namespace

TEST_CASE(
    "a model card that is a pipe, a link, large or endless keys is refused as the submission's") {
  const Checkout checkout;
  checkout.add_submission("bravo");
  const fs::path card = checkout.root() / "submissions/bravo/model.yaml";
  const std::string good = read_file(card);
  const auto refused = [&](const std::string& why) {
    for (const char* verb : {"validate", "grade"}) {
      const Ran ran = run(checkout, {verb, "bravo"});
      INFO(ran.out, ran.err);
      CHECK(ran.code == kExitInvalidSubmission);
      CHECK(contains(ran.out + ran.err, why));
    }
  };
  replace_by_pipe(card);
  refused("model.yaml: it is a pipe");
  fs::remove(card);
  write_file(checkout.root() / "elsewhere.yaml", good);
  fs::create_symlink(checkout.root() / "elsewhere.yaml", card);
  refused("model.yaml: it is a symbolic link");
  fs::remove(card);
  std::string keys = good;
  while (keys.size() <= (16 << 10)) keys += "k" + std::to_string(keys.size()) + ": 1\n";
  write_file(card, keys);
  refused("at most 16384 are read");
  write_file(card, "name: " + std::string(5000, '['));
  refused("nests deeper than 20");
}

TEST_CASE("a pipe in place of a copied prompt is refused") {
  const Checkout checkout;
  checkout.add_submission("bravo");
  replace_by_pipe(checkout.root() / "submissions/bravo" / checkout.challenge / "PROMPT.md");
  const Ran ran = run(checkout, {"validate", "bravo"});
  CHECK(ran.code == kExitInvalidSubmission);
  CHECK(contains(ran.out, "PROMPT.md: is no regular file"));
}

TEST_CASE("pipes among the results and in an import end a verb with a sentence") {
  const Graded checkout;
  const fs::path folder = checkout.results().root() / "bravo" / checkout.challenge;
  for (const char* name : {"receipt.json", "observation.json"}) {
    replace_by_pipe(folder / name);
    const Ran ran = run(checkout, {"report"});
    INFO(name, ran.err);
    CHECK(ran.code == kExitUsage);
    CHECK(contains(ran.err, std::string(name) + ": it is a pipe"));
  }
  const fs::path judged = checkout.root() / "judged.yaml";
  replace_by_pipe(judged);
  const Ran ran = run(checkout, {"import", judged.string()});
  CHECK(ran.code == kExitUsage);
  CHECK(contains(ran.err, "judged.yaml: it is a pipe"));
}

TEST_CASE("foreign folders and files among the results are named, and stop no verb") {
  const Graded checkout;
  const fs::path results = checkout.results().root();
  fs::create_directories(results / "My Notes" / "2026");
  fs::create_directories(results / "bravo" / ".git");
  write_file(results / "README", "x");
  fs::create_symlink("loop", results / "loop");
  for (const auto& words : readers(checkout)) {
    const Ran ran = run(checkout, words);
    INFO(words[0], ran.err);
    CHECK(ran.code == kExitDone);
    CHECK(contains(ran.err, "My Notes is no folder of results and is left out; move it away"));
    CHECK(contains(ran.err, "bravo/.git is no folder of results"));
  }
}

TEST_CASE("a folder of results that cannot be read is no internal error") {
  const Graded checkout;
  REQUIRE(chmod(checkout.root().c_str(), 0755) == 0);
  const fs::path shut = checkout.results().root() / "delta";
  fs::create_directory(shut);
  REQUIRE(chmod(shut.c_str(), 0) == 0);
  const bool was_root = geteuid() == 0;
  if (was_root) REQUIRE(seteuid(1) == 0);
  const Ran ran = run(checkout, {"score"});
  if (was_root) REQUIRE(seteuid(0) == 0);
  REQUIRE(chmod(shut.c_str(), 0700) == 0);
  INFO(ran.err);
  CHECK(ran.code == kExitUsage);
  CHECK(contains(ran.err, "delta: Permission denied; make it readable, or move it away"));
}

TEST_CASE("a folder elsewhere does not replace the grades of a submission that has its name") {
  const Graded checkout;
  const fs::path other = checkout.root() / "elsewhere/bravo";
  fs::create_directories(other.parent_path());
  fs::copy(checkout.root() / "submissions/bravo", other, fs::copy_options::recursive);
  const auto refused = [&](const std::vector<std::string>& words) {
    const Ran ran = run(checkout, words);
    INFO(ran.out, ran.err);
    CHECK(ran.code == kExitUsage);
    CHECK(contains(ran.err, "bravo has grades of submissions/bravo, not of " + other.string()));
    CHECK(contains(ran.err, "rename the folder, or keep its grades apart with --results FOLDER"));
  };
  refused({"grade", other.string()});  // graded before anybody wrote down from where
  CHECK(run(checkout, {"grade", "bravo"}).code == kExitDone);
  refused({"grade", other.string()});
  refused({"rerun", other.string(), checkout.challenge});
  // The same folder by another way is the same.
  fs::create_directory_symlink(checkout.root() / "submissions", checkout.root() / "linked");
  CHECK(run(checkout, {"grade", (checkout.root() / "linked/bravo").string()}).code == kExitDone);
}

namespace {

/// Grades a submission whose stored grade was tampered with, and says whether it was used again.
bool grades_again(const Checkout& checkout, const std::string& why) {
  const Ran ran = run(checkout, {"grade", "bravo"});
  INFO(ran.out, ran.err);
  CHECK(contains(ran.err, why));
  return !contains(ran.out, "bravo " + checkout.challenge + "  A");
}

}  // namespace

TEST_CASE(
    "a grade that was written by hand, in a weaker sandbox or with a chosen seed is not shown") {
  const Graded checkout;
  CellObservation cell = *checkout.results().load({"bravo", checkout.challenge});
  cell.checks.pop_back();
  cell.checks[0].earned = 1;
  SUBCASE("by hand, beside the receipt of another grade") {
    checkout.results().save(cell);
    CHECK(grades_again(checkout, "its receipt does not fit"));
  }
  SUBCASE("by hand, without a receipt") {
    checkout.results().save(cell);
    fs::remove(checkout.results().receipt_file({"bravo", checkout.challenge}));
    CHECK(grades_again(checkout, "its stored grade has no receipt"));
  }
  SUBCASE("in a weaker sandbox") {
    cell.provenance.sandbox = "seccomp+rlimits";
    checkout.keep(cell);
    CHECK(grades_again(checkout, "it was made in a weaker sandbox, without landlock"));
  }
  SUBCASE("with a chosen seed") {
    checkout.keep(cell, false);
    CHECK(grades_again(checkout, "its seed was chosen (--seed 0xfedcba9876543210)"));
  }
}

TEST_CASE("a run that was killed between any two of its files is healed by the next one") {
  const Graded checkout;
  const ResultStore store = checkout.results();
  CellObservation cell = *store.load({"bravo", checkout.challenge});
  Receipt opened = sample::receipt_of(cell);
  opened.closing.reset();
  store.open_receipt(opened);
  cell.checks[0].earned = 0.75;
  SUBCASE("before the observation") {}
  SUBCASE("after it, beside the receipt of the run before") {
    store.save(cell);
  }
  SUBCASE("after it, without a receipt") {
    store.save(cell);
    fs::remove(store.receipt_file({"bravo", checkout.challenge}));
  }
  SUBCASE("after the new receipt") {
    store.save(cell);
    write_file(store.receipt_file({"bravo", checkout.challenge}),
               to_json(sample::receipt_of(cell)));
  }
  const Ran ran = run(checkout, {"grade", "bravo"});
  INFO(ran.out, ran.err);
  CHECK(ran.code == kExitDone);
  CHECK(contains(ran.err, "a run of it was begun and did not end"));
  CHECK_FALSE(fs::exists(store.opened_file({"bravo", checkout.challenge})));
  std::string why;
  CHECK(load_proven(store, {"bravo", checkout.challenge}, why).has_value());
  CHECK(why == "");
}

TEST_CASE("a folder whose name a report would take for its own is refused, and stops no verb") {
  const Graded checkout;
  for (const std::string name : {"ledger.jsonl", "matrix.svg", "a_vs_b"}) {
    checkout.add_submission(name);
    const Ran refused = run(checkout, {"grade", name});
    INFO(name, refused.err);
    CHECK(refused.code == kExitInvalidSubmission);
    CHECK(contains(refused.err, "'" + name + "' is no name for a submission"));
    CHECK(contains(refused.err, "rename its folder"));
    CHECK(run(checkout, {"new", name}).code == kExitUsage);
    // Graded by an earlier gauntlet, which took such names.
    const fs::path folder = checkout.results().root() / name / checkout.challenge;
    write_file(folder / "observation.json", to_json(sample::cell(name, checkout.challenge)));
  }
  for (const auto& words : readers(checkout)) {
    const Ran ran = run(checkout, words);
    INFO(words[0], ran.err);
    CHECK(ran.code == kExitDone);
    CHECK(contains(ran.err, "a_vs_b is no folder of results and is left out; move it away"));
  }
  CHECK_FALSE(fs::exists(checkout.root() / "reports/data/a_vs_b"));
}

TEST_CASE("hostile names are shown as text by list and validate") {
  const Checkout checkout;
  checkout.add_submission("bravo");
  const fs::path submissions = checkout.root() / "submissions";
  const std::string hostile = "x\x1b]0;y\x07\nbravo ok\n";
  fs::create_directory(submissions / hostile);
  fs::create_directory(submissions / "bravo" / hostile);
  const Ran list = run(checkout, {"list", "submissions"});
  const Ran validate = run(checkout, {"validate", "bravo"});
  const Ran named = run(checkout, {"validate", (submissions / hostile).string()});
  const Ran unknown = run(checkout, {"grade", "brav"});
  for (const Ran& ran : {list, validate, named, unknown}) {
    INFO(ran.out, ran.err);
    for (const char* raw : {"\x1b", "\x07"}) CHECK_FALSE(contains(ran.out + ran.err, raw));
    CHECK_FALSE(contains(ran.out + ran.err, "\nbravo ok"));
  }
  CHECK(contains(list.out, "bravo\n"));
  CHECK(contains(list.out, "cannot be graded: 'x"));
  CHECK(validate.code == kExitInvalidSubmission);
  CHECK(named.code == kExitInvalidSubmission);
  CHECK(contains(unknown.err, "did you mean 'bravo'?"));
}

TEST_CASE("a receipt with hostile names is refused by name, and shows them as text") {
  const Checkout checkout;
  checkout.add_submission("bravo");
  const fs::path file = checkout.root() / "receipt.json";
  const auto refused = [&](const CellObservation& cell, const std::string& why) {
    write_file(file, to_json(sample::receipt_of(cell)));
    const Ran ran = run(checkout, {"verify", file.string()});
    INFO(ran.out, ran.err);
    CHECK(ran.code != kExitDone);
    CHECK(contains(ran.out + ran.err, why));
    CHECK_FALSE(contains(ran.out + ran.err, "\x1b"));
    CHECK_FALSE(contains(ran.out + ran.err, "\nConfirmed."));
  };
  checkout.add_result("bravo", 0.5);
  const CellObservation good = *checkout.results().load({"bravo", checkout.challenge});
  for (const char* name : {"../bravo", "bravo/../..", "/etc", "x\x1b[31m\nConfirmed.\n", ""}) {
    CellObservation cell = good;
    cell.key.submission = name;
    refused(cell, "receipt.json: submission: '");
    cell = good;
    cell.key.challenge = name;
    refused(cell, "no challenge '");
  }
  CellObservation cell = good;
  cell.checks[0].info.id = "x\x1b[31m\nConfirmed.\n";
  write_file(checkout.root() / "observation.json", to_json(good));
  refused(cell, "is not the one that the receipt was closed over");
  cell = good;
  cell.provenance.cpu = "x\x1b[31m\nConfirmed.\n";
  write_file(checkout.root() / "observation.json", to_json(cell));
  Receipt receipt = sample::receipt_of(cell);
  receipt.cpu = "A CPU\x1b[31m\nConfirmed.\n";
  receipt.commitment = commitment_to(receipt, receipt.closing->seed, receipt.closing->nonce);
  write_file(file, to_json(receipt));
  const Ran ran = run(checkout, {"verify", file.string()});
  INFO(ran.out, ran.err);
  CHECK(ran.code == kExitGateFailed);
  CHECK_FALSE(contains(ran.out, "\x1b"));
  CHECK_FALSE(contains(ran.out, "\nConfirmed."));
}

TEST_CASE("a note in a file's own words is one line of validate") {
  const Checkout checkout;
  checkout.add_submission("bravo");
  write_file(checkout.root() / "submissions/bravo" / checkout.challenge / "claims.yaml",
             "\"a\\nbravo ok\\e[31m\": 1\n");
  const Ran ran = run(checkout, {"validate", "bravo"});
  INFO(ran.out);
  CHECK(contains(ran.out, "note: its claims will not be measured"));
  CHECK_FALSE(contains(ran.out, "\nbravo ok\x1b"));
  CHECK(std::count(ran.out.begin(), ran.out.end(), '\n') == 3);
}
