// SPDX-License-Identifier: Apache-2.0
#include "harness/store/receipt_check.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/core/digest.h"
#include "harness/core/text.h"
#include "harness/store/json_fields.h"
#include "harness/store/observation_json.h"
#include "harness/store/receipt_signature.h"

namespace gauntlet {
namespace {

using Outcome = Proof::Outcome;

/// Digests are cut: they only have to look different.
std::string_view cut(const std::string& digest) {
  return digest.empty() ? std::string_view("nothing") : std::string_view(digest).substr(0, 12);
}

bool blames_the_moment(Verdict verdict) {
  return verdict == Verdict::timed_out || verdict == Verdict::unmeasured ||
         verdict == Verdict::broken;
}

/// What the two files say differently; empty when nothing.
std::string contradiction(const Receipt& receipt, const CellObservation& cell) {
  const auto differ = [](std::string_view what, std::string_view there, std::string_view here) {
    return fmt::format("it says {} '{}', the receipt '{}'", what, printable(there, 80),
                       printable(here, 80));
  };
  const Provenance& seen = cell.provenance;
  const CellKey& there = cell.key;
  const CellKey& here = receipt.key;
  if (there.submission != here.submission)
    return differ("submission", there.submission, here.submission);
  if (there.column() != here.column()) return differ("challenge", there.column(), here.column());
  if (there.device != here.device)
    return differ("device", name_of(there.device), name_of(here.device));
  if (there.attempt != here.attempt)
    return differ("attempt", std::to_string(there.attempt), std::to_string(here.attempt));
  if (cell.seed != receipt.closing->seed)
    return differ("seed", cell.seed.text(), receipt.closing->seed.text());
  for (const auto& [what, stored, signed_over] :
       {std::tuple{"sources", &seen.submission_digest, &receipt.sources},
        std::tuple{"grader", &seen.grader_digest, &receipt.grader},
        std::tuple{"gauntlet_version", &seen.gauntlet_version, &receipt.gauntlet_version},
        std::tuple{"compiler", &cell.build.compiler, &receipt.compiler},
        std::tuple{"cpu", &seen.cpu, &receipt.cpu},
        std::tuple{"sandbox", &seen.sandbox, &receipt.sandbox},
        std::tuple{"started", &seen.started, &receipt.started}})
    if (*stored != *signed_over) return differ(what, *stored, *signed_over);
  const auto& traces = receipt.closing->checks;
  if (cell.checks.size() != traces.size())
    return fmt::format("it has {} checks, the receipt {}", cell.checks.size(), traces.size());
  for (std::size_t i = 0; i < traces.size(); ++i)
    if (cell.checks[i].info.id != traces[i].id || cell.checks[i].verdict != traces[i].verdict)
      return fmt::format("it says check '{}' was {}, the receipt '{}' was {}",
                         printable(cell.checks[i].info.id, 80), name_of(cell.checks[i].verdict),
                         printable(traces[i].id, 80), name_of(traces[i].verdict));
  return "";
}

Proof compare_libraries(const Receipt& claimed, const Receipt& seen) {
  const std::string digests =
      fmt::format("the receipt's is {}, this one {}", cut(claimed.library), cut(seen.library));
  if (claimed.library == seen.library)
    return {"library", Outcome::holds, fmt::format("built again: {}", cut(seen.library))};
  if (claimed.compiler != seen.compiler || claimed.cpu != seen.cpu)
    return {"library", Outcome::noted,
            fmt::format("another compiler or CPU builds another library: {}; same {} and {} wanted",
                        digests, printable(claimed.compiler, 80), printable(claimed.cpu, 80))};
  return {"library", Outcome::refuted,
          fmt::format("the same sources and compiler give another library: {}; what was graded was "
                      "not built from these files",
                      digests)};
}

Proof compare_verdicts(const CheckTrace& claimed, const CheckTrace& seen) {
  const std::string what = "check " + seen.id;
  const std::string both =
      fmt::format("was {}, is now {}", name_of(claimed.verdict), name_of(seen.verdict));
  if (blames_the_moment(claimed.verdict) || blames_the_moment(seen.verdict))
    return {what, Outcome::open,
            both +
                "; such verdicts blame the machine or the moment: verify again when nothing "
                "else runs, or grade again"};
  return {
      what, Outcome::refuted,
      both + " with the same seed; grade again, and where the solution wavers by itself, say so"};
}

Proof compare_checks(const CheckTrace& claimed, const CheckTrace& seen) {
  const std::string what = "check " + seen.id;
  // Which checks depend on the clock is for this run to say, not for the receipt.
  if (seen.timed) return {what, Outcome::noted, "goes by the clock: not compared"};
  if (claimed.verdict != seen.verdict) return compare_verdicts(claimed, seen);
  if (claimed.timed) return {what, Outcome::refuted, "the receipt calls it timed, which it is not"};
  const bool same_inputs = claimed.inputs == seen.inputs && claimed.calls == seen.calls;
  const bool same_outputs = claimed.outputs == seen.outputs;
  if (claimed.opening != seen.opening || (!same_inputs && same_outputs))
    return {what, Outcome::refuted,
            fmt::format("other inputs came from the same seed: {} in {} calls, the receipt says {} "
                        "in {}; its cases are not those of this grader and seed",
                        hex_number(seen.inputs), seen.calls, hex_number(claimed.inputs),
                        claimed.calls)};
  if (!same_outputs)
    return {what, Outcome::noted,
            same_inputs
                ? "same verdict and inputs, outputs not repeated bit by bit: threads may add "
                  "in another order"
                : "same verdict, later inputs and outputs not repeated: they may follow from "
                  "earlier outputs or from times"};
  // Checks of the build and of the submission's own tests put no calls to the solution.
  return {what, Outcome::holds,
          seen.calls == 0 ? "same verdict again" : "same verdict, inputs and outputs again"};
}

}  // namespace

std::string_view name_of(Proof::Outcome outcome) {
  switch (outcome) {
    case Outcome::holds:
      return "holds";
    case Outcome::noted:
      return "noted";
    case Outcome::unconfirmed:
      return "unconfirmed";
    case Outcome::open:
      return "open";
    case Outcome::refuted:
      return "refuted";
  }
  return "refuted";
}

Proof::Outcome worst_of(const std::vector<Proof>& proofs) {
  Outcome worst = Outcome::holds;
  for (const Proof& proof : proofs) worst = std::max(worst, proof.outcome);
  return worst;
}

Proof check_commitment(const Receipt& receipt, const std::string& printed) {
  const std::string what = "commitment";
  if (!printed.empty() && printed != receipt.commitment)
    return {what, Outcome::refuted,
            fmt::format("{} was printed when the run began, the receipt says {}: this is another "
                        "run's receipt",
                        printable(printed, 80), receipt.commitment)};
  const std::string opened = commitment_to(receipt, receipt.closing->seed, receipt.closing->nonce);
  if (opened != receipt.commitment)
    return {
        what, Outcome::refuted,
        fmt::format("the receipt says {}, but its seed, nonce, sources, library and grader give "
                    "{}: one of them was chosen or changed after the commitment; grade again",
                    receipt.commitment, opened)};
  return {what, Outcome::holds,
          fmt::format("{}{}", receipt.commitment,
                      receipt.seed_drawn ? "" : "; its seed was not drawn but chosen (--seed)")};
}

Proof check_closing(const Receipt& receipt, const std::string& printed, bool commitment_kept) {
  const std::string what = "closing";
  const std::string digest = closing_digest(receipt);
  if (!printed.empty() && printed != digest)
    return {what, Outcome::refuted,
            fmt::format("{} was printed when the run ended, the receipt gives {}: it was edited "
                        "since, or is another run's; take it from where it was published",
                        printable(printed, 80), digest)};
  if (!is_signed(digest, receipt.signer, receipt.closing->signature))
    return {
        what, Outcome::refuted,
        fmt::format("{} was not signed by the run that made the commitment: verdicts, traces or "
                    "the observation were edited after it ended; take the receipt from where "
                    "it was published, or grade again",
                    digest)};
  if (printed.empty() && !commitment_kept)
    return {what, Outcome::noted,
            "signed, but by whom? A receipt that was made anew later, with other numbers, looks "
            "the same; only who kept a printed digest can tell: --commitment or --closing"};
  return {what, Outcome::holds, digest};
}

Proof check_observation(const Receipt& receipt, const std::string& text,
                        const std::string& shown_name) {
  const std::string what = "observation";
  if (const std::string digest = sha256(text); digest != receipt.closing->observation)
    return {what, Outcome::refuted,
            fmt::format("{} is not the one that the receipt was closed over: its SHA-256 is {}, "
                        "wanted {}; it was edited or is of another run: grade again",
                        shown_name, cut(digest), cut(receipt.closing->observation))};
  const std::string differs = contradiction(receipt, observation_from_json(text, shown_name));
  if (!differs.empty())
    return {what, Outcome::refuted,
            fmt::format("{} contradicts the receipt: {}; one of them was edited: grade again",
                        shown_name, differs)};
  return {what, Outcome::holds, shown_name};
}

Proof check_sources(const Receipt& receipt, const std::string& digest) {
  if (digest == receipt.sources) return {"sources", Outcome::holds, std::string(cut(digest))};
  return {"sources", Outcome::refuted,
          fmt::format("the solution changed after it was graded: SHA-256 {}, wanted {}; put the "
                      "graded files back, or grade again",
                      cut(digest), cut(receipt.sources))};
}

Proof check_grader(const Receipt& receipt, const std::string& digest) {
  if (digest == receipt.grader) return {"grader", Outcome::holds, std::string(cut(digest))};
  return {"grader", Outcome::refuted,
          fmt::format("this grader is another one: SHA-256 {}, wanted {}; verify with the gauntlet "
                      "that graded (version {}), or grade again",
                      cut(digest), cut(receipt.grader), printable(receipt.gauntlet_version, 40))};
}

std::vector<Proof> compare_runs(const Receipt& claimed, const Receipt& seen) {
  std::vector<Proof> proofs{compare_libraries(claimed, seen)};
  const auto& before = claimed.closing->checks;
  const auto& now = seen.closing->checks;
  const auto same_id = [](const CheckTrace& a, const CheckTrace& b) { return a.id == b.id; };
  if (!std::equal(before.begin(), before.end(), now.begin(), now.end(), same_id)) {
    proofs.push_back({"checks", Outcome::refuted,
                      fmt::format("the receipt names {} checks, this grader asks {}, and they are "
                                  "not the same; grade again",
                                  before.size(), now.size())});
    return proofs;
  }
  for (std::size_t i = 0; i < now.size(); ++i) proofs.push_back(compare_checks(before[i], now[i]));
  return proofs;
}

}  // namespace gauntlet
