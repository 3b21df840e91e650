// SPDX-License-Identifier: Apache-2.0
// Exported tasks, without Harbor: harbor_round_trip.sh, by hand, runs them through its own code.
#include <cstdlib>
#include <doctest/doctest.h>
#include <set>
#include <sstream>
#include <sys/wait.h>

#include "harness/cli/exit_codes.h"
#include "harness/export/fill.h"
#include "harness/store/json_fields.h"
#include "tests/cli/checkout.h"

using namespace gauntlet;
namespace fs = std::filesystem;

namespace {

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != text.npos;
}

void write_program(const fs::path& file, const std::string& text) {
  write_file(file, text);
  fs::permissions(file, fs::perms::owner_all, fs::perm_options::add);
}

/// Runs a line of the shell; its exit code, or 128 and more where a signal ended it.
int shell(const std::string& line) {
  const int status = std::system(line.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

std::set<std::string> files_below(const fs::path& folder) {
  std::set<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files.insert(entry.path().lexically_relative(folder).string());
  return files;
}

/// An exported task, and a folder in which the paths of its verifier's container begin.
struct Task {
  Checkout checkout;
  ScratchFolder scratch{"harbor"};
  fs::path tasks = scratch.path() / "tasks";
  fs::path task = tasks / checkout.challenge;
  fs::path container = scratch.path() / "container";
  fs::path handed_in = container / "app/submission" / checkout.challenge;
  fs::path logs = container / "logs/verifier";

  Ran export_it(std::vector<std::string> more = {}) const {
    std::vector<std::string> line{"export", "harbor", tasks.string(), "-c", checkout.challenge};
    line.insert(line.end(), more.begin(), more.end());
    return checkout.run(line);
  }

  /// As tests/Dockerfile builds it, with `program` for Gauntlet.
  void build_container(const std::string& program) const {
    fs::create_directories(container / "tests");
    fs::create_directories(container / "etc");
    fs::copy(task / "tests/test.sh", container / "tests");
    fs::copy(task / "tests/token", container / "etc/gauntlet-verifier");
    write_program(container / "usr/bin/gauntlet", program);
  }

  /// Gauntlet itself, with inputs that are the same each time.
  std::string real_program() const {
    return fmt::format("#!/bin/sh\nexec {}/gauntlet --root {} --seed 1 \"$@\"\n", GAUNTLET_BIN,
                       checkout.root().string());
  }

  int verify(const std::string& variables = "") const {
    return shell(fmt::format("{} {}/tests/test.sh >{}/said 2>&1", variables, container.string(),
                             scratch.path().string()));
  }
  std::string said() const { return read_file(scratch.path() / "said"); }
  Json rewards() const { return Json::parse(read_file(logs / "reward.json")); }
};

}  // namespace

TEST_CASE("a task has prompt, contract and compiler for the agent, and nothing of ours beside") {
  const Task it;
  const Ran ran = it.export_it();
  REQUIRE_MESSAGE(ran.code == kExitDone, ran.err);
  const std::string contract = "environment/submission/" + it.checkout.challenge + "/contract.h";
  CHECK(files_below(it.task) ==
        std::set<std::string>{"environment/Dockerfile", contract, "instruction.md", "task.toml",
                              "tests/Dockerfile", "tests/test.sh", "tests/token"});
  const fs::path challenge = fs::path(GAUNTLET_ROOT) / "challenges" / it.checkout.challenge;
  CHECK(read_file(it.task / contract) == read_file(challenge / "contract.h"));
  const std::string instruction = read_file(it.task / "instruction.md");
  CHECK(has(instruction, read_file(challenge / "PROMPT.md")));
  CHECK(has(instruction, read_file(challenge / "contract.h")));
  CHECK(has(read_file(it.task / "environment/Dockerfile"), "g++"));
  CHECK(has(read_file(it.task / "task.toml"), "environment_mode = \"separate\""));
  CHECK(has(read_file(it.task / "tests/Dockerfile"), "FROM gauntlet:0.1.0\n"));
  CHECK(shell(fmt::format("bash -n {}/tests/test.sh", it.task.string())) == 0);

  CHECK(it.export_it().code == kExitUsage);  // once more: nothing is overwritten
  const std::string token = read_file(it.task / "tests/token");
  fs::remove_all(it.task);
  REQUIRE(it.export_it({"--with-solutions", "--no-speed", "--image", "r.example/g:2"}).code == 0);
  CHECK(read_file(it.task / "tests/token") != token);
  CHECK(has(read_file(it.task / "tests/Dockerfile"), "FROM r.example/g:2\n"));
  CHECK(has(read_file(it.task / "tests/test.sh"), " --no-speed --harbor "));
  CHECK(files_below(it.task).contains("solution/submission/solution.cpp"));
  shell(fmt::format("mkdir {0}; cp -R {1}/solution {0}; {0}/solution/solve.sh",
                    it.container.string(), it.task.string()));
  CHECK(read_file(it.handed_in / "solution.cpp") ==
        read_file(fs::path(GAUNTLET_ROOT) / "reference" / it.checkout.challenge / "solution.cpp"));
}

TEST_CASE("an export that cannot be says why, and writes nothing") {
  const Task it;
  const auto refused = [&](std::vector<std::string> more, std::string_view why) {
    const Ran ran = it.export_it(std::move(more));
    CHECK(ran.code == kExitUsage);
    CHECK_MESSAGE(has(ran.err, why), ran.err);
  };
  refused({"-c", it.checkout.challenge + "x"}, "did you mean '" + it.checkout.challenge + "'?");
  refused({"-c", it.checkout.challenge + ".huge"}, "huge");
  refused({"-c", it.checkout.challenge + "@cuda"}, "tasks for cuda cannot be exported yet");
  refused({"--image", "debian\nRUN true"}, "an image's name is made of");
  refused({"--image", ""}, "is empty");
  refused({"--program", "bin/gauntlet"}, "absolute path");
  refused({"--program", "/$(reboot)"}, "absolute path");
  refused({"--agent-timeout", "0"}, "agent-timeout");
  const Ran format = it.checkout.run({"export", "habor", it.tasks.string()});
  CHECK(format.code == kExitUsage);
  CHECK(has(format.err, "did you mean 'harbor'?"));
  CHECK_FALSE(fs::exists(it.tasks));
}

TEST_CASE("what is filled into a template is not read as one, nor as TOML or as a fence's end") {
  CHECK(fill("@A@ \"$@\" a@b @A@", {{"A", "@B@"}, {"B", "no"}}) == "@B@ \"$@\" a@b @B@");
  CHECK_THROWS_AS(fill("@UNKNOWN@", {}), std::logic_error);
  CHECK(toml_string("a\"b\\c\nd\x1b\x7f") == "\"a\\\"b\\\\c d\uFFFD\uFFFD\"");
  CHECK(fence_for("int a;") == "```");
  CHECK(fence_for("/* ```` */") == "`````");
}

TEST_CASE("a verifier begins with no variable of others, and with what it wrote alone") {
  const Task it;
  REQUIRE(it.export_it({"--no-speed", "--allow-weaker-sandbox"}).code == kExitDone);
  // In the place of Gauntlet, it writes down what it is given.
  it.build_container(
      "#!/bin/sh\nenv >$0.env; echo \"$@\" >$0.arguments; pwd >$0.folder\n"
      "cat \"$2\"/*/exit_code 2>/dev/null >$0.code && exit $(cat $0.code)\n"
      "echo '{\"reward\": 0.5}' >reward.json\n");
  const auto written = [&](const char* what) {
    return read_file(it.container / "usr/bin" / ("gauntlet." + std::string(what)));
  };
  for (const char* planted : {"reward.txt", "reward.json", "observation.json"})
    write_file(it.logs / planted, "1");
  CHECK(it.verify("BASH_ENV=/nowhere LD_LIBRARY_PATH=/nowhere CDPATH=/ IFS=/ HOME=/root") == 0);
  CHECK(it.rewards() == Json{{"reward", 0.5}});
  CHECK(files_below(it.logs) == std::set<std::string>{"reward.json"});
  std::istringstream variables(written("env"));
  // Ours, and what shells set by themselves.
  const std::set<std::string> known{"PATH=/usr/bin:/bin", "HOME=/", "LC_ALL=C.UTF-8"};
  const std::set<std::string> of_shells{"PWD", "OLDPWD", "SHLVL", "_"};
  for (std::string line; std::getline(variables, line);)
    CHECK_MESSAGE((known.contains(line) || of_shells.contains(line.substr(0, line.find('=')))),
                  line);
  CHECK(has(written("arguments"), "/submission -c " + it.checkout.challenge +
                                      " --no-speed --allow-weaker-sandbox --harbor " +
                                      it.logs.string() + " --json --quiet\n"));

  // Without a verdict there is no reward; that a rule was broken is a verdict.
  for (const int code : {kExitIncomplete, kExitUsage, kExitInternal}) {
    write_file(it.handed_in / "exit_code", std::to_string(code));
    write_file(it.logs / "reward.json", "1");
    CHECK(it.verify() == code);
    CHECK_FALSE(fs::exists(it.logs / "reward.json"));
    CHECK(has(it.said(), "there is no verdict"));
  }
  write_file(it.handed_in / "exit_code", std::to_string(kExitInvalidSubmission));
  CHECK(it.verify() == 0);
}

TEST_CASE("where the agent was, no verifier gives a reward, whoever is called gauntlet there") {
  const Task it;
  REQUIRE(it.export_it().code == kExitDone);
  it.build_container("#!/bin/sh\necho '{\"reward\": 1}' >reward.json\n");
  for (const char* token : {"", "0x0123456789abcdef\n"}) {
    write_file(it.container / "etc/gauntlet-verifier", token);
    write_file(it.logs / "reward.json", "{\"reward\": 1}");
    CHECK(it.verify() == kExitIncomplete);
    CHECK(has(it.said(), "environment_mode"));
    CHECK_FALSE(fs::exists(it.logs / "reward.json"));
  }
  fs::remove(it.container / "etc/gauntlet-verifier");
  CHECK(it.verify() == kExitIncomplete);
  CHECK_FALSE(fs::exists(it.logs / "reward.json"));
}

TEST_CASE("a fake compiler, gauntlet, PATH, library and contract change no reward") {
  const Task it;
  REQUIRE(it.export_it({"--no-speed"}).code == kExitDone);
  it.build_container(it.real_program());
  write_file(it.handed_in / "solution.cpp", "#include \"contract.h\"\n");
  // Whatever runs among the planted things leaves its name.
  const fs::path planted = it.scratch.path() / "planted";
  const fs::path ran = it.scratch.path() / "ran";
  for (const char* name : {"g++", "gauntlet", "cc", "ld", "as", "mktemp", "dirname", "cat", "rm"})
    write_program(planted / name,
                  fmt::format("#!/bin/sh\necho planted {} >>{}\n", name, ran.string()));
  fs::copy(planted / "gauntlet", it.container / "app/gauntlet");
  write_file(planted / "library.c",
             fmt::format("#define _GNU_SOURCE\n#include <errno.h>\n#include <stdio.h>\n"
                         "__attribute__((constructor)) static void here(void) {{\n"
                         "  FILE* file = fopen(\"{}\", \"a\");\n"
                         "  if (file) fprintf(file, \"library %s\\n\", "
                         "program_invocation_short_name), fclose(file);\n}}\n",
                         ran.string()));
  REQUIRE(shell(fmt::format("cd {} && gcc -shared -fPIC -o preload.so library.c && "
                            "for name in libfmt.so.9 libstdc++.so.6 libyaml-cpp.so.0.7; do "
                            "cp preload.so $name; done",
                            planted.string())) == 0);
  write_file(it.handed_in / "contract.h", "#error changed\n");
  write_file(it.logs / "reward.json", "{\"reward\": 1}");
  CHECK(it.verify(fmt::format("PATH={0}:$PATH LD_PRELOAD={0}/preload.so LD_LIBRARY_PATH={0} "
                              "CPATH={0} COMPILER_PATH={0} LIBRARY_PATH={0}",
                              planted.string())) == 0);
  // It builds without a warning and does nothing else.
  const Json rewards{
      {"reward", 0}, {"correctness", 0}, {"robustness", 0}, {"performance", 0}, {"engineering", 1}};
  CHECK_MESSAGE(it.rewards() == rewards, it.said());
  CHECK(fs::exists(it.logs / "observation.json"));
  const std::string who = read_file(ran);
  CHECK(has(who, "library bash\n"));  // it was in earnest
  CHECK_FALSE(has(who, "planted"));
  for (const char* ours : {"library gauntlet", "library g++", "library cc1plus", "library ld"})
    CHECK_MESSAGE(!has(who, ours), who);
}
