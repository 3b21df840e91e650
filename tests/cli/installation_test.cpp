// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/installation.h"

#include <doctest/doctest.h>
#include <map>
#include <regex>

#include "harness/cli/environment.h"
#include "harness/cli/exit_codes.h"
#include "harness/sandbox/landlock.h"
#include "tests/cli/checkout.h"
#include "tests/support/text.h"

using namespace gauntlet;
namespace fs = std::filesystem;

namespace {

/// The current folder, for a while.
class Within {
 public:
  explicit Within(const fs::path& folder) { fs::current_path(folder); }
  ~Within() { fs::current_path(before_); }
  Within(const Within&) = delete;
  Within& operator=(const Within&) = delete;

 private:
  fs::path before_ = fs::current_path();
};

using Variables = std::map<std::string, std::string>;

/// A program that was installed with this checkout's data, called in `folder`.
Ran installed(const fs::path& folder, const std::vector<std::string>& arguments,
              const Variables& variables = {}, const fs::path& data = GAUNTLET_ROOT) {
  const Within within(folder);
  std::ostringstream out;
  std::ostringstream err;
  const Environment environment = [&](const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? "" : found->second;
  };
  const Program program{data, GAUNTLET_BIN, "0.1.0", environment, out, err, false, false, true};
  const int code = run_program(program, arguments);
  return {code, out.str(), err.str()};
}

}  // namespace

TEST_CASE("a built program has its checkout, an installed one what lies the same way from it") {
  const ScratchFolder prefix("prefix");
  const fs::path bin = prefix.path() / "bin";
  const Installation moved = find_installation(bin, "../share/gauntlet", "../libexec/gauntlet");
  CHECK(moved.installed);
  CHECK(moved.data == prefix.path() / "share/gauntlet");
  CHECK(moved.programs == prefix.path() / "libexec/gauntlet");

  write_file(bin / kCheckoutFile, "/somewhere/gauntlet");
  const Installation built = find_installation(bin, "../share/gauntlet", "../libexec/gauntlet");
  CHECK_FALSE(built.installed);
  CHECK(built.data == "/somewhere/gauntlet");
  CHECK(built.programs == bin);
}

TEST_CASE(
    "neither a compiler nor a submission can read what is installed with the usual prefixes") {
  for (const char* prefix : {"/usr", "/usr/local", "/opt/gauntlet"})
    CHECK(why_readable(fs::path(prefix) / "share/gauntlet").empty());
  CHECK_FALSE(why_readable("/usr/include/gauntlet").empty());
}

TEST_CASE("this build knows its checkout") {
  CHECK(find_installation(GAUNTLET_BIN, "", "").data == fs::path(GAUNTLET_ROOT));
}

TEST_CASE("results come to lie beside a submission and never in one") {
  const ScratchFolder home("home");
  const fs::path models = home.path() / "models";
  for (const char* folder : {"bravo", "bravo/attempts/2"})
    write_file(models / folder / "model.yaml", "name: bravo\n");
  fs::create_directories(models / "bravo/attempts/2/some_challenge");
  CHECK(workspace_at(models) == models);
  for (const char* inside :
       {"bravo", "bravo/attempts", "bravo/attempts/2", "bravo/attempts/2/some_challenge"})
    CHECK(workspace_at(models / inside) == models);
  fs::rename(models, home.path() / "submissions");
  CHECK(workspace_at(home.path() / "submissions/bravo") == home.path());
  CHECK(workspace_at(home.path() / "submissions") == home.path());
  CHECK(workspace_at("/") == "/");
}

TEST_CASE("compiled code lies where the user's caches do") {
  const auto cache = [](Variables variables) {
    return user_cache([&](const std::string& name) { return variables[name]; }, "/w");
  };
  CHECK(cache({{"XDG_CACHE_HOME", "/c"}, {"HOME", "/h"}}) == "/c/gauntlet");
  CHECK(cache({{"XDG_CACHE_HOME", "relative"}, {"HOME", "/h"}}) == "/h/.cache/gauntlet");
  CHECK(cache({}) == "/w/build/cache");
}

TEST_CASE("an installed program works where it is called, with the data that it came with") {
  const ScratchFolder here("here");
  const std::string challenge(all_graders().front().id);
  const Ran made = installed(here.path(), {"new", "bravo", "-c", challenge});
  INFO(made.err);
  REQUIRE(made.code == kExitDone);
  const fs::path bravo = here.path() / "submissions/bravo";
  CHECK(fs::exists(bravo / challenge / "contract.h"));
  CHECK(contains(made.out, "\n  gauntlet grade submissions/bravo\n"));
  CHECK_FALSE(contains(made.out, "./gauntlet"));

  CHECK(installed(bravo, {"list", "submissions"}).out == "bravo\n");
  CHECK(contains(installed(bravo, {"help", "files"}, {{"HOME", "/h"}}).out,
                 fmt::format("  workspace         {0}\n  results           {0}/results\n"
                             "  compiled code     /h/.cache/gauntlet\n",
                             here.path().string())));
  CHECK(installed(bravo, {"validate", "bravo"}).out == "bravo ok\n");
  const Ran none = installed(bravo, {"score"});
  CHECK(none.code == kExitNothingMatched);
  CHECK(contains(none.err, (here.path() / "results").string()));
}

TEST_CASE("other data and other checkouts can be named") {
  const ScratchFolder here("here");
  const Checkout other;
  other.add_submission("bravo");
  const std::string root = other.root().string();
  const Ran checks = installed(here.path(), {"list", "checks", "-c", other.challenge},
                               {{"GAUNTLET_DATA_DIR", root}}, "/nowhere");
  CHECK(checks.code == kExitDone);
  CHECK(installed(here.path(), {"list", "submissions"}, {{"GAUNTLET_DATA_DIR", root}}).out ==
        "no submissions; make one with gauntlet new <model>\n");
  CHECK(installed(here.path(), {"list", "submissions", "--root", root}).out == "bravo\n");
  const Ran lost = installed(here.path(), {"list"}, {}, "/nowhere");
  CHECK(lost.code == kExitUsage);
  CHECK(contains(lost.err, "/nowhere"));
}

TEST_CASE("an installed program's messages call it as it is called, in JSON as well") {
  const ScratchFolder here("here");
  for (const std::vector<std::string>& line :
       {std::vector<std::string>{"help", "grade"}, {"grade"}, {"help", "grade", "--json"}}) {
    const Ran ran = installed(here.path(), line);
    CHECK(contains(ran.out + ran.err, "gauntlet help"));
    CHECK_FALSE(contains(ran.out + ran.err, "./gauntlet"));
  }
  CHECK(as_called("./gauntlet", false) == "./gauntlet");
}

TEST_CASE("every variable of the environment that is looked at is explained") {
  static const std::regex kAsked(R"re(nvironment\("([A-Z_]+)"\))re");
  const std::string help = environment_text();
  int asked = 0;
  for (const auto& file : fs::directory_iterator(fs::path(GAUNTLET_ROOT) / "harness/cli")) {
    if (file.path().extension() != ".cpp") continue;
    const std::string text = read_file(file.path());
    for (std::sregex_iterator at(text.begin(), text.end(), kAsked), end; at != end; ++at, ++asked)
      CHECK(contains(help, at->str(1)));
  }
  CHECK(asked > 5);
}
