// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <set>

#include "harness/build/challenge.h"
#include "harness/build/toolchain.h"
#include "harness/cli/exit_codes.h"
#include "harness/cli/verbs.h"
#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/names.h"
#include "harness/core/text.h"
#include "harness/run/submissions.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

ModelCard blank_model_card(const std::string& model, const std::string& prompts) {
  const std::string unknown(kUnknown);
  return {model, unknown, unknown, prompts, unknown, unknown, unknown, unknown, unknown, unknown};
}

/// Compiles, exports nothing and says what to write. A model's answer replaces it.
std::string stub(const Challenge& challenge) {
  return fmt::format(
      "// {}: see PROMPT.md. Define, as contract.h declares them: {}.\n"
      "#include \"contract.h\"\n",
      challenge.title, sentence_list(challenge.exports));
}

void write_challenge(const Challenge& challenge, Device device, const fs::path& folder) {
  write_file(folder / "PROMPT.md", challenge.prompt(device));
  write_file(folder / "contract.h", read_file(challenge.folder / "contract.h"));
  write_file(folder / toolchain(device).first_file, stub(challenge));
}

/// The cells that the new submission is to have: those that were asked for, by device and then by
/// challenge, where one of these is graded on one of those.
std::vector<CellKey> chosen_cells(const Context& context, const NewOptions& options,
                                  const std::vector<Device>& devices) {
  const std::vector<std::string> known = context.challenges();
  for (const std::string& id : options.challenges) require_challenge(id, known);
  std::vector<CellKey> chosen;
  for (const std::string& id : options.challenges.empty() ? known : options.challenges) {
    const Challenge challenge = load_challenge(context.root(), id);
    const std::size_t before = chosen.size();
    for (const Device device : devices)
      if (challenge.is_graded_on(device)) chosen.push_back({options.model, id, "", device});
    if (chosen.size() == before && !options.challenges.empty())
      throw UserError(challenge.why_not_on(devices.front()));
  }
  return chosen;
}

std::vector<std::string> first_files(const std::vector<Device>& devices) {
  std::vector<std::string> names;
  for (const Device device : devices) names.emplace_back(toolchain(device).first_file);
  return names;
}

}  // namespace

VerbResult new_submission(const Context& context, const NewOptions& options) {
  if (const std::string why = why_not_called(options.model); !why.empty()) throw UserError(why);
  const fs::path folder = context.workspace / "submissions" / options.model;
  if (fs::exists(folder))
    throw UserError(fmt::format("{} exists already; nothing was changed", folder.string()));
  std::set<Device> devices;
  for (const std::string& word : options.devices) devices.insert(device_named(word));
  const std::vector<Device> ordered(devices.begin(), devices.end());
  const std::vector<CellKey> chosen = chosen_cells(context, options, ordered);
  write_file(folder / "model.yaml", model_card_to_yaml(blank_model_card(
                                        options.model, prompts_digest(context.root(), ordered))));
  std::vector<std::string> folders;
  for (const CellKey& key : chosen) {
    // One solution needs no device in its folder's name.
    const bool beside = contains(folders, key.challenge);
    folders.push_back(beside ? key.entry() : key.challenge);
    write_challenge(load_challenge(context.root(), key.challenge), key.device,
                    folder / folders.back());
  }

  VerbResult answer;
  answer.text = fmt::format(
      "Wrote {} with {}.\nGive each PROMPT.md to the model, put its answer into {} ({}its claims "
      "on "
      "speed and memory into claims.yaml) beside it, fill in model.yaml, then:\n  ./gauntlet grade "
      "submissions/{}\n",
      folder.string(), sentence_list(folders), sentence_list(first_files(ordered)),
      devices.contains(Device::cpu) ? "its tests into tests.cpp, " : "", options.model);
  answer.document = {{"schema", "gauntlet.new/1"},
                     {"submission", options.model},
                     {"folder", folder.string()},
                     {"challenges", Json(folders)}};
  return answer;
}

}  // namespace gauntlet
