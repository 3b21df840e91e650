// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "harness/cli/exit_codes.h"
#include "harness/report/data/report_data.h"
#include "harness/store/json_fields.h"
#include "harness/store/ledger.h"
#include "harness/store/observation_json.h"
#include "tests/cli/checkout.h"
#include "tests/support/text.h"

using namespace gauntlet;
namespace fs = std::filesystem;

TEST_CASE(
    "a new submission has a model card to fill in and a stub for every challenge, and is valid") {
  const Checkout checkout;
  const Ran made = checkout.run({"new", "my-model"});
  INFO(made.err);
  REQUIRE(made.code == kExitDone);
  const fs::path folder = checkout.root() / "submissions/my-model";
  const ModelCard card = read_model_card(folder / "model.yaml");
  CHECK(card.name == "my-model");
  CHECK(card.tokens == "unknown");
  CHECK(card.prompt_digest.size() == 64);
  for (const auto& id : challenge_ids(checkout.root()))
    for (const char* file : {"PROMPT.md", "contract.h", "solution.cpp"})
      CHECK(fs::exists(folder / id / file));
  const Ran valid = checkout.run({"validate", "my-model"});
  CHECK(valid.out == "my-model ok\n");
  CHECK(checkout.run({"new", "my-model"}).code == kExitUsage);
}

TEST_CASE("the stub of a new submission compiles") {
  const Checkout checkout;
  REQUIRE(checkout.run({"new", "my-model", "-c", checkout.challenge}).code == kExitDone);
  const auto source = read_solution(checkout.root() / "submissions/my-model" / checkout.challenge);
  const ScratchFolder cache("cache");
  const auto built =
      build_solution(source, load_challenge(checkout.root(), checkout.challenge), cache.path());
  INFO(built.record.messages);
  CHECK(built.record.ok);
}

TEST_CASE("a prompt that has changed since is noted") {
  const Checkout checkout;
  REQUIRE(checkout.run({"new", "my-model"}).code == kExitDone);
  const fs::path folder = checkout.root() / "submissions/my-model";
  write_file(folder / checkout.challenge / "contract.h", "int other;\n");
  ModelCard card = read_model_card(folder / "model.yaml");
  card.prompt_digest = "ab12";
  write_file(folder / "model.yaml", model_card_to_yaml(card));
  const Ran ran = checkout.run({"validate", "my-model"});
  CHECK(ran.code == kExitDone);
  CHECK(contains(ran.out, "contract.h differs from the challenge's"));
  CHECK(contains(ran.out, "the prompts have changed since"));
}

TEST_CASE(
    "what is graded already is reused, by name and by folder, and shown beside the reference") {
  const Checkout checkout;
  checkout.add_submission("bravo");
  checkout.add_result("bravo", 0.5);
  checkout.add_result("reference", 1);
  const std::string folder = (checkout.root() / "submissions/bravo/").string();
  for (const std::string& word : {std::string("bravo"), folder}) {
    const Ran ran = checkout.run({"grade", word});
    INFO(ran.out, ran.err);
    CHECK(ran.code == kExitDone);
    CHECK(contains(ran.out, "bravo " + checkout.challenge + "  F 25"));
    CHECK(contains(ran.out, "(reused)"));
    CHECK(contains(ran.out, "reference"));
    CHECK(contains(ran.out, "Next: ./gauntlet show bravo " + checkout.challenge + "/odd_sizes"));
    CHECK(ran.err.empty());
  }
}

TEST_CASE("the reference is graded where it is asked for, and only there") {
  const Checkout checkout;
  checkout.add_submission("bravo");
  checkout.add_result("bravo", 0.5);
  checkout.add_result("reference", 1);
  const Json alone = Json::parse(checkout.run({"--json", "grade", "bravo"}).out);
  CHECK(alone["cells"].size() == 1);
  CHECK_FALSE(alone.contains("timings"));
  const Json both = Json::parse(checkout
                                    .run({"--json", "grade", "bravo", "reference", "--device",
                                          "cpu", "--timings", "-c", checkout.challenge})
                                    .out);
  CHECK(both["cells"].size() == 2);
  CHECK(both["timings"]["cells"].empty());  // nothing ran
}

TEST_CASE("the document of a grading carries scores, findings and how to see them again") {
  const Checkout checkout;
  checkout.add_submission("bravo");
  checkout.add_result("bravo", 0.5);
  checkout.add_result("reference", 1);
  const Ran ran = checkout.run({"--json", "grade", "bravo", "--fail-under", "C"});
  const Json document = Json::parse(ran.out);
  const Json& cell = document["cells"][0];
  CHECK(cell["reused"] == true);
  CHECK(cell["printed"] == 25);
  CHECK(cell["seed"] == "0xfedcba9876543210");
  CHECK(cell["findings"][0]["check"] == "odd_sizes");
  CHECK(contains(cell["findings"][0]["reproduce"].get<std::string>(), "--seed 0xfedcba9876543210"));
  CHECK(document["gate"]["passed"] == false);
}

TEST_CASE("what was not measured opens no gate") {
  const Checkout checkout;
  checkout.add_submission("bravo");
  checkout.add_result("bravo", 1);
  checkout.add_result("reference", 1);
  CellObservation cell = *checkout.results().load({"bravo", checkout.challenge});
  cell.checks = {sample::passed("base"), sample::passed("speed", Section::performance)};
  cell.checks[1].speeds = {{"quiet", 9, 1000, 1000, 1, 1, 1, 1, 1, {}, {}},
                           {"noisy", 9, 1000, 1000, 1, 1, 1, 1, 1, {}, {}}};
  checkout.keep(cell);
  CHECK(checkout.run({"grade", "bravo", "--fail-under", "A"}).code == kExitDone);
  cell.checks[1].speeds[1].noise_low = 0.1;
  cell.checks[1].speeds[1].noise_high = 9;
  checkout.keep(cell);
  const Ran ran = checkout.run({"grade", "bravo", "--fail-under", "A"});
  INFO(ran.out);
  CHECK(ran.code == kExitGateFailed);
  CHECK(contains(ran.out, "may be as low as"));
}

TEST_CASE("show explains one finding, also from the reports' data") {
  const Checkout checkout;
  checkout.add_submission("bravo");
  checkout.add_result("bravo", 0.5);
  const std::string finding = checkout.challenge + "/odd_sizes";
  const Ran local = checkout.run({"show", "bravo", finding});
  CHECK(contains(local.out, "wrong  bravo " + finding));
  CHECK(contains(local.out, "Reproduce:  ./gauntlet rerun bravo"));
  REQUIRE(checkout.run({"report"}).code == kExitDone);
  fs::remove_all(checkout.results().root());
  const Ran published = checkout.run({"show", "bravo", finding});
  CHECK(published.out == local.out);
  CHECK(contains(published.err, "reports/data"));
}

TEST_CASE(
    "what a submission claims of itself is shown with what was measured, and moves no grade") {
  const Checkout checkout;
  checkout.add_submission("bravo");
  checkout.add_result("bravo", 0.5);
  const std::string silent = checkout.run({"show", "bravo", checkout.challenge}).out;
  CHECK_FALSE(contains(silent, "claim"));
  CellObservation cell = *checkout.results().load({"bravo", checkout.challenge});
  cell.checks[0].facts = {{"saved bytes per row", 64, "B", ClaimKind::saved_bytes}};
  cell.stated_claims = {{ClaimKind::bound, Bound::memory}, {ClaimKind::saved_bytes, 8.0}};
  checkout.results().save(cell);
  const Ran shown = checkout.run({"show", "bravo", checkout.challenge});
  CHECK(contains(shown.out, "not verifiable claim: bound memory; no case was timed"));
  CHECK(contains(shown.out, "false claim: saved_bytes 8; measured 64 B (saved bytes per row)"));
  CHECK(shown.out.substr(0, shown.out.find('\n')) == silent.substr(0, silent.find('\n')));
  const Json document = Json::parse(checkout.run({"score", "--json"}).out);
  const Json& claims = document["cells"][0]["stated_claims"];
  CHECK(claims[0]["verdict"] == "not verifiable");
  CHECK(claims[1]["verdict"] == "false");
  CHECK(claims[1]["claimed"] == 8);
}

TEST_CASE("bad claims are named by validate, which turns nobody away for them, and by show") {
  const Checkout checkout;
  checkout.add_submission("bravo");
  write_file(checkout.root() / "submissions/bravo" / checkout.challenge / "claims.yaml",
             "bound: memory\nsaved_byte: 8\n");
  const Ran ran = checkout.run({"validate", "bravo"});
  CHECK(ran.code == kExitDone);
  CHECK(contains(ran.out, "bravo ok\n"));
  CHECK(contains(ran.out, "/claims.yaml:2: saved_byte: is no known key, did you mean"));
  checkout.add_result("bravo", 0.5);
  CellObservation cell = *checkout.results().load({"bravo", checkout.challenge});
  cell.claims_fault = "claims.yaml:2: saved_byte\x1b[31m: is no known key";
  checkout.results().save(cell);
  const Ran shown = checkout.run({"show", "bravo", checkout.challenge});
  CHECK(contains(shown.out, "its claims cannot be read: claims.yaml:2: saved_byte"));
  CHECK_FALSE(contains(shown.out, "\x1b"));
  CHECK(contains(checkout.run({"new", "my-model", "-c", checkout.challenge}).out, "claims.yaml"));
}

TEST_CASE("an edited rubric moves grades without running anything") {
  const Checkout checkout;
  checkout.add_submission("bravo");
  checkout.add_result("bravo", 1);
  REQUIRE(checkout.run({"score"}).code == kExitDone);
  fs::remove(checkout.root() / "harness");
  std::string rubric = read_file(fs::path(GAUNTLET_ROOT) / "harness/score/rubric.yaml");
  rubric.replace(rubric.find("  D: 60"), 7, "  D: 40");
  write_file(checkout.root() / "harness/score/rubric.yaml", rubric);
  const Ran ran = checkout.run({"score"});
  CHECK(contains(ran.out, "bravo " + checkout.challenge + ": F 50 -> D 50"));
  CHECK(contains(checkout.run({"score"}).out, "No grade moved."));
}

TEST_CASE("reports come out the same from the data that they leave behind") {
  const Checkout checkout;
  checkout.add_submission("bravo");
  checkout.add_result("bravo", 0.5);
  checkout.add_result("reference", 1);
  REQUIRE(checkout.run({"grade", "bravo"}).code == kExitDone);
  REQUIRE(checkout.run({"report"}).code == kExitDone);
  const fs::path page = checkout.root() / "reports/README.md";
  const std::string first = read_file(page);
  CHECK(checkout.run({"report", "--check"}).code == kExitDone);
  CHECK(fs::exists(checkout.root() / "build/report/index.html"));
  CHECK_FALSE(fs::exists(checkout.root() / "reports/index.html"));
  const fs::path site = checkout.root() / "elsewhere";
  REQUIRE(checkout.run({"report", "--site", site.string()}).code == kExitDone);
  for (const char* file : {"README.md", "index.html", "aggregate.json", "pairs/README.md"})
    CHECK(fs::exists(site / file));

  fs::remove_all(checkout.results().root());
  REQUIRE(checkout.run({"report"}).code == kExitDone);
  CHECK(read_file(page) == first);

  write_file(page, first + "typed by hand\n");
  const Ran outdated = checkout.run({"report", "--check"});
  CHECK(outdated.code == kExitGateFailed);
  CHECK(contains(outdated.out, "README.md"));
}

TEST_CASE("the page of a submission that is gone is taken away, other files are not") {
  const Checkout checkout;
  for (const char* name : {"alpha", "bravo"}) {
    checkout.add_submission(name);
    checkout.add_result(name, 0.5);
  }
  REQUIRE(checkout.run({"report"}).code == kExitDone);
  const fs::path reports = checkout.root() / "reports";
  write_file(reports / "submissions/notes.md", "mine\n");
  const fs::path grades = reports / "data/grades.jsonl";
  const std::string both = read_file(grades);
  write_file(grades, both.substr(both.find('\n') + 1));  // alpha's line
  fs::remove_all(checkout.results().root());
  CHECK(checkout.run({"report", "--check"}).code == kExitGateFailed);
  REQUIRE(checkout.run({"report"}).code == kExitDone);
  CHECK_FALSE(fs::exists(reports / "submissions/alpha.md"));
  CHECK(fs::exists(reports / "submissions/bravo.md"));
  CHECK(fs::exists(reports / "submissions/notes.md"));
  CHECK(contains(read_file(reports / "ledger.md"), "withdrawn"));
  CHECK_FALSE(fs::exists(reports / "data/alpha.yaml"));
}

TEST_CASE("an older local result does not replace a newer published one") {
  const Checkout checkout;
  checkout.add_submission("bravo");
  checkout.add_result("bravo", 0.5);
  const CellObservation older = *checkout.results().load({"bravo", checkout.challenge});
  CellObservation newer = older;
  newer.provenance.started = "2021-01-01T00:00:00Z";
  checkout.results().save(newer);
  REQUIRE(checkout.run({"report"}).code == kExitDone);
  checkout.results().save(older);
  REQUIRE(checkout.run({"report"}).code == kExitDone);
  const ReportData data(checkout.root() / "reports/data");
  CHECK(data.load().at(0).seen.provenance.started == "2021-01-01T00:00:00Z");
}

TEST_CASE("a run that says it began in the future is not published, reused or kept as the newest") {
  const Checkout checkout;
  checkout.add_submission("bravo");
  checkout.add_result("bravo", 0.5);
  checkout.add_result("reference", 1);
  const CellObservation honest = *checkout.results().load({"bravo", checkout.challenge});
  CellObservation ahead = honest;
  ahead.provenance.started = "9999-01-01T00:00:00Z";
  ahead.checks[0].earned = 1;
  const ReportData data(checkout.root() / "reports/data");
  SUBCASE("where it is to be published") {
    checkout.keep(ahead);
    const Ran ran = checkout.run({"report"});
    CHECK(ran.code == kExitDone);
    CHECK(contains(ran.err,
                   "began at 9999-01-01T00:00:00Z, which lies ahead of this machine's "
                   "clock: it is not published"));
    for (const PublishedCell& cell : data.load()) CHECK(cell.seen.key.submission != "bravo");
    const Ran graded = checkout.run({"grade", "bravo"});
    CHECK(contains(graded.err, "it says that it began at 9999-01-01T00:00:00Z"));
  }
  SUBCASE("where it was published") {
    REQUIRE(checkout.run({"report"}).code == kExitDone);
    std::vector<PublishedCell> published = data.load();
    for (PublishedCell& cell : published)
      if (cell.seen.key.submission == "bravo") cell.seen = ahead;
    data.save(published, data.cards());
    const Ran ran = checkout.run({"report"});
    CHECK(ran.code == kExitDone);
    CHECK(contains(ran.err, "lies ahead of this machine's clock: any other grade replaces it"));
    for (const PublishedCell& cell : data.load())
      CHECK(cell.seen.provenance.started == honest.provenance.started);
  }
}

TEST_CASE("a score of another rubric is written again with the grade that is shown") {
  const Checkout checkout;
  checkout.add_submission("bravo");
  checkout.add_result("bravo", 0.5);
  checkout.add_result("reference", 1);
  REQUIRE(checkout.run({"grade", "bravo"}).code == kExitDone);
  const fs::path score = checkout.results().score_file({"bravo", checkout.challenge});
  const std::string right = read_file(score);
  const std::string digest = Json::parse(right)["rubric_digest"];
  write_file(score, replaced(right, digest, std::string(digest.size(), '0')));
  CHECK(contains(checkout.run({"grade", "bravo"}).out, "(reused)"));
  CHECK(read_file(score) == right);
}

TEST_CASE("list shows every challenge, and checks with what they detect") {
  const Checkout checkout;
  const Ran challenges = checkout.run({"list"});
  for (const auto& id : challenge_ids(checkout.root())) CHECK(contains(challenges.out, id));
  const Ran checks = checkout.run({"list", "checks", "-c", checkout.challenge, "--json"});
  const Json document = Json::parse(checks.out);
  const auto expected = checks_of(checkout.challenge, Device::cpu);
  REQUIRE(document["checks"].size() == expected.size());
  CHECK(document["checks"][0]["detects"] == expected[0].detects);
}

TEST_CASE("compare sets submissions side by side, by name or folder, local or published") {
  const Checkout checkout;
  for (const char* name : {"alpha", "bravo"}) {
    CellObservation cell = sample::cell(name, checkout.challenge);
    cell.checks = {sample::passed("base"), sample::passed("odd_sizes")};
    if (name == std::string("bravo")) cell.checks[1] = sample::failed("odd_sizes");
    checkout.results().save(cell);
  }
  const Ran ran =
      checkout.run({"compare", "alpha", "submissions/bravo/", "-c", checkout.challenge});
  CHECK(ran.code == kExitDone);
  CHECK(contains(ran.out, "alpha leads bravo: 1 won, 0 lost, 0 tied"));
  CHECK(contains(ran.out, "wrong: dx[0]"));
  const Ran json = checkout.run({"compare", "alpha", "bravo", "--json"});
  const Json document = Json::parse(json.out);
  CHECK(document["schema"] == "gauntlet.compare/1");
  CHECK(document["pairs"][0]["record"]["won"] == 1);
  REQUIRE(checkout.run({"report"}).code == kExitDone);
  fs::remove_all(checkout.results().root());
  CHECK(checkout.run({"compare", "alpha", "bravo", "--json"}).out == json.out);
}

TEST_CASE("compare says what it cannot compare") {
  const Checkout checkout;
  checkout.results().save(sample::cell("alpha", checkout.challenge));
  checkout.results().save(sample::cell("reference", checkout.challenge));
  const Ran unknown = checkout.run({"compare", "alpha", "alpho"});
  CHECK(unknown.code == kExitNothingMatched);
  CHECK(contains(unknown.err, "no result of 'alpho', did you mean 'alpha'?"));
  CHECK(checkout.run({"compare", "alpha", "alpha"}).code == kExitUsage);
  CHECK(checkout.run({"compare", "alpha", "reference"}).code == kExitUsage);
  CHECK(checkout.run({"compare", "alpha"}).code == kExitUsage);
}

TEST_CASE("a grade that a report replaces is in its ledger") {
  const Checkout checkout;
  CellObservation cell = sample::cell("alpha", checkout.challenge);
  cell.checks = {sample::passed("base")};
  checkout.results().save(cell);
  REQUIRE(checkout.run({"report"}).code == kExitDone);
  cell.checks[0].earned = 0.5;
  cell.provenance.started = "2021-01-01T00:00:00Z";
  cell.provenance.grader_digest = "another";
  checkout.results().save(cell);
  REQUIRE(checkout.run({"report"}).code == kExitDone);
  REQUIRE(checkout.run({"report"}).code == kExitDone);  // says nothing new
  const auto entries = load_ledger(checkout.root() / "reports/data/ledger.jsonl");
  REQUIRE(entries.size() == 1);
  CHECK(entries[0].before == "A 100");
  CHECK(entries[0].after == "F 50");
  CHECK(contains(read_file(checkout.root() / "reports/ledger.md"), "another grader"));
  CHECK(checkout.run({"report", "--check"}).code == kExitDone);
}

TEST_CASE("a part of an audit is not kept as a whole one") {
  const Checkout checkout;
  for (const char* part : {"--fewest", "--sample=3", "--only=none"})
    CHECK(contains(checkout.run({"audit", "-c", checkout.challenge, part, "--record"}).err,
                   "--record keeps whole audits"));
  CHECK(checkout.run({"audit", "--brief", "--record"}).code == kExitUsage);
}

TEST_CASE("every verb teaches itself with an example") {
  const Checkout checkout;
  for (const char* verb : {"grade", "rerun", "validate", "audit", "list", "new", "score", "report",
                           "import", "compare", "show", "verify", "export", "doctor", "sanitize",
                           "cache", "completion", "help"}) {
    INFO(verb);
    const Ran help = checkout.run({"help", verb});
    CHECK(help.code == kExitDone);
    CHECK(contains(help.out, std::string("Example: ./gauntlet ") + verb));
    CHECK(checkout.run({verb, "--help"}).out == help.out);
  }
  CHECK(contains(checkout.run({}).out, "./gauntlet grade submissions/my-model"));
  CHECK(checkout.run({"--version"}).out == "gauntlet 0.1.0\n");
}
