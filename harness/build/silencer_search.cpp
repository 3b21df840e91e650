// SPDX-License-Identifier: Apache-2.0
#include "harness/build/silencer_search.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/core/digest.h"

namespace gauntlet {
namespace {

constexpr std::string_view kEnd = "end-of-search";

/// The compiler reads all text before it looks at what it means, and a missing file ends it at
/// once. Two line ends: the first may be a continued line's. Every file has it, headers too, and
/// with it a digest of what it was handed in as: `#pragma once` takes files of the same text for
/// one, and may do so exactly where the build does.
std::string end_of_file(const std::string& missing, const std::string& handed_in) {
  return fmt::format("\n\n#if __INCLUDE_LEVEL__ == 0\n#include \"{}\"\n#endif\n// {}\n", missing,
                     sha256(handed_in));
}

bool is_end(const Diagnostic& said, const SolutionSource::File& file) {
  const auto lines = std::count(file.content.begin(), file.content.end(), '\n');
  return said.is_error() && said.file == file.name && said.line > lines &&
         said.message.starts_with(kEnd);
}

}  // namespace

SilencerSearch::SilencerSearch(const std::vector<SolutionSource::File>& files,
                               const std::string& contract, BuildFolder& folder, BuildSteps& steps)
    : files_(files), folder_(folder), steps_(steps) {
  const std::string missing = folder_.new_name(kEnd);
  std::vector<SolutionSource::File> changed = with_misspelt_lines(files, found_);
  for (std::size_t i = 0; i < files.size(); ++i)
    changed[i].content += end_of_file(missing, files[i].content);
  contract_ = contract + end_of_file(missing, contract);
  folder_.put(changed, contract_);
}

void SilencerSearch::fill(const std::string& first_name) {
  folder_.put({{first_name, std::string(kPoison)}}, contract_);
}

void SilencerSearch::go_through(const std::string& name, std::vector<std::string> command) {
  command.push_back("-fmax-errors=0");
  steps_.carry_out(command);
  CompilerOutput said = read_output(steps_.printed());
  const auto file =
      std::find_if(files_.begin(), files_.end(), [&](const auto& one) { return one.name == name; });
  const auto ends = std::remove_if(said.diagnostics.begin(), said.diagnostics.end(),
                                   [&](const auto& one) { return is_end(one, *file); });
  const bool to_the_end = ends != said.diagnostics.end();
  said.diagnostics.erase(ends, said.diagnostics.end());
  add_silencers(said, files_, found_);
  if (!to_the_end || said.garbled || steps_.cut() || !steps_.stopped().empty())
    found_.push_back(
        {"warning", name, 0, 0, "cannot be searched for pragmas that silence the compiler", ""});
  steps_.forget_stop();  // no matter for the build, which is done
}

}  // namespace gauntlet
