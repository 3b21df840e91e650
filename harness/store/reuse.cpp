// SPDX-License-Identifier: Apache-2.0
#include "harness/store/reuse.h"

#include <fmt/format.h>
#include <sstream>

#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/machine.h"
#include "harness/core/text.h"
#include "harness/store/observation_json.h"
#include "harness/store/receipt_check.h"

namespace gauntlet {
namespace {

/// "the grader changed: 9c1e0f22 -> 77b04d10"; digests are cut, they only have to look different.
std::string changed(std::string_view what, std::string_view from, std::string_view to,
                    std::size_t shown = std::string_view::npos) {
  return fmt::format("{} changed: {} -> {}", what, from.substr(0, shown), to.substr(0, shown));
}

constexpr std::size_t kShownDigest = 8;

bool may_differ_next_time(Verdict verdict) {
  return verdict == Verdict::broken || verdict == Verdict::unmeasured ||
         verdict == Verdict::timed_out;
}

/// The walls that hold now and did not then: "landlock+uid". Both are given as a tier's name.
std::string walls_missing(const std::string& then, const std::string& now) {
  const auto walls = [](const std::string& tier) {
    std::vector<std::string> names;
    std::istringstream words(tier);
    for (std::string wall; std::getline(words, wall, '+');) names.push_back(wall);
    return names;
  };
  const std::vector<std::string> held = walls(then);
  std::string missing;
  for (const std::string& wall : walls(now))
    if (!contains(held, wall)) missing += (missing.empty() ? "" : "+") + wall;
  return missing;
}

/// Why the receipt, if there is one, does not vouch for the stored observation.
std::optional<std::string> why_not_vouched(const ResultStore& store, const CellKey& key) {
  const auto stored = store.load_receipt(key);
  if (!stored) return "its stored grade has no receipt, so that anybody may have written it";
  const Receipt& receipt = *stored;
  const std::string text = read_file(store.observation_file(key), kResultFile);
  if (!receipt.closing) return "its receipt is of a run that never ended";
  for (const Proof& proof : {check_commitment(receipt, ""), check_closing(receipt, "", false),
                             check_observation(receipt, text, "the stored observation")})
    if (proof.outcome == Proof::Outcome::refuted)
      return fmt::format("its receipt does not fit: {}: {}", proof.what, proof.text);
  return std::nullopt;
}

}  // namespace

std::optional<ProvenCell> load_proven(const ResultStore& store, const CellKey& key,
                                      std::string& why_not) {
  namespace fs = std::filesystem;
  try {
    const auto cell = store.load(key);
    if (const auto opened = store.opened_file(key); fs::exists(opened)) {
      why_not = fmt::format(
          "a run of it was begun and did not end, so that what is stored is not used again ({})",
          opened.string());
      return std::nullopt;
    }
    if (!cell) {
      why_not = "not graded before";
      return std::nullopt;
    }
    if (auto reason = why_not_vouched(store, key)) {
      why_not = *std::move(reason);
      return std::nullopt;
    }
    return ProvenCell{*cell, store.load_receipt(key)->seed_drawn};
  } catch (const UserError& error) {
    why_not = error.what();
    return std::nullopt;
  }
}

std::vector<CellObservation> load_all_marked(const ResultStore& store,
                                             const ResultStore::Wanted& wanted) {
  std::vector<CellObservation> cells = store.load_all(wanted);
  for (CellObservation& cell : cells) try {
      cell.unproven = why_not_vouched(store, cell.key).value_or("");
    } catch (const UserError& error) {
      cell.unproven = error.what();
    }
  return cells;
}

std::optional<std::string> why_not_reusable(const ProvenCell& proven, const ReuseKey& wanted) {
  const CellObservation& stored = proven.observation;
  for (const auto& check : stored.checks)
    if (may_differ_next_time(check.verdict))
      return fmt::format("check {} was {} last time", check.info.id, name_of(check.verdict));
  if (stored.build.stopped) return "the compiler ran into a limit last time";
  if (stored.build.ok && stored.checks.empty()) return "no check ran last time";
  const Provenance& seen = stored.provenance;
  if (seen.started > utc_now())
    return fmt::format("it says that it began at {}, which lies ahead of this machine's clock",
                       one_line(seen.started, 40));
  if (stored.key.device != wanted.device)
    return changed("the device", name_of(stored.key.device), name_of(wanted.device));
  if (seen.submission_digest != wanted.submission_digest)
    return changed("the submission", seen.submission_digest, wanted.submission_digest,
                   kShownDigest);
  if (seen.grader_digest != wanted.grader_digest)
    return changed("the grader", seen.grader_digest, wanted.grader_digest, kShownDigest);
  if (stored.build.compiler != wanted.compiler)
    return changed("the compiler", stored.build.compiler, wanted.compiler);
  if (stored.build.flags != wanted.flags)
    return changed("the compiler's flags", stored.build.flags, wanted.flags);
  if (wanted.constraint && seen.constraint != *wanted.constraint)
    return fmt::format("the constraint on nodes changed: '{}' -> '{}'",
                       one_line(seen.constraint, 80), one_line(*wanted.constraint, 80));
  if (!wanted.constraint && seen.cpu != wanted.cpu) return changed("the CPU", seen.cpu, wanted.cpu);
  if (!wanted.constraint && seen.cores != wanted.cores)
    return fmt::format("the number of cores changed: {} -> {}", seen.cores, wanted.cores);
  if (wanted.seed && *wanted.seed != stored.seed)
    return changed("the seed", stored.seed.text(), wanted.seed->text());
  if (!wanted.seed && !proven.seed_drawn)
    return fmt::format("its seed was chosen (--seed {}), and this run draws one",
                       stored.seed.text());
  if (const std::string missing = walls_missing(seen.sandbox, wanted.sandbox); !missing.empty())
    return fmt::format("it was made in a weaker sandbox, without {}", missing);
  return std::nullopt;
}

}  // namespace gauntlet
