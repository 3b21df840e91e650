// SPDX-License-Identifier: Apache-2.0
#include "harness/store/reuse.h"

#include <chrono>
#include <fmt/format.h>
#include <sstream>
#include <thread>

#include "harness/core/error.h"
#include "harness/core/file_lock.h"
#include "harness/core/files.h"
#include "harness/core/machine.h"
#include "harness/core/text.h"
#include "harness/store/observation_json.h"
#include "harness/store/receipt_check.h"

namespace gauntlet {
namespace {

constexpr std::string_view kDrawn = "drawn";  // a seed that nobody chose

/// No GPU comes between two runs: this program knows none.
bool may_differ_next_time(const CheckObservation& check) {
  const bool without_gpu = check.finding && check.finding->summary == kNoGpu;
  return check.verdict == Verdict::broken || check.verdict == Verdict::timed_out ||
         (check.verdict == Verdict::unmeasured && !without_gpu);
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

/// What people call a field of an observation's key.
std::string called(const std::string& field) {
  if (field == "cpu") return "the CPU";
  if (field == "cores") return "the number of cores";
  if (field == "flags") return "the compiler's flags";
  return field.starts_with("file ") ? field : "the " + field;
}

std::string in_words(const KeyChange& change, const ReuseKey& wanted) {
  if (change.field == "seed" && change.after == kDrawn)
    return fmt::format("its seed was chosen (--seed {}), and this run draws one", change.before);
  if (change.field == "sandbox")
    return fmt::format("it was made in a weaker sandbox, without {}",
                       walls_missing(change.before, wanted.sandbox));
  return sentence_of(change, called(change.field));
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

std::optional<CellObservation> load_marked(const ResultStore& store, const CellKey& key) {
  auto cell = store.load(key);
  if (!cell) return cell;
  try {
    cell->unproven = why_not_vouched(store, key).value_or("");
  } catch (const UserError& error) {
    cell->unproven = error.what();
  }
  return cell;
}

/// Of a run that was begun and did not end; empty where there is none.
std::string interruption(const ResultStore& store, const CellKey& key) {
  const auto opened = store.opened_file(key);
  if (!std::filesystem::exists(opened) || store.has_ended(key)) return "";
  return fmt::format(
      "a run of it was begun and did not end, so that what is stored is not used again ({})",
      opened.string());
}

/// Whether nobody is replacing the cell's files. Waits for who does, which takes milliseconds.
bool is_left_alone(const ResultStore& store, const CellKey& key) {
  namespace fs = std::filesystem;
  if (!fs::exists(store.lock_file(key))) return true;
  for (int tries = 0; tries < 200 && fs::exists(store.keeping_file(key)); ++tries) {
    if (FileLock::try_now(store.lock_file(key), FileLock::Mode::shared)) return true;  // killed
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace

std::optional<ProvenCell> load_proven(const ResultStore& store, const CellKey& key,
                                      std::string& why_not) {
  try {
    const auto cell = store.load(key);
    const std::string interrupted = interruption(store, key);
    const auto reason =
        cell ? why_not_vouched(store, key) : std::optional<std::string>("not graded before");
    if (!reason) return ProvenCell{*cell, store.load_receipt(key)->seed_drawn, interrupted};
    why_not = interrupted.empty() ? *reason : interrupted;
    return std::nullopt;
  } catch (const UserError& error) {
    why_not = error.what();
    return std::nullopt;
  }
}

std::vector<CellObservation> load_all_marked(const ResultStore& store,
                                             const ResultStore::Wanted& wanted) {
  std::vector<CellObservation> cells;
  for (const CellKey& key : store.keys()) {
    if (wanted && !wanted(key)) continue;
    auto cell = load_marked(store, key);
    // Its files may have been replaced between one and the other.
    if (cell && !cell->unproven.empty() && !is_left_alone(store, key))
      cell = load_marked(store, key);
    if (cell) cells.push_back(*std::move(cell));
  }
  return cells;
}

CacheKey observation_key(const ReuseKey& wanted) {
  CacheKey key("observation");
  key.add("device", name_of(wanted.device)).add("submission", wanted.submission_digest);
  for (const FileDigest& file : wanted.files) key.add("file " + file.name, file.digest);
  return key.add("contract", wanted.contract_digest)
      .add("grader", wanted.grader_digest)
      .add("compiler", wanted.compiler)
      .add("flags", wanted.flags)
      .add("cpu", wanted.cpu)
      .add("cores", std::to_string(wanted.cores))
      .add("seed", wanted.seed ? wanted.seed->text() : std::string(kDrawn))
      .add("sandbox", wanted.sandbox);
}

CacheKey observation_key(const ProvenCell& stored, const ReuseKey& wanted) {
  const CellObservation& cell = stored.observation;
  const Provenance& seen = cell.provenance;
  const bool same_seed = wanted.seed ? *wanted.seed == cell.seed : stored.seed_drawn;
  return observation_key(
      {seen.submission_digest, seen.grader_digest, cell.build.compiler, cell.build.flags, seen.cpu,
       seen.cores, same_seed ? wanted.seed : cell.seed, cell.key.device,
       walls_missing(seen.sandbox, wanted.sandbox).empty() ? wanted.sandbox : seen.sandbox,
       seen.files, seen.contract_digest});
}

std::optional<std::string> why_not_reusable(const ProvenCell& proven, const ReuseKey& wanted) {
  const CellObservation& stored = proven.observation;
  const Provenance& seen = stored.provenance;
  for (const auto& check : stored.checks)
    if (may_differ_next_time(check))
      return fmt::format("check {} was {} last time", check.info.id, name_of(check.verdict));
  if (stored.build.stopped) return "the compiler ran into a limit last time";
  if (stored.build.ok && stored.checks.empty()) return "no check ran last time";
  if (seen.started > utc_now())
    return fmt::format("it says that it began at {}, which lies ahead of this machine's clock",
                       one_line(seen.started, 40));
  if (seen.key_format != CacheKey::kFormat)
    return fmt::format("it was kept under cache key format {}, and this version's is {}",
                       seen.key_format, CacheKey::kFormat);
  const auto differing = changes(observation_key(proven, wanted), observation_key(wanted));
  if (!differing.empty()) return in_words(differing.front(), wanted);
  if (!proven.interrupted.empty()) return proven.interrupted;
  return std::nullopt;
}

}  // namespace gauntlet
