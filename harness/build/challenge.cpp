// SPDX-License-Identifier: Apache-2.0
#include "harness/build/challenge.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <stdexcept>

#include "harness/core/cell_key.h"
#include "harness/core/digest.h"
#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/text.h"
#include "harness/core/yaml.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

bool is_c_name(const std::string& word) {
  const auto letter = [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
  };
  const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  return !word.empty() && letter(word[0]) &&
         std::all_of(word.begin(), word.end(), [&](char c) { return letter(c) || digit(c); });
}

void read_exports(YamlFields& fields, Challenge& challenge) {
  challenge.exports = fields.texts("exports");
  if (challenge.exports.empty()) fields.refuse("exports", "must name at least one function");
  for (const auto& name : challenge.exports)
    if (!is_c_name(name)) fields.refuse("exports", fmt::format("'{}' is no C function name", name));
}

void read_limits(YamlFields fields, Challenge& challenge) {
  if (fields.has("call_seconds")) challenge.call_seconds = fields.number("call_seconds");
  if (fields.has("check_seconds")) challenge.check_seconds = fields.number("check_seconds");
  if (fields.has("cell_seconds")) challenge.cell_seconds = fields.number("cell_seconds");
  if (fields.has("memory_mib")) challenge.memory_mib = fields.integer("memory_mib");
  if (fields.has("arena_mib")) challenge.arena_mib = fields.integer("arena_mib");
  if (!(challenge.call_seconds > 0)) fields.refuse("call_seconds", "must be more than 0");
  if (!(challenge.check_seconds >= challenge.call_seconds))
    fields.refuse("check_seconds",
                  fmt::format("must leave time for a call: {:g} or more", challenge.call_seconds));
  if (!(challenge.cell_seconds >= challenge.check_seconds))
    fields.refuse("cell_seconds", fmt::format("must leave time for a check: {:g} or more",
                                              challenge.check_seconds));
  if (challenge.memory_mib < 1) fields.refuse("memory_mib", "must be 1 or more");
  if (challenge.arena_mib < 1) fields.refuse("arena_mib", "must be 1 or more");
  fields.refuse_unknown();
}

void read_devices(YamlFields& fields, Challenge& challenge) {
  if (!fields.has("devices")) return;
  challenge.devices.clear();
  for (const std::string& word : fields.texts("devices")) try {
      challenge.devices.push_back(device_named(word));
    } catch (const std::invalid_argument& error) {
      fields.refuse("devices", error.what());
    }
  if (challenge.devices.empty()) fields.refuse("devices", "must name at least one device");
}

/// `sizes` maps each further size to the limits in which it differs.
void read_sizes(YamlFields& fields, Challenge& challenge) {
  if (fields.has("sizes")) {
    YamlFields sizes = fields.fields("sizes");
    challenge.sizes = sizes.keys();
    for (const auto& name : challenge.sizes) {
      Challenge other;
      Challenge& at_size = name == challenge.size ? challenge : other;
      read_limits(sizes.fields(name), at_size);
    }
    sizes.refuse_unknown();
  }
  const auto& known = challenge.sizes;
  if (!challenge.size.empty() &&
      std::find(known.begin(), known.end(), challenge.size) == known.end())
    throw UserError(
        fmt::format("{} has no size '{}'{}; known: {}", challenge.id, printable(challenge.size, 80),
                    did_you_mean(challenge.size, known),
                    known.empty() ? "none but the standard one" : sentence_list(known)));
}

}  // namespace

bool Challenge::is_graded_on(Device device) const {
  return std::find(devices.begin(), devices.end(), device) != devices.end();
}

std::string Challenge::why_not_on(Device device) const {
  if (is_graded_on(device)) return "";
  std::vector<std::string> known;
  for (const Device one : devices) known.emplace_back(name_of(one));
  return fmt::format("{} is graded on {} only, not on {}", id, sentence_list(known),
                     name_of(device));
}

std::string Challenge::prompt(Device device) const {
  if (device == Device::cpu) return read_file(folder / "PROMPT.md");
  const std::string word(name_of(device));
  return read_file(folder / ("PROMPT." + word + ".md")) + "\n" +
         read_file(folder.parent_path() / (word + ".md"));
}

std::string Challenge::prompt_digest(Device device) const {
  return Digest()
      .add("PROMPT.md", prompt(device))
      .add("contract.h", read_file(folder / "contract.h"))
      .hex();
}

std::string Challenge::contract_digest() const {
  return sha256(read_file(folder / "contract.h"));
}

std::string Challenge::entry() const {
  return size.empty() ? id : id + "." + size;
}

Challenge load_challenge(const fs::path& root, const std::string& entry) {
  const CellKey asked = CellKey::of("", entry);
  const std::string& id = asked.challenge;
  const std::vector<std::string> known = challenge_ids(root);
  if (std::find(known.begin(), known.end(), id) == known.end())
    throw UserError(fmt::format("no challenge '{}'{}; known: {}", printable(id, 80),
                                did_you_mean(id, known), sentence_list(known)));
  Challenge challenge;
  challenge.id = id;
  challenge.size = asked.size;
  challenge.folder = root / "challenges" / id;
  YamlFields fields = YamlFields::of_text(read_file(challenge.folder / "challenge.yaml"),
                                          fmt::format("challenges/{}/challenge.yaml", id));
  challenge.title = fields.text("title");
  challenge.difficulty = fields.text("difficulty");
  challenge.round = static_cast<int>(fields.integer("round"));
  if (challenge.round < 1) fields.refuse("round", "must be 1 or more");
  read_exports(fields, challenge);
  if (fields.has("limits")) read_limits(fields.fields("limits"), challenge);
  read_sizes(fields, challenge);
  read_devices(fields, challenge);
  fields.refuse_unknown();
  return challenge;
}

std::vector<std::string> challenge_ids(const fs::path& root) {
  std::vector<std::string> ids;
  const fs::path folder = root / "challenges";
  if (!fs::is_directory(folder))
    throw UserError(
        fmt::format("{} is no folder: {} is no Gauntlet checkout", folder.string(), root.string()));
  for (const auto& entry : fs::directory_iterator(folder))
    if (fs::is_regular_file(entry.path() / "challenge.yaml"))
      ids.push_back(entry.path().filename().string());
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace gauntlet
