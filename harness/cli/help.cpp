// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/help.h"

#include <fmt/format.h>

#include "harness/cli/exit_codes.h"
#include "harness/cli/installation.h"
#include "harness/cli/man_page.h"
#include "harness/core/error.h"
#include "harness/core/text.h"

namespace gauntlet {

std::vector<std::string> verb_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands({})) names.push_back(verb->get_name());
  return names;
}

std::string help_on(CLI::App& app, const std::vector<std::string>& topic, const Program& program) {
  if (topic.empty()) return app.help();
  const std::string& asked = topic.front();
  if (asked == "exit-codes") return exit_codes_text();
  if (asked == "files") return files_text();
  if (asked == "environment") return environment_text();
  if (asked == "man-page") return man_page(app, program.released);
  std::vector<std::string> known = verb_names(app);
  known.insert(known.end(), kHelpTopics.begin(), kHelpTopics.end());
  if (!contains(known, asked))
    throw UserError(fmt::format("no help on '{}'{}; topics: {}", printable(asked, 80),
                                did_you_mean(asked, known), sentence_list(known)));
  return app.get_subcommand(asked)->help("./gauntlet");
}

}  // namespace gauntlet
