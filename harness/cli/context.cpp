#include "harness/cli/context.h"

#include <algorithm>

#include "harness/core/text.h"

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

void Context::remark(const std::string& text) const {
  if (!quiet) *err << printable(text) << "\n" << std::flush;
}

}  // namespace gauntlet
