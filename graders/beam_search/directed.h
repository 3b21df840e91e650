#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "language.h"
#include "problem.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// A small search worked out by hand or by a simulator, on which one wrong rule gives another
/// answer than the right one.
struct Directed {
  std::string name;
  Settings settings;
  Table table;

  /// The right answer as it was published with the table, best first, to check the oracle with.
  struct Known {
    double score;
    std::vector<std::int32_t> tokens;
  };
  std::vector<Known> known;
  std::int64_t known_steps = 0;  // 0: not published
};

std::span<const Directed> directed_searches();
const Directed& directed(std::string_view name);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
