// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "harness/cli/verbs.h"
#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/text.h"
#include "harness/export/harbor.h"
#include "harness/run/submissions.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

HarborTerms terms_of(const Context& context, const ExportOptions& options) {
  HarborTerms terms;
  terms.version = context.environment.version;
  terms.image = options.image.empty() ? "gauntlet:" + terms.version : options.image;
  terms.program = options.program;
  terms.speed = options.speed;
  terms.weaker_sandbox = options.weaker_sandbox;
  terms.agent_seconds = options.agent_seconds;
  if (const std::string why = why_no_image(terms.image); !why.empty())
    throw UserError(fmt::format("--image {}: {}", one_line(terms.image, 80), why));
  if (const std::string why = why_no_program(terms.program); !why.empty())
    throw UserError(fmt::format("--program {}: {}", one_line(terms.program, 80), why));
  return terms;
}

/// Loaded before anything is written, so that a word that is none leaves no half of an export.
std::vector<Challenge> chosen_challenges(const Context& context, const ExportOptions& options) {
  const auto known = context.challenges();
  std::vector<Challenge> chosen;
  for (const auto& word : options.challenges.empty() ? known : options.challenges) {
    const CellKey key = CellKey::of("", word);
    require_challenge(key.challenge, known);
    if (key.device != Device::cpu)
      throw UserError(fmt::format("-c {}: tasks for {} cannot be exported yet; name {} instead",
                                  printable(word, 80), name_of(key.device), key.column()));
    chosen.push_back(load_challenge(context.root(), key.column()));
  }
  return chosen;
}

void write_task(const fs::path& folder, const std::vector<TaskFile>& files) {
  for (const TaskFile& file : files) {
    write_file(folder / file.path, file.content);
    if (file.program)
      fs::permissions(folder / file.path,
                      fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                      fs::perm_options::add);
  }
}

std::string in_words(const fs::path& folder, const std::vector<std::string>& names,
                     const HarborTerms& terms, bool solutions) {
  return fmt::format(
      "Wrote {} to {}: {}.\nTheir verifiers are built from the image {}, which has Gauntlet at "
      "{}; build or pull it first, then:\n  harbor run -p {} -a {}\n",
      names.size() == 1 ? "one task" : fmt::format("{} tasks", names.size()),
      one_line(folder.string(), 400), sentence_list(names), terms.image, terms.program,
      one_line(folder.string(), 400), solutions ? "oracle" : "AGENT -m MODEL");
}

}  // namespace

VerbResult export_tasks(const Context& context, const ExportOptions& options) {
  const std::vector<std::string> formats{"harbor"};
  if (!contains(formats, options.format))
    throw UserError(fmt::format("cannot export to '{}'{}; known: {}", printable(options.format, 80),
                                did_you_mean(options.format, formats), sentence_list(formats)));
  const std::vector<Challenge> challenges = chosen_challenges(context, options);
  HarborTerms terms = terms_of(context, options);
  const fs::path folder = fs::absolute(options.folder);
  for (const Challenge& challenge : challenges)
    if (fs::exists(fs::symlink_status(folder / challenge.entry())))
      throw UserError(fmt::format(
          "{} exists already and nothing was written; name another folder or remove it first",
          one_line((folder / challenge.entry()).string(), 400)));

  VerbResult answer;
  answer.document = {
      {"schema", "gauntlet.export/1"}, {"format", options.format}, {"folder", folder.string()},
      {"image", terms.image},          {"tasks", Json::array()},
  };
  std::vector<std::string> names;
  for (const Challenge& challenge : challenges) {
    // What nobody could foresee, not even with the sources of this program.
    terms.token = Seed::fresh().text();
    terms.grader_digest = grader_for(challenge.id).digest(Device::cpu);
    SolutionSource reference;
    if (options.solutions) {
      reference = read_solution(context.root() / "reference" / challenge.id);
      terms.oracle = &reference;
    }
    write_task(folder / challenge.entry(), harbor_task(challenge, terms));
    terms.oracle = nullptr;
    names.push_back(challenge.entry());
    answer.document["tasks"].push_back({{"name", "gauntlet/" + challenge.entry()},
                                        {"challenge", challenge.entry()},
                                        {"device", name_of(Device::cpu)},
                                        {"folder", (folder / challenge.entry()).string()}});
  }
  answer.text = in_words(folder, names, terms, options.solutions);
  return answer;
}

}  // namespace gauntlet
