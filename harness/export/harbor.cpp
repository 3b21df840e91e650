// SPDX-License-Identifier: Apache-2.0
#include "harness/export/harbor.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "harness/core/files.h"
#include "harness/export/fill.h"

namespace gauntlet {

namespace harbor {
extern const std::string_view agent_Dockerfile;
extern const std::string_view verifier_Dockerfile;
extern const std::string_view test_sh;
extern const std::string_view solve_sh;
extern const std::string_view task_toml;
extern const std::string_view instruction_md;
}  // namespace harbor

namespace {

constexpr std::string_view kRaced =
    "Speed counts, in a race against a strong implementation on the same machine.";
constexpr std::string_view kNotRaced =
    "Speed is not measured: of what the text below says on time, the limits alone hold here.";

/// Beside the solution: the compiler, the grader with its oracle, the reference and its buffers.
constexpr std::int64_t kOwnMemory = 2048;

/// Compiling, the checks' own work, and what runs beside us on a busy machine.
double verifier_seconds(const Challenge& challenge) {
  return 2 * challenge.cell_seconds + 300;
}

std::string options_of(const HarborTerms& terms) {
  std::string options;
  if (!terms.speed) options += "--no-speed ";
  if (terms.weaker_sandbox) options += "--allow-weaker-sandbox ";
  return options;
}

std::string without_last_newline(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::map<std::string, std::string> values_of(const Challenge& challenge, const HarborTerms& terms) {
  const std::string contract = without_last_newline(read_file(challenge.folder / "contract.h"));
  return {
      {"AGENT_SECONDS", fmt::format("{}.0", terms.agent_seconds)},
      {"CHALLENGE", challenge.entry()},
      {"CONTRACT", contract},
      {"DEVICE", toml_string(name_of(Device::cpu))},
      {"DIFFICULTY", toml_string(challenge.difficulty)},
      {"ENTRY", toml_string(challenge.entry())},
      {"FENCE", fence_for(contract)},
      {"GRADER_DIGEST", toml_string(terms.grader_digest)},
      {"ID", challenge.id},
      {"IMAGE", terms.image},
      {"MEMORY", fmt::format("{}", challenge.memory_mib + 2 * challenge.arena_mib + kOwnMemory)},
      {"NAME", toml_string("gauntlet/" + challenge.entry())},
      {"OPTIONS", options_of(terms)},
      {"PROGRAM", terms.program},
      {"PROMPT", without_last_newline(read_file(challenge.folder / "PROMPT.md"))},
      {"PROMPT_DIGEST", toml_string(challenge.prompt_digest(Device::cpu))},
      {"SPEED", std::string(terms.speed ? kRaced : kNotRaced)},
      {"TITLE", toml_string(challenge.title)},
      {"TOKEN", terms.token},
      {"VERIFIER_SECONDS", fmt::format("{:.1f}", verifier_seconds(challenge))},
      {"VERSION", toml_string(terms.version)},
  };
}

bool made_of(std::string_view text, std::string_view marks) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           marks.find(c) != marks.npos;
  });
}

}  // namespace

std::vector<TaskFile> harbor_task(const Challenge& challenge, const HarborTerms& terms) {
  const auto values = values_of(challenge, terms);
  std::vector<TaskFile> files{
      {"task.toml", fill(harbor::task_toml, values)},
      {"instruction.md", fill(harbor::instruction_md, values)},
      {"environment/Dockerfile", fill(harbor::agent_Dockerfile, values)},
      {"environment/submission/" + challenge.id + "/contract.h",
       read_file(challenge.folder / "contract.h")},
      {"tests/Dockerfile", fill(harbor::verifier_Dockerfile, values)},
      {"tests/test.sh", fill(harbor::test_sh, values), true},
      {"tests/token", terms.token + "\n"},
  };
  if (!terms.oracle) return files;
  files.push_back({"solution/solve.sh", fill(harbor::solve_sh, values), true});
  for (const SolutionSource::File& file : terms.oracle->files)
    files.push_back({"solution/submission/" + file.name, file.content});
  return files;
}

std::string why_no_image(std::string_view name) {
  if (!name.empty() && name[0] != '-' && made_of(name, "._-/:@")) return "";
  return "an image's name is made of letters, digits, '.', '_', '-', '/', ':' and '@', as in "
         "registry.example.org/gauntlet:0.1.0";
}

std::string why_no_program(std::string_view path) {
  if (!path.empty() && path[0] == '/' && made_of(path, "._-/+")) return "";
  return "it is the program's absolute path in that image, made of letters, digits, '.', '_', "
         "'-', '+' and '/', as in /usr/bin/gauntlet";
}

}  // namespace gauntlet
