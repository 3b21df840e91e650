// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

namespace gauntlet {

/// Calls work(0) ... work(count - 1), each once, on up to `threads` threads, of which the caller is
/// one. Which thread takes which index is left open. Throws what one of them threw, when all have
/// ended.
void parallel_for(std::size_t count, int threads, const std::function<void(std::size_t)>& work);

}  // namespace gauntlet
