// SPDX-License-Identifier: Apache-2.0
#include "harness/store/reuse.h"

#include <doctest/doctest.h>
#include <functional>

#include "harness/core/digest.h"
#include "harness/core/files.h"
#include "tests/store/receipt_sample.h"
#include "tests/store/sample.h"
#include "tests/support/text.h"

using namespace gauntlet;

namespace {

CellObservation stored() {
  CellObservation cell = sample::cell();
  cell.checks = {sample::passed("base"), sample::failed("wrong")};
  return cell;
}

ReuseKey matching(const CellObservation& cell) {
  return {cell.provenance.submission_digest,
          cell.provenance.grader_digest,
          cell.build.compiler,
          cell.build.flags,
          cell.provenance.cpu,
          cell.provenance.cores,
          std::nullopt,
          cell.key.device,
          cell.provenance.sandbox};
}

}  // namespace

TEST_CASE("a result is reused when nothing that it depends on has changed") {
  CHECK_FALSE(why_not_reusable({stored()}, matching(stored())).has_value());
}

TEST_CASE("on a cluster a result is reused for the same constraint, whatever this machine is") {
  CellObservation cell = stored();
  cell.provenance.constraint = "epyc";
  ReuseKey wanted = matching(cell);
  wanted.cpu = "another CPU";
  wanted.cores = 3;
  wanted.constraint = "epyc";
  CHECK_FALSE(why_not_reusable({cell}, wanted).has_value());
  wanted.constraint = "";
  CHECK(why_not_reusable({cell}, wanted) == "the constraint on nodes changed: epyc -> (none)");
}

TEST_CASE("each thing that a result depends on is named when it differs") {
  const std::vector<std::pair<std::string, std::function<void(ReuseKey&)>>> changes{
      {"the submission changed: 77b04d10 -> x", [](ReuseKey& k) { k.submission_digest = "x"; }},
      {"the grader changed: 9c1e0f2255aa -> x", [](ReuseKey& k) { k.grader_digest = "x"; }},
      {"file solution.cpp changed: (none) -> ab",
       [](ReuseKey& k) {
         k.files = {{"solution.cpp", "ab"}};
       }},
      {"the contract changed: (none) -> x", [](ReuseKey& k) { k.contract_digest = "x"; }},
      {"the compiler changed: g++ 12.2.0 -> x", [](ReuseKey& k) { k.compiler = "x"; }},
      {"the compiler's flags changed: -O2 -> x", [](ReuseKey& k) { k.flags = "x"; }},
      {"the CPU changed: A CPU -> x", [](ReuseKey& k) { k.cpu = "x"; }},
      {"the number of cores changed: 2 -> 3", [](ReuseKey& k) { k.cores = 3; }},
      {"the device changed: cpu -> cuda", [](ReuseKey& k) { k.device = Device::cuda; }},
      {"the seed changed: 0xfedcba9876543210 -> 0x0000000000000007",
       [](ReuseKey& k) { k.seed = 7; }},
      {"it was made in a weaker sandbox, without landlock+uid",
       [](ReuseKey& k) { k.sandbox = "landlock+seccomp+uid"; }}};
  for (const auto& [reason, change] : changes) {
    ReuseKey key = matching(stored());
    change(key);
    CHECK(why_not_reusable({stored()}, key) == reason);
  }
}

TEST_CASE("what needs a GPU is not asked again as long as there is none") {
  CellObservation cell = stored();
  cell.checks.push_back(sample::failed("speed", Severity::minor, Verdict::unmeasured));
  CHECK(why_not_reusable({cell}, matching(cell)) == "check speed was unmeasured last time");
  cell.checks.back().finding->summary = kNoGpu;
  CHECK_FALSE(why_not_reusable({cell}, matching(cell)).has_value());
}

TEST_CASE("what was kept under another key format is not used") {
  CellObservation cell = stored();
  cell.provenance.key_format = 1;
  CHECK(why_not_reusable({cell}, matching(cell)) ==
        "it was kept under cache key format 1, and this version's is 2");
}

TEST_CASE("the seed that was used may be asked for again") {
  ReuseKey key = matching(stored());
  key.seed = stored().seed;
  CHECK_FALSE(why_not_reusable({stored()}, key).has_value());
}

TEST_CASE("a grade of a chosen seed answers for nobody who draws, and for who chooses the same") {
  ReuseKey key = matching(stored());
  CHECK(why_not_reusable({stored(), false}, key) ==
        "its seed was chosen (--seed 0xfedcba9876543210), and this run draws one");
  key.seed = stored().seed;
  CHECK_FALSE(why_not_reusable({stored(), false}, key).has_value());
}

TEST_CASE("a grade of a stronger sandbox is reused") {
  CellObservation cell = stored();
  cell.provenance.sandbox = "landlock+seccomp+rlimits";
  ReuseKey key = matching(cell);
  key.sandbox = "seccomp";
  CHECK_FALSE(why_not_reusable({cell}, key).has_value());
}

TEST_CASE("a build that a limit stopped is tried again") {
  CellObservation cell = stored();
  cell.build.ok = false;
  cell.checks.clear();
  CHECK_FALSE(why_not_reusable({cell}, matching(cell)).has_value());
  cell.build.stopped = true;
  CHECK(why_not_reusable({cell}, matching(cell)) == "the compiler ran into a limit last time");
}

TEST_CASE("verdicts that blame the place or the moment are not reused, failures are") {
  for (const Verdict verdict : {Verdict::broken, Verdict::unmeasured, Verdict::timed_out}) {
    CellObservation cell = stored();
    cell.checks.push_back(sample::failed("odd", Severity::minor, verdict));
    const auto reason = why_not_reusable({cell}, matching(cell));
    REQUIRE(reason.has_value());
    CHECK(*reason == "check odd was " + std::string(name_of(verdict)) + " last time");
  }
  for (const Verdict verdict : {Verdict::wrong, Verdict::crashed, Verdict::cheated}) {
    CellObservation cell = stored();
    cell.checks.push_back(sample::failed("odd", Severity::minor, verdict));
    CHECK_FALSE(why_not_reusable({cell}, matching(cell)).has_value());
  }
}

TEST_CASE("a failed build is reused, a build without checks is not") {
  CellObservation cell = sample::cell();
  CHECK(why_not_reusable({cell}, matching(cell)) == "no check ran last time");
  cell.build.ok = false;
  CHECK_FALSE(why_not_reusable({cell}, matching(cell)).has_value());
}

namespace {

/// A store with one cell, and what it holds when somebody has changed something in it.
struct Kept {
  Kept() {
    cell.provenance.submission_digest = sha256("sources");
    cell.provenance.grader_digest = sha256("grader");
    store.save(cell);
    store.close_receipt(cell, sample::receipt_of(cell));
  }
  /// Empty when the cell is proven.
  std::string complaint() const {
    std::string why;
    const auto proven = load_proven(store, cell.key, why);
    CHECK(proven.has_value() == why.empty());
    return proven ? proven->interrupted : why;
  }
  std::filesystem::path receipt() const { return store.receipt_file(cell.key); }

  CellObservation cell = stored();
  ScratchFolder folder{"test"};
  ResultStore store{folder.path()};
};

}  // namespace

TEST_CASE("a stored grade is used again only with the receipt of the run that made it") {
  const Kept kept;
  CHECK(kept.complaint() == "");
  SUBCASE("none") {
    std::filesystem::remove(kept.receipt());
    CHECK(contains(kept.complaint(), "has no receipt"));
  }
  SUBCASE("an observation that was written by hand") {
    CellObservation better = kept.cell;
    better.checks[1] = sample::passed("wrong");
    kept.store.save(better);
    CHECK(contains(kept.complaint(), "is not the one that the receipt was closed over"));
  }
  SUBCASE("a receipt that was made to fit, and nobody signed") {
    CellObservation better = kept.cell;
    better.checks[0].seconds = 9;
    kept.store.save(better);
    Receipt fitted = *kept.store.load_receipt(better.key);
    fitted.closing->observation = sha256(to_json(better));
    write_file(kept.receipt(), to_json(fitted));
    CHECK(contains(kept.complaint(), "was not signed by the run that made the commitment"));
  }
  SUBCASE("a chosen seed that is called drawn") {
    kept.store.close_receipt(kept.cell, sample::receipt_of(kept.cell, false));
    CHECK(kept.complaint() == "");
    write_file(kept.receipt(), replaced(read_file(kept.receipt()), "\"seed_drawn\": false",
                                        "\"seed_drawn\": true"));
    CHECK(contains(kept.complaint(), "was chosen or changed after the commitment"));
  }
  SUBCASE("the receipt of another cell") {
    CellObservation other = kept.cell;
    other.key.submission = "charlie";
    write_file(kept.receipt(), to_json(sample::receipt_of(other)));
    CHECK(contains(kept.complaint(), "its receipt does not fit"));
  }
  SUBCASE("a receipt that was opened only") {
    Receipt opened = sample::receipt_of(kept.cell);
    opened.closing.reset();
    write_file(kept.receipt(), to_json(opened));
    CHECK(kept.complaint() == "its receipt is of a run that never ended");
  }
  SUBCASE("no receipt at all but other text") {
    write_file(kept.receipt(), "{}");
    CHECK(contains(kept.complaint(), "receipt.json"));
  }
}

TEST_CASE("a run that was begun and did not end leaves nothing to be used again") {
  const Kept kept;
  kept.store.open_receipt(sample::receipt_of(kept.cell));
  CHECK(contains(kept.complaint(), "a run of it was begun and did not end"));
  const ProvenCell interrupted{stored(), true, "interrupted"};
  CHECK(why_not_reusable(interrupted, matching(stored())) == "interrupted");
  ReuseKey key = matching(stored());
  key.flags = "x";
  CHECK(contains(*why_not_reusable(interrupted, key), "flags changed"));  // says more
}

TEST_CASE("a run that ended and was killed before it removed what it had opened has ended") {
  const Kept kept;
  Receipt opened = *kept.store.load_receipt(kept.cell.key);
  opened.closing.reset();
  kept.store.open_receipt(opened);
  CHECK(kept.complaint() == "");
}
