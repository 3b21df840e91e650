// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/completion.h"

#include <doctest/doctest.h>
#include <sstream>

#include "harness/cli/exit_codes.h"
#include "harness/core/text.h"
#include "tests/cli/checkout.h"
#include "tests/support/text.h"

using namespace gauntlet;

namespace {

/// What a shell is told: the word that says which paths, and the words without what they are.
struct Offered {
  std::string paths;
  std::vector<std::string> words;

  bool has(const std::string& word) const { return contains(words, word); }
};

Offered offered(const Checkout& checkout, std::vector<std::string> line) {
  line.insert(line.begin(), kCompleteCall);
  const Ran ran = checkout.run_bare(line);
  CHECK(ran.code == kExitDone);
  CHECK(ran.err.empty());
  Offered answer;
  std::istringstream lines(ran.out);
  std::getline(lines, answer.paths);
  for (std::string text; std::getline(lines, text);)
    answer.words.push_back(text.substr(0, text.find('\t')));
  return answer;
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("verbs and options are completed, those of the verb and those of all") {
  const Checkout checkout;
  CHECK(offered(checkout, {"gra"}).words == Words{"grade"});
  CHECK(offered(checkout, {""}).words.size() > 15);
  CHECK(offered(checkout, {}).words.size() > 15);
  CHECK(offered(checkout, {"grade", "--fail"}).words == Words{"--fail-under"});
  CHECK(offered(checkout, {"grade", "--js"}).words == Words{"--json"});
  CHECK(offered(checkout, {"--js"}).words == Words{"--json"});
  CHECK(offered(checkout, {"--seed", "1", "-q", "gra"}).words == Words{"grade"});
  const Words options = offered(checkout, {"grade", "-"}).words;
  CHECK(std::count(options.begin(), options.end(), "--help") == 1);
}

TEST_CASE("challenges, their sizes, their checks and submissions are completed") {
  const Checkout checkout;
  checkout.add_submission("bravo");
  checkout.add_submission("A b");  // as nothing may be called
  const std::string& id = checkout.challenge;
  const std::string check = grader_for(id).make().checks.front().id;
  CHECK(offered(checkout, {"grade", "bravo", "-c", id.substr(0, 3)}).has(id));
  CHECK(offered(checkout, {"grade", "bravo", "--challenge=" + id.substr(0, 3)})
            .has("--challenge=" + id));
  CHECK(offered(checkout, {"grade", "--challenge", "=", id.substr(0, 3)}).has(id));  // bash
  for (const std::string& size : load_challenge(checkout.root(), id).sizes)
    CHECK(offered(checkout, {"grade", "-c", id}).has(id + "." + size));
  CHECK(offered(checkout, {"rerun", "bravo", ""}).has(id));
  CHECK(offered(checkout, {"rerun", "bravo", id, "--check", ""}).has(check));
  CHECK(offered(checkout, {"rerun", "bravo", "--check", ""}).words.empty());
  CHECK(offered(checkout, {"show", "bravo", id + "/"}).has(id + "/" + check));

  const Offered submissions = offered(checkout, {"grade", ""});
  CHECK(submissions.words == Words{"bravo"});
  CHECK(submissions.paths == "folders");
  CHECK(offered(checkout, {"grade", "bravo", "br"}).has("bravo"));  // may be repeated
  CHECK(offered(checkout, {"rerun", "bravo", id, ""}).words.empty());
}

TEST_CASE("files, folders and numbers are left to the shell, or to the user") {
  const Checkout checkout;
  CHECK(offered(checkout, {"--results", ""}).paths == "folders");
  CHECK(offered(checkout, {"export", "harbor", ""}).paths == "folders");
  CHECK(offered(checkout, {"import", ""}).paths == "files");
  CHECK(offered(checkout, {"-j", ""}).paths == "none");
  CHECK(offered(checkout, {"new", ""}).paths == "none");
}

TEST_CASE("words that are offered are understood") {
  const Checkout checkout;
  for (const char* verb : {"list", "completion", "help"})
    for (const std::string& word : offered(checkout, {verb, ""}).words) {
      INFO(verb, " ", word);
      CHECK_FALSE(contains(checkout.run({verb, word}).err, "'" + word + "'"));
    }
  CHECK(contains(checkout.run({"list", "nonsense"}).err, "'nonsense'"));
  for (const std::string& word : offered(checkout, {"--color", ""}).words)
    CHECK(checkout.run({"--color", word, "help"}).code == kExitDone);
  CHECK(checkout.run({"completion", "tcsh"}).code == kExitUsage);
}

TEST_CASE("a line that makes no sense completes to nothing, without a word") {
  const Checkout checkout;
  for (const Words& line :
       {Words{"nonsense", ""}, Words{"grade", "--nonsense", ""}, Words{"--", ""}, Words{"=", "="},
        Words{"--root", "/nowhere", "grade", "x", "-c", ""}, Words{"show", "x", "nonsense/"},
        Words{"--json", "--json="}, Words{"--version", "-"}})
    offered(checkout, line);
  CHECK(offered(checkout, {"--root", "/nowhere", "grade", "x", "-c", ""}).words.empty());
}
