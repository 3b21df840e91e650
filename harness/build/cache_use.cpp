// SPDX-License-Identifier: Apache-2.0
#include "harness/build/cache_use.h"

#include <algorithm>
#include <fmt/format.h>
#include <unistd.h>

#include "harness/core/rng.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

fs::path users_of(const fs::path& cache) {
  return cache / "in_use";
}

}  // namespace

CacheUse::CacheUse(const fs::path& cache) {
  // Who looks for leftovers can find the file before it is locked, and remove it: then another one
  // is made.
  while (!lock_ || !fs::exists(file_)) {
    file_ = users_of(cache) / fmt::format("{}-{:016x}", getpid(), entropy());
    lock_.emplace(file_, FileLock::Mode::exclusive);
  }
}

CacheUse::~CacheUse() {
  std::error_code ignored;  // who looks for users removes it
  fs::remove(file_, ignored);
}

std::optional<fs::file_time_type> in_use_since(const fs::path& cache) {
  std::optional<fs::file_time_type> first;
  std::error_code error;  // no folder: nobody
  for (auto entry = fs::directory_iterator(users_of(cache), error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code gone;
    const fs::file_time_type began = fs::last_write_time(entry->path(), gone);
    if (gone) continue;
    if (FileLock::try_now(entry->path(), FileLock::Mode::exclusive))
      fs::remove(entry->path(), gone);
    else
      first = std::min(first.value_or(began), began);
  }
  return first;
}

}  // namespace gauntlet
