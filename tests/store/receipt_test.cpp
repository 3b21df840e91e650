// SPDX-License-Identifier: Apache-2.0
#include "harness/store/receipt.h"

#include <doctest/doctest.h>

#include "harness/core/digest.h"
#include "harness/core/error.h"
#include "harness/store/observation_json.h"
#include "harness/store/receipt_check.h"
#include "harness/store/receipt_signature.h"
#include "tests/store/receipt_sample.h"
#include "tests/store/sample.h"
#include "tests/support/text.h"

using namespace gauntlet;
using Outcome = Proof::Outcome;

namespace {

Receipt receipt() {
  return sample::receipt_of(sample::graded_cell());
}

std::string receipt_complaint(const std::string& text) {
  try {
    receipt_from_json(text, "r.json");
  } catch (const UserError& error) {
    return error.what();
  }
  return "no complaint";
}

/// The proof about one check when the second run was like the first but for `edit`.
template <class Edit>
Proof proof_of_check(const Edit& edit) {
  const Receipt claimed = receipt();
  Receipt seen = claimed;
  edit(seen.closing->checks[0]);
  return compare_runs(claimed, seen).at(1);
}

}  // namespace

TEST_CASE("a receipt is read back as it was written, open and closed") {
  Receipt made = receipt();
  CHECK(to_json(receipt_from_json(to_json(made), "r.json")) == to_json(made));
  made.closing.reset();
  const Receipt opened = receipt_from_json(to_json(made), "r.json");
  CHECK_FALSE(opened.closing);
  CHECK_FALSE(contains(to_json(made), "nonce"));
  CHECK_FALSE(contains(to_json(made), "seed\""));
}

TEST_CASE("a receipt with more, less or other text than its fields is refused") {
  const std::string good = to_json(receipt());
  CHECK(
      contains(receipt_complaint(replaced(good, "receipt/2", "receipt/3")), "r.json: schema: is"));
  CHECK(contains(receipt_complaint(replaced(good, "\"device\"", "\"extra\": 1, \"device\"")),
                 "there is more or other text in the file"));
  CHECK(contains(receipt_complaint(good + " "), "there is more or other text in the file"));
  CHECK(contains(receipt_complaint(replaced(good, "\"nonce\": \"", "\"nonce\": \"X")),
                 "closing.nonce: must be 64 lower-case hex digits"));
  CHECK(contains(receipt_complaint(replaced(good, "\"inputs\": \"0x0000000000000011\"",
                                            "\"inputs\": \"0x0000000000000012\"")),
                 "closing.cases: must be"));
  CHECK(contains(receipt_complaint(replaced(good, "\"outputs\": \"0x0000000000000004\"",
                                            "\"outputs\": \"0x0000000000000005\"")),
                 "closing.outputs: must be"));
}

TEST_CASE("every prefix of a receipt is refused") {
  const std::string good = to_json(receipt());
  for (std::size_t size = 0; size < good.size(); ++size)
    CHECK_THROWS_AS(receipt_from_json(good.substr(0, size), "r.json"), UserError);
}

TEST_CASE("a commitment binds the seed, the nonce and what was graded") {
  const Receipt good = receipt();
  CHECK(check_commitment(good, "").outcome == Outcome::holds);
  CHECK(check_commitment(good, good.commitment).outcome == Outcome::holds);
  std::vector<Receipt> bad(15, good);
  bad[0].closing->seed = bad[0].closing->seed + 1;  // chosen after the fact
  bad[1].closing->nonce = fresh_nonce();
  bad[2].sources = sha256("other sources");
  bad[3].library = sha256("other library");
  bad[4].grader = sha256("other grader");
  bad[5].seed_drawn = false;
  bad[6].signer = ReceiptKey().public_key();
  bad[7].key.submission = "other";
  bad[8].key.challenge = "other";
  bad[9].key.device = Device::cuda;
  bad[10].compiler = "other";
  bad[11].cpu = "other";
  bad[12].sandbox = "none";
  bad[13].started = "1970-01-01T00:00:00Z";
  bad[14].key.attempt = 2;
  for (const Receipt& one : bad) {
    const Proof proof = check_commitment(one, "");
    CHECK(proof.outcome == Outcome::refuted);
    CHECK(contains(proof.text, "was chosen or changed after the commitment"));
  }
}

TEST_CASE("a receipt from before there were further attempts fits, and is written as it was") {
  const Receipt first = receipt();
  CHECK(to_json(first).find("attempt") == std::string::npos);
  const std::string before = Digest()
                                 .add("seed", first.closing->seed.text())
                                 .add("nonce", first.closing->nonce)
                                 .add("sources", first.sources)
                                 .add("library", first.library)
                                 .add("grader", first.grader)
                                 .add("submission", "bravo")
                                 .add("challenge", "first")
                                 .add("device", "cpu")
                                 .add("seed_drawn", "true")
                                 .add("gauntlet_version", first.gauntlet_version)
                                 .add("compiler", first.compiler)
                                 .add("cpu", first.cpu)
                                 .add("sandbox", first.sandbox)
                                 .add("started", first.started)
                                 .add("signer", first.signer)
                                 .hex();
  CHECK(first.commitment == before);
}

TEST_CASE("a receipt carries size, device and attempt, and an observation of another is refuted") {
  CellObservation cell = sample::graded_cell();
  cell.key = {"bravo", "first", "large", Device::cuda, 3};
  const Receipt made = sample::receipt_of(cell);
  CHECK(receipt_from_json(to_json(made), "r.json").key == cell.key);
  CHECK(check_commitment(made, "").outcome == Outcome::holds);
  CHECK(check_observation(made, to_json(cell), "o.json").outcome == Outcome::holds);
}

TEST_CASE("a receipt that was made anew is not the one whose commitment was printed") {
  const Proof proof = check_commitment(receipt(), sha256("printed"));
  CHECK(proof.outcome == Outcome::refuted);
  CHECK(contains(proof.text, "this is another run's receipt"));
}

TEST_CASE("what was edited after the run ended is not what the run signed") {
  const Receipt good = receipt();
  CHECK(check_closing(good, "", true).outcome == Outcome::holds);
  CHECK(check_closing(good, closing_digest(good), false).outcome == Outcome::holds);
  std::vector<Receipt> edited(6, good);
  edited[0].closing->observation = sha256("faster");
  edited[1].closing->checks[1].verdict = Verdict::passed;
  edited[2].closing->checks[0].timed = true;
  edited[3].closing->reference = sha256("slower");
  edited[4].closing->signature = receipt().closing->signature;  // of another run
  edited[5].closing->signature = std::string(128, '0');
  for (const Receipt& one : edited) {
    // Written with digests that fit, so that nothing else contradicts it.
    const Receipt read = receipt_from_json(to_json(one), "r.json");
    CHECK(check_commitment(read, good.commitment).outcome == Outcome::holds);
    const Proof proof = check_closing(read, "", true);
    CHECK(proof.outcome == Outcome::refuted);
    CHECK(contains(proof.text, "was not signed by the run that made the commitment"));
  }
}

TEST_CASE("a receipt that was made anew is told by either printed digest, and else not at all") {
  const Receipt good = receipt();
  const Receipt anew = receipt();  // another nonce and key, all else as it was
  CHECK(check_closing(anew, closing_digest(good), false).outcome == Outcome::refuted);
  CHECK(check_commitment(anew, good.commitment).outcome == Outcome::refuted);
  const Proof alone = check_closing(anew, "", false);
  CHECK(alone.outcome == Outcome::noted);
  CHECK(contains(alone.text,
                 "A receipt that was made anew later, with other numbers, looks the same"));
}

TEST_CASE("what is no key and no signature signs nothing") {
  ReceiptKey key;
  const std::string who = key.public_key();
  const std::string signature = std::move(key).sign("text");
  CHECK(is_signed("text", who, signature));
  CHECK_FALSE(is_signed("texts", who, signature));
  for (const std::string& bad : {std::string(), std::string(64, 'z'), std::string(64, '0'),
                                 std::string(64, 'f'), who.substr(1), who + "00"})
    CHECK_FALSE(is_signed("text", bad, signature));
  for (const std::string& bad : {std::string(), signature.substr(2), std::string(128, 'x')})
    CHECK_FALSE(is_signed("text", who, bad));
}

TEST_CASE("a chosen seed is named") {
  Receipt chosen = receipt();
  chosen.seed_drawn = false;
  chosen.commitment = commitment_to(chosen, chosen.closing->seed, chosen.closing->nonce);
  CHECK(contains(check_commitment(chosen, "").text, "not drawn but chosen"));
}

TEST_CASE("an edited observation is not the one that the receipt was closed over") {
  CellObservation cell = sample::graded_cell();
  const Receipt made = receipt();
  CHECK(check_observation(made, to_json(cell), "o.json").outcome == Outcome::holds);
  cell.checks[0].earned = 0.5;
  const Proof proof = check_observation(made, to_json(cell), "o.json");
  CHECK(proof.outcome == Outcome::refuted);
  CHECK(contains(proof.text, "o.json is not the one that the receipt was closed over"));
}

TEST_CASE("a receipt fitted to an edited observation contradicts it elsewhere") {
  const auto fitted = [](const auto& edit) {
    CellObservation cell = sample::graded_cell();
    edit(cell);
    Receipt made = receipt();
    made.closing->observation = sha256(to_json(cell));
    const Proof proof = check_observation(made, to_json(cell), "o.json");
    CHECK(proof.outcome == Outcome::refuted);
    return proof.text;
  };
  CHECK(contains(fitted([](auto& cell) { cell.key.attempt = 2; }), "it says attempt"));
  CHECK(contains(fitted([](auto& cell) { cell.key.size = "large"; }), "it says challenge"));
  CHECK(contains(fitted([](auto& cell) { cell.seed = 1; }), "it says seed"));
  CHECK(contains(fitted([](auto& cell) { cell.key.submission = "other"; }), "it says submission"));
  CHECK(contains(fitted([](auto& cell) { cell.key.challenge = "other"; }), "it says challenge"));
  CHECK(contains(fitted([](auto& cell) { cell.key.device = Device::cuda; }), "it says device"));
  CHECK(contains(fitted([](auto& cell) { cell.provenance.sandbox = "x"; }), "it says sandbox"));
  CHECK(contains(fitted([](auto& cell) { cell.checks.pop_back(); }), "it has 3 checks"));
  CHECK(contains(fitted([](auto& cell) { cell.checks[0].info.id = "easy"; }), "check 'easy'"));
  CHECK(contains(fitted([](auto& cell) { cell.checks[1] = sample::passed("offset_ladder"); }),
                 "it says check 'offset_ladder' was passed"));
}

TEST_CASE("changed sources and another grader are refused with what helps") {
  CHECK(check_sources(receipt(), sha256("sources")).outcome == Outcome::holds);
  CHECK(contains(check_sources(receipt(), sha256("x")).text, "changed after it was graded"));
  CHECK(check_sources(receipt(), sha256("x")).outcome == Outcome::refuted);
  CHECK(check_grader(receipt(), sha256("grader")).outcome == Outcome::holds);
  CHECK(contains(check_grader(receipt(), sha256("x")).text, "version 0.1.0"));
  CHECK(check_grader(receipt(), sha256("x")).outcome == Outcome::refuted);
}

TEST_CASE("a second run confirms verdicts and inputs, and forgives other bits in the outputs") {
  CHECK(proof_of_check([](CheckTrace&) {}).outcome == Outcome::holds);
  const Proof bits = proof_of_check([](CheckTrace& seen) { seen.outputs = 5; });
  CHECK(bits.outcome == Outcome::noted);
  CHECK(contains(bits.text, "not repeated bit by bit"));
  const Proof both = proof_of_check([](CheckTrace& seen) { seen.inputs = seen.outputs = 5; });
  CHECK(both.outcome == Outcome::noted);
  CHECK(contains(both.text, "later inputs and outputs not repeated"));
  const Proof opening = proof_of_check([](CheckTrace& seen) { seen.opening = seen.outputs = 5; });
  CHECK(opening.outcome == Outcome::refuted);
  const Proof inputs = proof_of_check([](CheckTrace& seen) { seen.inputs = 5; });
  CHECK(inputs.outcome == Outcome::refuted);
  CHECK(contains(inputs.text, "other inputs came from the same seed"));
  CHECK(proof_of_check([](CheckTrace& seen) { seen.calls = 4; }).outcome == Outcome::refuted);
  const Proof verdict = proof_of_check([](CheckTrace& seen) { seen.verdict = Verdict::wrong; });
  CHECK(verdict.outcome == Outcome::refuted);
  CHECK(contains(verdict.text, "was passed, is now wrong with the same seed"));
}

TEST_CASE("a verdict that blames the moment leaves the question open") {
  for (const Verdict verdict : {Verdict::timed_out, Verdict::unmeasured, Verdict::broken})
    CHECK(proof_of_check([&](CheckTrace& seen) { seen.verdict = verdict; }).outcome ==
          Outcome::open);
}

TEST_CASE("which checks depend on the clock is for the second run to say") {
  const auto outcome = [](bool then, bool now) {
    Receipt claimed = receipt();
    Receipt seen = claimed;
    claimed.closing->checks[0].timed = then;
    seen.closing->checks[0].timed = now;
    seen.closing->checks[0].outputs = 99;
    return compare_runs(claimed, seen).at(1).outcome;
  };
  CHECK(outcome(true, true) == Outcome::noted);
  CHECK(outcome(false, true) == Outcome::noted);
  CHECK(outcome(true, false) == Outcome::refuted);
}

TEST_CASE("another library refutes, unless another compiler or machine built it") {
  const Receipt claimed = receipt();
  Receipt seen = claimed;
  seen.library = sha256("other");
  CHECK(compare_runs(claimed, seen).at(0).outcome == Outcome::refuted);
  seen.cpu = "another CPU";
  CHECK(compare_runs(claimed, seen).at(0).outcome == Outcome::noted);
}

TEST_CASE("a receipt that names other checks than the grader asks is refuted") {
  const Receipt claimed = receipt();
  Receipt seen = claimed;
  seen.closing->checks.pop_back();
  CHECK(worst_of(compare_runs(claimed, seen)) == Outcome::refuted);
}
