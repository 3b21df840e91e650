// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "harness/build/challenge.h"
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

ModelCard blank_model_card(const Context& context, const std::string& model) {
  const std::string unknown(kUnknown);
  return {model,   unknown, unknown, prompts_digest(context.root()), unknown, unknown, unknown,
          unknown, unknown, unknown};
}

/// Compiles, exports nothing and says what to write. A model's answer replaces it.
std::string stub(const Challenge& challenge) {
  return fmt::format(
      "// {}: see PROMPT.md. Define, as contract.h declares them: {}.\n"
      "#include \"contract.h\"\n",
      challenge.title, sentence_list(challenge.exports));
}

void write_challenge(const Challenge& challenge, const fs::path& folder) {
  write_file(folder / "PROMPT.md", read_file(challenge.folder / "PROMPT.md"));
  write_file(folder / "contract.h", read_file(challenge.folder / "contract.h"));
  write_file(folder / "solution.cpp", stub(challenge));
}

}  // namespace

VerbResult new_submission(const Context& context, const NewOptions& options) {
  if (const std::string why = why_not_called(options.model); !why.empty()) throw UserError(why);
  const fs::path folder = context.workspace / "submissions" / options.model;
  if (fs::exists(folder))
    throw UserError(fmt::format("{} exists already; nothing was changed", folder.string()));
  const auto known = context.challenges();
  for (const auto& id : options.challenges) require_challenge(id, known);
  const auto& chosen = options.challenges.empty() ? known : options.challenges;
  write_file(folder / "model.yaml", model_card_to_yaml(blank_model_card(context, options.model)));
  for (const auto& id : chosen) write_challenge(load_challenge(context.root(), id), folder / id);

  VerbResult answer;
  answer.text = fmt::format(
      "Wrote {} with {}.\nGive each PROMPT.md to the model, put its answer into solution.cpp (its "
      "tests into tests.cpp, its claims on speed and memory into claims.yaml) beside it, fill in "
      "model.yaml, then:\n  ./gauntlet grade submissions/{}\n",
      folder.string(), sentence_list(chosen), options.model);
  answer.document = {{"schema", "gauntlet.new/1"},
                     {"submission", options.model},
                     {"folder", folder.string()},
                     {"challenges", Json(chosen)}};
  return answer;
}

}  // namespace gauntlet
