// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "graders/kit/domain.h"

namespace gauntlet {

/// The classes that occur in these assignments of a domain: "rows 31 to 33".
inline std::set<std::string> asked_classes(const kit::Domain& domain,
                                           const std::vector<kit::Assignment>& assignments) {
  std::set<std::string> asked;
  for (const kit::Assignment& one : assignments)
    for (std::size_t k = 0; k < domain.arguments.size(); ++k) {
      const kit::Argument& argument = domain.arguments[k];
      asked.insert(argument.name + " " + argument.classes[one.chosen(k)].name);
    }
  return asked;
}

}  // namespace gauntlet
