#include "graders/kit/memory.h"

#include <algorithm>

namespace gauntlet::kit {

double held_per_byte(const Held& small, const Held& large) {
  const auto ratio = [](std::int64_t bytes, std::int64_t of) {
    return static_cast<double>(bytes) / static_cast<double>(of);
  };
  return std::max({ratio(large.bytes - small.bytes, large.of - small.of),
                   ratio(small.bytes - kProcessBytes, small.of),
                   ratio(large.bytes - kProcessBytes, large.of)});
}

}  // namespace gauntlet::kit
