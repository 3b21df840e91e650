// SPDX-License-Identifier: Apache-2.0
// A grade, its receipt, and everything that somebody might change afterwards.
#include <algorithm>
#include <doctest/doctest.h>
#include <regex>

#include "harness/cli/exit_codes.h"
#include "harness/core/digest.h"
#include "harness/report/data/report_data.h"
#include "harness/store/json_fields.h"
#include "harness/store/observation_json.h"
#include "harness/store/receipt_check.h"
#include "harness/store/receipt_signature.h"
#include "tests/cli/checkout.h"
#include "tests/end_to_end/grading_environment.h"
#include "tests/support/text.h"

using namespace gauntlet;
namespace fs = std::filesystem;

namespace {

/// The solution with large problems refused, which take most of a grading's time: a refusal is
/// confirmed, or not, as any other answer is.
std::string refusing_what_is_large(const std::string& solution) {
  static const std::regex kPass(
      R"(extern "C" int64_t layernorm_(?:forward|backward)\(const LayernormArgs\* (\w+)\) \{)");
  return std::regex_replace(solution, kPass,
                            "$&\n  if ($1->rows > 9999 || $1->cols > 9999 || "
                            "$1->num_threads > 16) return LAYERNORM_UNSUPPORTED;");
}

/// A submission without tests that was graded but for its races.
class Graded {
 public:
  /// `source` with `from` replaced by `to`.
  explicit Graded(const fs::path& source, const std::string& from = "",
                  const std::string& to = "") {
    checkout.challenge = kChallenge;
    checkout.add_submission("bravo");
    fs::copy_file(GAUNTLET_ROOT / source, solution(), fs::copy_options::overwrite_existing);
    for (const auto& beside : fs::directory_iterator((GAUNTLET_ROOT / source).parent_path()))
      if (beside.path().extension() == ".h") fs::copy(beside.path(), solution().parent_path());
    if (!from.empty()) write_file(solution(), with(solution(), from, to));
    write_file(solution(), refusing_what_is_large(read_file(solution())));
    CellRequest request = untimed_request("bravo", solution().parent_path());
    request.grade_tests = true;  // there are none; who verifies asks everything
    graded = checkout.run(
        run_cell(request, checkout.root() / "request.json", checkout.results().root()));
    INFO(graded.err);
    REQUIRE(graded.code == kExitDone);
  }

  fs::path solution() const {
    return checkout.root() / "submissions/bravo" / kChallenge / "solution.cpp";
  }
  fs::path file(const char* name) const {
    return checkout.results().root() / "bravo" / kChallenge / name;
  }
  Receipt receipt() const { return *checkout.results().load_receipt({"bravo", kChallenge}); }

  Ran verify(const std::vector<std::string>& options = {}) const {
    std::vector<std::string> words{"verify", "bravo", kChallenge};
    words.insert(words.end(), options.begin(), options.end());
    return checkout.run(words);
  }

  /// What verify says while the file has this content instead of its own.
  Ran verify_with(const fs::path& changed, const std::string& content,
                  const std::vector<std::string>& options = {}) const {
    const std::string before = read_file(changed);
    REQUIRE(content != before);
    write_file(changed, content);
    Ran ran = verify(options);
    write_file(changed, before);
    return ran;
  }

  /// A file's content with one word replaced.
  static std::string with(const fs::path& file, const std::string& from, const std::string& to) {
    std::string text = read_file(file);
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
  }

  Checkout checkout;
  Ran graded;
};

/// What somebody can make of an edited receipt who kept nothing of the run: all digests fit.
Receipt made_anew(Receipt receipt) {
  ReceiptKey key;
  receipt.signer = key.public_key();
  receipt.commitment = commitment_to(receipt, receipt.closing->seed, receipt.closing->nonce);
  receipt.closing->signature = std::move(key).sign(closing_digest(receipt));
  return receipt;
}

void check_refuted(const Ran& ran, const std::string& words) {
  INFO(ran.out, ran.err);
  CHECK(ran.code == kExitGateFailed);
  CHECK(contains(ran.out, words));
  CHECK(contains(ran.out, "Refuted"));
}

}  // namespace

TEST_CASE("a grade is confirmed from its receipt, and everything changed afterwards is seen") {
  // Graded once; every part below leaves it as it was.
  static const Graded cell(fs::path("submissions/textbook") / kChallenge / "solution.cpp");
  const fs::path receipt_file = cell.file("receipt.json");
  const Receipt receipt = cell.receipt();
  REQUIRE(receipt.closing);

  SUBCASE("an untouched grade is confirmed") {
    CHECK(contains(cell.graded.err,
                   fmt::format("commit bravo {} {}\n", kChallenge, receipt.commitment)));
    CHECK(contains(cell.graded.err,
                   fmt::format("closed bravo {} {}\n", kChallenge, closing_digest(receipt))));
    CHECK_FALSE(fs::exists(cell.file("opened.json")));
    const Ran ran = cell.checkout.run(
        {"verify", receipt_file.string(), "--commitment", receipt.commitment, "--json"});
    INFO(ran.out, ran.err);
    CHECK(ran.code == kExitDone);
    const Json document = Json::parse(ran.out);
    CHECK(document["schema"] == "gauntlet.verify/1");
    CHECK(document["confirmed"] == true);
    CHECK(contains(ran.out, "what was measured in peak_memory"));
    REQUIRE(document["rests_on_receipt"].size() == 1);
    CHECK(document["proofs"].size() > receipt.closing->checks.size());
    for (const CheckTrace& check : receipt.closing->checks) {
      INFO(check.id);
      const bool of_engineering =
          check.id == "warning_free_build" || check.id == "tests_tell_right_from_wrong";
      CHECK((check.timed || check.calls > 0 || of_engineering));
    }
  }

  SUBCASE("edited files of the store are refused") {
    const fs::path observation = cell.file("observation.json");
    check_refuted(
        cell.verify_with(observation, cell.with(observation, "\"cases\": 1,", "\"cases\": 9,")),
        "is not the one that the receipt was closed over");
    const fs::path score = cell.file("score.json");
    check_refuted(cell.verify_with(score, cell.with(score, "\"raw\": ", "\"raw\": 1")),
                  "is not what the rubric makes of the observation");
    const std::string seen = read_file(observation);
    fs::remove(observation);
    const Ran alone = cell.checkout.run({"verify", "bravo", kChallenge});
    write_file(observation, seen);
    CHECK(alone.code == kExitIncomplete);
    CHECK(contains(alone.out, "has no observation beside it that it could follow from"));
    const std::string digest = Json::parse(read_file(score))["rubric_digest"];
    const Ran other_rubric =
        cell.verify_with(score, cell.with(score, digest, std::string(digest.size(), '0')));
    CHECK(other_rubric.code == kExitIncomplete);
    CHECK(contains(other_rubric.out, "is of another rubric, or says so"));
    CHECK_FALSE(contains(other_rubric.out, "Confirmed"));
    const Ran edited =
        cell.verify_with(receipt_file, cell.with(receipt_file, "\"checks\"", "\"extra\""));
    CHECK(edited.code == kExitUsage);
    CHECK(contains(edited.err, "closing.checks: is missing"));
    const Ran trace = cell.verify_with(
        receipt_file,
        cell.with(receipt_file, "\"inputs\": \"0x00000000", "\"inputs\": \"0x00000001"));
    CHECK(trace.code == kExitUsage);
    CHECK(contains(trace.err, "the file was edited"));
  }

  SUBCASE("a seed chosen after the fact, and another run's receipt, are refused") {
    Receipt chosen = receipt;
    chosen.closing->seed = 12345;
    check_refuted(cell.verify_with(receipt_file, to_json(chosen)),
                  "was chosen or changed after the commitment");
    chosen.commitment = commitment_to(chosen, chosen.closing->seed, chosen.closing->nonce);
    check_refuted(
        cell.verify_with(receipt_file, to_json(chosen), {"--commitment", receipt.commitment}),
        "this is another run's receipt");
  }

  SUBCASE("a chosen seed cannot be passed off as drawn") {
    Receipt drawn = receipt;
    drawn.seed_drawn = !receipt.seed_drawn;
    check_refuted(cell.verify_with(receipt_file, to_json(drawn)),
                  "was chosen or changed after the commitment");
  }

  SUBCASE("edited speeds, with every digest made to fit, are refused by whoever kept a line") {
    CellObservation faster = *cell.checkout.results().load({"bravo", kChallenge});
    const std::string slower = to_json(faster);
    for (std::size_t i = 0; i < faster.checks.size(); ++i) {
      if (!receipt.closing->checks[i].timed) continue;
      auto& speeds = faster.checks[i].speeds;
      speeds.resize(std::max<std::size_t>(speeds.size(), 1));  // a busy machine measured nothing
      for (SpeedMeasurement& speed : speeds) speed.ratio = 10;
    }
    REQUIRE(to_json(faster) != slower);
    Receipt fitted = receipt;
    fitted.closing->observation = sha256(to_json(faster));
    fs::remove(cell.file("score.json"));  // ./gauntlet score would write the one that fits
    write_file(cell.file("observation.json"), to_json(faster));
    check_refuted(cell.verify_with(receipt_file, to_json(fitted)), "was not signed by the run");

    // Signed again with a key of his own, it is whole: only the printed lines are against it.
    const std::string anew = to_json(made_anew(fitted));
    check_refuted(cell.verify_with(receipt_file, anew, {"--commitment", receipt.commitment}),
                  "this is another run's receipt");
    check_refuted(cell.verify_with(receipt_file, anew, {"--closing", closing_digest(receipt)}),
                  "was printed when the run ended");
    const Ran alone = cell.verify_with(receipt_file, anew);
    INFO(alone.out, alone.err);
    CHECK(alone.code == kExitDone);
    CHECK_FALSE(contains(alone.out, "Confirmed.\n"));
    CHECK(contains(alone.out, "Confirmed except speed: what goes by the clock was not run again"));
    CHECK(contains(alone.out, "(10 to 10 times the reference)"));
    CHECK(contains(alone.out, "signed, but by whom?"));
    write_file(cell.file("observation.json"), slower);
    REQUIRE(cell.checkout.run({"score"}).code == kExitDone);
  }

  SUBCASE("a submission that changed after it was graded is refused") {
    check_refuted(cell.verify_with(cell.solution(), read_file(cell.solution()) + "// better\n"),
                  "the solution changed after it was graded");
  }

  SUBCASE(
      "edited cases, facts and curves, with every digest made to fit, are refused by a new run") {
    const fs::path file = cell.file("observation.json");
    const std::string honest = read_file(file);
    CellObservation better = *cell.checkout.results().load({"bravo", kChallenge});
    const auto check =
        std::find_if(better.checks.begin(), better.checks.end(),
                     [](const auto& one) { return one.info.id == "offset_accuracy"; });
    REQUIRE(check != better.checks.end());
    check->facts.push_back({"an invented fact", 1, ""});
    check->curves.push_back({"an invented curve", "x", "y", {{0, 1}}});
    Receipt fitted = receipt;
    fitted.closing->observation = sha256(to_json(better));
    CheckTrace& other = fitted.closing->checks.at(4);
    REQUIRE(other.calls > 0);
    other.opening ^= 1;
    const std::string score = read_file(cell.file("score.json"));
    fs::remove(cell.file("score.json"));
    write_file(file, to_json(better));
    const Ran ran = cell.verify_with(receipt_file, to_json(made_anew(fitted)));
    check_refuted(ran, other.id + ": other inputs came from the same seed");
    check_refuted(ran, "facts of offset_accuracy: was [");
    check_refuted(ran, "curves of offset_accuracy: was [");
    write_file(file, honest);
    write_file(cell.file("score.json"), score);
  }

  SUBCASE("a report publishes what a receipt has to give, and no other gives") {
    REQUIRE(cell.checkout.run({"report"}).code == kExitDone);
    const ReportData data(cell.checkout.root() / "reports/data");
    const PublishedCell published = data.load().at(0);
    CHECK(published.commitment == receipt.commitment);
    CHECK(published.closing == closing_digest(receipt));
  }

  SUBCASE("a run that was opened and never ended proves nothing") {
    Receipt opened = receipt;
    opened.closing.reset();
    CHECK(cell.verify_with(receipt_file, to_json(opened)).code == kExitNothingMatched);
    fs::rename(receipt_file, cell.file("opened.json"));
    const Ran ran = cell.verify();
    fs::rename(cell.file("opened.json"), receipt_file);
    CHECK(ran.code == kExitNothingMatched);
    CHECK(contains(ran.err, "its run never ended"));
  }
}

TEST_CASE("of a solution whose outputs never come again, no figure is confirmed that was made up") {
  // Graded once; only the last part changes it. Few checks ask for as many rows, and figures of one
  // are made up: each whose outputs do not come again is asked again and again.
  constexpr const char* kMadeUp = "all_gradients";
  static const Graded cell(fs::path("graders") / kChallenge / "honest/atomic_rows.cpp",
                           "a.deterministic ? 1 : a.num_threads;",
                           "a.deterministic || a.rows < 256 ? 1 : a.num_threads;");
  SUBCASE("its own figures refute nothing") {
    const Ran ran = cell.verify();
    INFO(ran.out, ran.err);
    // By chance new runs may all lie elsewhere: then it says so, and is asked again.
    CHECK((ran.code == kExitDone || contains(ran.out, "Not confirmed: ")));
    CHECK_FALSE(contains(ran.out, "Refuted"));
  }
  SUBCASE("better ones are not confirmed") {
    CellObservation better = *cell.checkout.results().load({"bravo", kChallenge});
    for (CheckObservation& check : better.checks)
      for (Fact& fact : check.facts)
        if (check.info.id == kMadeUp && fact.unit.empty()) fact.value = 1e-9;
    Receipt fitted = cell.receipt();
    fitted.closing->observation = sha256(to_json(better));
    // Whatever came again by chance would refute it: then other outputs are claimed as well.
    for (CheckTrace& check : fitted.closing->checks)
      if (check.id == kMadeUp) check.outputs ^= 1;
    fs::remove(cell.file("score.json"));
    write_file(cell.file("observation.json"), to_json(better));
    const Ran ran = cell.verify_with(cell.file("receipt.json"), to_json(made_anew(fitted)));
    INFO(ran.out, ran.err);
    CHECK(ran.code == kExitIncomplete);
    CHECK(contains(ran.out, "Not confirmed: "));
    CHECK(contains(ran.out, fmt::format("facts of {}", kMadeUp)));
    CHECK_FALSE(contains(ran.out, "Confirmed"));
  }
}
