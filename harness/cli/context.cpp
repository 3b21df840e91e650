// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/context.h"

#include <algorithm>

#include "harness/cli/installation.h"
#include "harness/core/text.h"
#include "harness/sandbox/landlock.h"

namespace gauntlet {

Rubric Context::rubric() const {
  return load_rubric(root() / "harness" / "score" / "rubric.yaml");
}

std::vector<std::string> Context::challenges() const {
  std::vector<std::pair<int, std::string>> order;
  for (const auto& id : challenge_ids(root()))
    order.emplace_back(load_challenge(root(), id).round, id);
  std::sort(order.begin(), order.end());
  std::vector<std::string> ids;
  for (const auto& [round, id] : order) ids.push_back(id);
  return ids;
}

std::string Context::exposure() const {
  std::vector<std::filesystem::path> ours{
      root(), workspace, environment.cache, results, std::filesystem::temp_directory_path(),
      // links lead elsewhere
      root() / "graders", root() / "reference", workspace / "submissions"};
  for (const std::filesystem::path& folder : ours)
    if (std::string why = why_readable(folder); !why.empty()) return why;
  return "";
}

void Context::remark(const std::string& text) const {
  if (!quiet) *err << printable(as_called(text, installed)) << "\n" << std::flush;
}

}  // namespace gauntlet
