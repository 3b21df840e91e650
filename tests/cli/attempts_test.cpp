// SPDX-License-Identifier: Apache-2.0
// Cells of further attempts and of other devices on the command line.
#include <doctest/doctest.h>

#include "harness/cli/exit_codes.h"
#include "tests/cli/checkout.h"
#include "tests/support/text.h"

using namespace gauntlet;

TEST_CASE("a further attempt has its own name, card and grade beside the first") {
  const Checkout checkout;
  checkout.add_submission("bravo");
  checkout.add_submission("bravo/attempts/2");
  checkout.add_result("bravo", 0.5);
  checkout.add_result("bravo#2", 0.7);
  checkout.add_result("reference", 1);
  const std::string folder = (checkout.root() / "submissions/bravo/attempts/2/").string();
  for (const std::string& word : {std::string("bravo#2"), folder}) {
    const Ran ran = checkout.run({"grade", word});
    INFO(ran.out, ran.err);
    CHECK(ran.code == kExitDone);
    CHECK(contains(ran.out, "bravo#2 " + checkout.challenge + "  F 35"));
    CHECK(contains(ran.out, "Next: ./gauntlet show bravo#2 " + checkout.challenge + "/odd_sizes"));
  }
  const Ran first = checkout.run({"grade", "bravo"});
  CHECK(contains(first.out, "bravo " + checkout.challenge + "  F 25"));
  CHECK(contains(first.out, "\nbravo#2 "));  // in the matrix
  CHECK(contains(checkout.run({"show", "bravo#2", checkout.challenge}).out, "F 35"));
  CHECK(contains(checkout.run({"show", "bravo", checkout.challenge + "#2"}).out, "F 35"));
  CHECK(contains(checkout.run({"show", "bravo", checkout.challenge}).out, "F 25"));
  const Ran compared = checkout.run({"compare", "bravo", "bravo#2"});
  INFO(compared.out, compared.err);
  CHECK(compared.code == kExitDone);
  CHECK(contains(compared.out, "bravo#2"));
  CHECK(contains(checkout.run({"list", "submissions"}).out, "bravo\nbravo#2\n"));
  CHECK(contains(checkout.run({"validate", "bravo#2"}).out, "bravo#2 ok"));
  const Ran third = checkout.run({"grade", "bravo#3"});
  CHECK(third.code == kExitUsage);
  CHECK(contains(third.err, "bravo has no attempt 3: "));
}

TEST_CASE("grade, score, show and compare know what several attempts came to") {
  const Checkout checkout;
  checkout.add_submission("bravo");
  checkout.add_submission("bravo/attempts/2");
  checkout.add_submission("alpha");
  checkout.add_result("bravo", 0.5);    // F 25
  checkout.add_result("bravo#2", 0.7);  // F 35
  checkout.add_result("alpha", 0.6);
  checkout.add_result("reference", 1);
  const std::string& id = checkout.challenge;
  const Ran graded = checkout.run({"grade", "bravo#2"});
  INFO(graded.out, graded.err);
  CHECK(contains(graded.out, "\nbravo, 2 attempts "));
  CHECK(contains(graded.out, " 25-35#2"));
  CHECK(contains(graded.out, "\nbravo#1 "));
  CHECK(contains(graded.out, "bravo " + id + ": 0 of 2 passed; pass@1 0.00, pass@2 0.00"));
  CHECK_FALSE(contains(checkout.run({"grade", "alpha"}).out, "\nbravo#1 "));
  CHECK(contains(checkout.run({"show", "bravo", id}).out, "All attempts: F 30"));
  const Ran together = checkout.run({"compare", "bravo", "alpha"});
  INFO(together.out, together.err);
  CHECK(contains(together.out, "bravo, 2 attempts: 0 of 2 passed"));
  const Ran single = checkout.run({"compare", "bravo#1", "bravo#2"});
  INFO(single.out, single.err);
  CHECK(single.code == kExitDone);
  CHECK_FALSE(contains(single.out, "2 attempts"));
  for (const auto& words : {std::vector<std::string>{"grade", "bravo"}, {"score"}}) {
    auto with_json = words;
    with_json.push_back("--json");
    const Json attempts = Json::parse(checkout.run(with_json).out).at("attempts");
    REQUIRE(attempts.size() == 1);
    CHECK(attempts[0]["submission"] == "bravo");
    CHECK(attempts[0]["overall"]["best_attempt"] == 2);
    CHECK(attempts[0]["challenges"][0]["pass_at"].size() == 2);
  }
  const Json shown = Json::parse(checkout.run({"show", "bravo#2", id, "--json"}).out);
  CHECK(shown["attempts"]["rows"] == Json{"bravo#1", "bravo#2"});
  CHECK(shown["cell"]["passes"] == false);
  CHECK_FALSE(Json::parse(checkout.run({"show", "alpha", id, "--json"}).out).contains("attempts"));
}

TEST_CASE("a cell of another device is shown beside the CPU's, and what has no solution is named") {
  const Checkout checkout;
  checkout.add_submission("bravo");
  checkout.add_result("bravo", 0.5);
  checkout.add_result("reference", 1);
  checkout.keep(sample::cell("bravo@cuda", checkout.challenge));
  CHECK(contains(checkout.run({"grade", "bravo"}).out, "\nbravo@cuda "));
  CHECK(contains(checkout.run({"show", "bravo", checkout.challenge}).out, "F 25"));
  CHECK(checkout.run({"show", "bravo@cuda", checkout.challenge}).code == kExitDone);
  const std::string cell = checkout.challenge + "@cuda";
  const std::pair<std::vector<std::string>, std::string> kMissed[] = {
      {{"grade", "bravo@cuda"}, "none of bravo@cuda has a solution"},
      {{"grade", "bravo", "-c", cell}, "none of bravo has a solution to " + cell},
      {{"grade", "bravo", "--device", "cuda"}, "none of bravo has a solution for cuda"},
      {{"rerun", "bravo", cell}, "bravo has no solution to " + cell + "; it has "},
      {{"reward", "bravo", "-c", cell}, "is for device cpu; name the cell bravo/"}};
  for (const auto& [words, said] : kMissed) {
    const Ran ran = checkout.run(words);
    INFO(ran.out, ran.err);
    CHECK(ran.code == kExitNothingMatched);
    CHECK(contains(ran.err, said));
  }
  const Ran both = checkout.run({"compare", "bravo", "bravo@cuda"});
  CHECK(both.code == kExitUsage);
  CHECK(contains(both.err, "bravo and bravo@cuda ran on different devices"));
}

TEST_CASE("a grading reads no results but those of the challenges that were asked for") {
  const Checkout checkout;
  checkout.add_submission("bravo");
  checkout.add_result("bravo", 0.5);
  checkout.add_result("reference", 1);
  checkout.results().save(sample::cell("bravo", "another"));
  const auto other = checkout.results().observation_file({"bravo", "another"});
  write_file(other, "damaged");
  const Ran ran = checkout.run({"grade", "bravo"});
  INFO(ran.out, ran.err);
  CHECK(ran.code == kExitDone);
  CHECK(contains(ran.out, "(1 of 1)"));
  CHECK(checkout.run({"show", "bravo", checkout.challenge}).code == kExitDone);
  CHECK(checkout.run({"score"}).code == kExitUsage);  // which reads everything
}
