// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/worker/call.h"

namespace gauntlet::kit {

/// What integers of outputs hold before a call where poison would not do: that is -1 in them, which
/// solutions write on purpose, so that nobody saw where one should not have written or wrote none.
/// Positive, and neither an id nor a count of anything.
inline constexpr std::int32_t kHeld = 0x5b3a9c71;

/// Makes integer outputs of a call that hold kHeld, and keeps what they are made of.
class HeldIntegers {
 public:
  template <class Args, class T>
  Output<T> add(Call<Args>& call, std::string name, T* const& field, std::size_t count,
                Placement placement) {
    auto& all = std::get<std::deque<std::vector<T>>>(held_);
    all.emplace_back(count, T{kHeld});
    return call.inout(std::move(name), field, all.back(), placement);
  }

 private:
  std::tuple<std::deque<std::vector<std::int32_t>>, std::deque<std::vector<std::int64_t>>> held_;
};

}  // namespace gauntlet::kit
