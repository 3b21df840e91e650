// SPDX-License-Identifier: Apache-2.0
#include "harness/grading/audit_suite.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <sstream>

#include "harness/build/toolchain.h"
#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/yaml.h"

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

/// `content` as the first file of a solution, with the headers that lie beside the file that it
/// comes from.
SolutionSource solution_from(Device device, const fs::path& file, std::string content) {
  SolutionSource source;
  source.device = device;
  const Toolchain& tools = toolchain(device);
  for (const auto& entry : fs::directory_iterator(file.parent_path()))
    if (std::ranges::count(tools.included, entry.path().extension().string()) > 0)
      source.files.push_back({entry.path().filename().string(), read_file(entry.path())});
  source.files.push_back({std::string(tools.first_file), std::move(content)});
  std::sort(source.files.begin(), source.files.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return source;
}

/// Replaces the one place where `replace` stands. A patch that applies nowhere or twice would make
/// another mutant than the one its author looked at.
std::string patched(const std::string& base, YamlFields& edit) {
  const std::string replace = edit.text("replace");
  const std::string with = edit.text("with");
  const std::size_t at = base.find(replace);
  if (replace.empty() || at == std::string::npos)
    edit.refuse("replace", "this text does not occur in the base file");
  if (base.find(replace, at + 1) != std::string::npos)
    edit.refuse("replace", "this text occurs more than once in the base file; quote more of it");
  return base.substr(0, at) + with + base.substr(at + replace.size());
}

/// What an honest variant is called: by its stem, and a header, which is a solution too, whole.
std::string variant_name(const fs::path& file) {
  return file.extension() == ".h" ? file.filename() : file.stem();
}

/// What the suite of one device is read with.
struct SuiteTerms {
  Device device;
  fs::path folder;
  std::set<std::string> checks;
};

/// The file of `base` that its edits change: the first, or a header that it includes.
SolutionSource::File& edited_file(SolutionSource& base, YamlFields& entry) {
  const std::string name =
      entry.has("header") ? entry.text("header") : std::string(toolchain(base.device).first_file);
  const auto file = std::ranges::find(base.files, name, &SolutionSource::File::name);
  if (file == base.files.end()) entry.refuse("header", "no file of this name lies beside the base");
  return *file;
}

void make_solution(Mutant& mutant, const SuiteTerms& terms, YamlFields& entry) {
  const bool whole = entry.has("file");
  const fs::path file = terms.folder / entry.text(whole ? "file" : "base");
  mutant.solution = solution_from(terms.device, file, read_file(file));
  if (whole) return;
  mutant.made_of = variant_name(file);
  mutant.original = mutant.solution;
  std::string& text = edited_file(mutant.solution, entry).content;
  if (!entry.has("edits")) {
    text = patched(text, entry);
    return;
  }
  for (YamlFields edit : entry.list("edits")) {
    text = patched(text, edit);
    edit.refuse_unknown();
  }
}

Mutant load_mutant(const SuiteTerms& terms, YamlFields entry) {
  Mutant mutant;
  mutant.name = entry.text("name");
  mutant.fault = entry.text("fault");
  mutant.killers = entry.texts("killed_by");
  make_solution(mutant, terms, entry);
  for (const std::string& killer : mutant.killers)
    if (!terms.checks.contains(killer))
      entry.refuse("killed_by", fmt::format("'{}' is no check of this challenge on {}", killer,
                                            name_of(terms.device)));
  if (std::set(mutant.killers.begin(), mutant.killers.end()).size() < 2)
    entry.refuse("killed_by", "a mutant names at least two different checks");
  entry.refuse_unknown();
  return mutant;
}

/// What the comment says behind a mark at the start of one of its lines, to the next mark or tag.
std::string said_behind(std::string_view mark, const std::string& text) {
  constexpr std::string_view kComment = "// ";
  std::string said;
  bool behind = false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line) && line.starts_with(kComment);) {
    const std::string words = line.substr(kComment.size());
    const bool marked = words.starts_with("strategy: ") || words.starts_with("uses: ") ||
                        words.starts_with("SPDX-");
    if (marked) behind = words.starts_with(mark);
    if (behind) said += marked ? words.substr(mark.size()) : " " + words;
  }
  return said;
}

/// "// strategy: Welford, one pass" on the first line, and "// uses: ..." below.
HonestVariant load_honest(Device device, const fs::path& file) {
  std::string text = read_file(file);
  const std::string strategy = said_behind("strategy: ", text);
  HonestVariant variant{variant_name(file), strategy, solution_from(device, file, std::move(text))};
  if (strategy.empty() || freedom_taken(variant.solution).empty())
    throw UserError(
        fmt::format("{}:1: an honest variant starts with '// strategy: ...' and '// uses: ...', "
                    "which freedom of the contract it takes",
                    file.string()));
  return variant;
}

}  // namespace

std::string freedom_taken(const SolutionSource& solution) {
  for (const SolutionSource::File& file : solution.files)
    if (file.name == toolchain(solution.device).first_file)
      return said_behind("uses: ", file.content);
  return "";
}

AuditSuite load_audit_suite(const fs::path& root, const std::string& challenge_id, Device device,
                            const Grader& grader) {
  SuiteTerms terms{device, root / "graders" / challenge_id, {}};
  if (device != Device::cpu) terms.folder /= name_of(device);
  for (const Check& check : grader.on(device).checks) terms.checks.insert(check.id);

  AuditSuite suite;
  YamlFields file = YamlFields::of_file(terms.folder / "mutants.yaml");
  std::set<std::string> names;
  for (const YamlFields& entry : file.list("mutants")) {
    suite.mutants.push_back(load_mutant(terms, entry));
    if (!names.insert(suite.mutants.back().name).second)
      entry.refuse("name", "another mutant has this name");
  }
  if (file.has("honest_seeds")) {
    suite.honest_seeds = static_cast<int>(file.integer("honest_seeds"));
    if (suite.honest_seeds < 1) file.refuse("honest_seeds", "must be 1 or more");
  }
  file.refuse_unknown();

  const fs::path first_file(toolchain(device).first_file);
  std::vector<fs::path> variants;
  if (fs::is_directory(terms.folder / "honest"))
    for (const auto& entry : fs::directory_iterator(terms.folder / "honest"))
      if (entry.path().extension() == first_file.extension()) variants.push_back(entry.path());
  std::sort(variants.begin(), variants.end());
  for (const fs::path& variant : variants) suite.honest.push_back(load_honest(device, variant));
  return suite;
}

}  // namespace gauntlet
