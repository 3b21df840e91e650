// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/man_page.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "harness/cli/environment.h"
#include "harness/cli/exit_codes.h"
#include "harness/cli/help.h"
#include "tests/support/text.h"

using namespace gauntlet;

namespace {

std::string page() {
  CommandLineOptions options;
  CLI::App app;
  describe_command_line(app, options);
  return man_page(app, "November 24, 2026");
}

}  // namespace

TEST_CASE("the man page has every verb, option, variable and exit code") {
  const std::string text = page();
  CommandLineOptions options;
  CLI::App app;
  describe_command_line(app, options);
  for (const CLI::App* verb : app.get_subcommands({})) {
    CHECK(contains(text, fmt::format("\n.Ss {}\n", verb->get_name())));
    for (const CLI::Option* option : verb->get_options())
      for (const std::string& name : option->get_lnames())
        if (name != "help") CHECK(contains(text, "Fl Fl " + name));
  }
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) CHECK(contains(text, "Fl Fl " + name));
  for (const EnvironmentVariable& row : environment_variables())
    CHECK(contains(text, fmt::format(".It Ev {}\n", row.name)));
  for (const ExitCodeMeaning& row : exit_code_meanings())
    CHECK(contains(text, fmt::format(".It {}\n", row.code)));
}

TEST_CASE("the man page is of the installed program, and hyphens can be copied from it") {
  const std::string text = page();
  CHECK_FALSE(contains(text, "./gauntlet"));
  CHECK(contains(text, "gauntlet grade submissions/my\\-model") == false);
  CHECK(contains(text, "\\-\\-fail\\-under") == false);  // within a word a hyphen is one
  CHECK(contains(text, "\\-\\-fail-under"));
}
