// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/option_parts.h"

namespace gauntlet {

CLI::Validator not_empty() {
  return {[](const std::string& word) {
            return word.empty() ? std::string("is empty; give a value or leave the option away")
                                : "";
          },
          ""};
}

CLI::App& add_verb(CLI::App& app, const std::string& name, const std::string& what,
                   const std::string& example) {
  CLI::App& verb = *app.add_subcommand(name, what);
  verb.footer("Example: ./gauntlet " + example +
              "\nOptions of all verbs (--seed, --jobs, --json, --results ...): ./gauntlet --help");
  verb.fallthrough();
  return verb;
}

}  // namespace gauntlet
