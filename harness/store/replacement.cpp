// SPDX-License-Identifier: Apache-2.0
#include "harness/store/replacement.h"

#include <algorithm>

#include "harness/core/digest.h"
#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/store/json_fields.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kKeepingSchema = "gauntlet.keeping/1";

struct Keeping {
  std::string observation;
  LedgerEntry entry;
};

std::string to_json(const Keeping& keeping) {
  return json_text({{"schema", kKeepingSchema},
                    {"observation", keeping.observation},
                    {"entry", Json::parse(ledger_line(keeping.entry))}});
}

Keeping keeping_from(const fs::path& file) {
  const Json document = parsed_json(read_file(file, kResultFile), file.string());
  const auto in = JsonFields::of_document(document, file.string(), kKeepingSchema);
  const std::string observation = in.text("observation");
  return {observation, ledger_entry(json_line(document["entry"]), file.string())};
}

/// Whether the result that was to be kept is there whole. Its receipt is the last file that is
/// written; the process that makes one may have died, and then there must be none.
bool was_kept(const ResultStore& store, const CellKey& key, const Keeping& keeping) {
  const fs::path observation = store.observation_file(key);
  if (!fs::exists(observation) ||
      sha256(read_file(observation, kResultFile)) != keeping.observation)
    return false;
  const auto receipt = store.load_receipt(key);
  if (!receipt) return !fs::exists(store.opened_file(key));
  return receipt->closing && receipt->closing->observation == keeping.observation;
}

}  // namespace

Replacement::Replacement(const ResultStore& store, CellKey key)
    : store_(store), key_(std::move(key)) {
  const fs::path opened = store_.opened_file(key_);
  sweep_temporaries(opened.parent_path(), {"observation.json", "score.json", "receipt.json",
                                           "opened.json", "keeping.json"});
  try {
    if (fs::exists(store_.keeping_file(key_))) settle();
    if (fs::exists(opened) && store_.has_ended(key_)) fs::remove(opened);
  } catch (const UserError&) {
    // Unreadable files vouch for nothing: the cell is graded again, and they are replaced.
  }
}

void Replacement::settle() {
  const Keeping keeping = keeping_from(store_.keeping_file(key_));
  if (!was_kept(store_, key_, keeping)) {
    interrupted_ = keeping.entry;
    return;
  }
  // The process may have been killed when the line was there already.
  const auto known = load_ledger(store_.ledger_file());
  if (std::find(known.begin(), known.end(), keeping.entry) == known.end()) enter(keeping.entry);
  fs::remove(store_.keeping_file(key_));
}

void Replacement::begin(const std::string& observation, const LedgerEntry& entry) const {
  write_file(store_.keeping_file(key_), to_json(Keeping{observation, entry}));
}

/// The ledger is not read: what was begun just now has no line, and the ledger may be long.
void Replacement::end() const {
  enter(keeping_from(store_.keeping_file(key_)).entry);
  fs::remove(store_.keeping_file(key_));
}

void Replacement::enter(const LedgerEntry& entry) const {
  if (!entry.before.empty()) append_to_ledger(store_.ledger_file(), {entry});
}

}  // namespace gauntlet
