// SPDX-License-Identifier: Apache-2.0
#include "harness/build/build_cache.h"

#include <csignal>
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/build/cache_contents.h"
#include "harness/build/cache_use.h"
#include "harness/core/error.h"
#include "harness/core/files.h"

using namespace gauntlet;

namespace fs = std::filesystem;

namespace {

CacheKey key_of(const std::string& source) {
  return CacheKey("solution").add_text("file solution.cpp", source);
}

/// A cache with some builds that were last used so many days ago.
struct Kept {
  ScratchFolder folder{"build-cache-test"};
  fs::path cache = folder.path() / "cache";
  BuildCache builds{cache / "builds"};
  BuildRecord good = [] {
    BuildRecord record;
    record.ok = true;
    return record;
  }();

  fs::path put(const std::string& source, int days_ago, std::size_t bytes = 1000) const {
    builds.keep(key_of(source), good, std::string(bytes, 'x'));
    const fs::path place = cache / "builds" / key_of(source).digest();
    fs::last_write_time(place / kBuildRecord,
                        fs::file_time_type::clock::now() - std::chrono::days(days_ago));
    return place;
  }
  bool has(const std::string& source) const { return builds.find(key_of(source)).has_value(); }
};

constexpr auto kWeek = std::chrono::days(7);

/// What `work` ends with in a process of its own.
template <class Work>
int in_a_fork(Work work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("a disk that fills up while a build is kept leaves nothing of it") {
  const Kept kept;
  kept.put("other", 0);
  for (const rlim_t room : {0, 1, 500}) {
    const int ended = in_a_fork([&] {
      std::signal(SIGXFSZ, SIG_IGN);  // write() fails instead, as on a full disk
      const rlimit limit{room, room};
      if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 9;
      try {
        kept.builds.keep(key_of("a"), kept.good, std::string(1000, 'x'));
      } catch (const UserError&) {
        return 0;
      }
      return 1;
    });
    CHECK(ended == 0);
    CHECK_FALSE(kept.has("a"));
    CHECK(cache_contents(kept.cache).size() == 1);
  }
  CHECK(kept.has("other"));
}

TEST_CASE("what was not used for long is pruned, and only where that is wanted") {
  const Kept kept;
  kept.put("old", 30);
  kept.put("young", 1);
  const PruneRule rule{.older_than = kWeek, .most_bytes = {}};
  const Pruned shown = prune_cache(kept.cache, rule, false);
  REQUIRE(shown.entries.size() == 1);
  CHECK(shown.entries[0].layer == "solution");
  CHECK(cache_contents(kept.cache).size() == 2);
  prune_cache(kept.cache, rule, true);
  CHECK(cache_contents(kept.cache).size() == 1);
  CHECK(kept.has("young"));
  CHECK(prune_cache(kept.cache, rule, true).entries.empty());
}

TEST_CASE("a cache that is too large loses what was not used for longest, and no more than that") {
  const Kept kept;
  kept.put("oldest", 3, 100'000);
  kept.put("older", 2, 100'000);
  kept.put("young", 1, 100'000);
  const Pruned pruned = prune_cache(kept.cache, {.older_than = {}, .most_bytes = 250'000}, true);
  CHECK(pruned.entries.size() == 1);
  CHECK(pruned.bytes_left > 200'000);
  CHECK_FALSE(kept.has("oldest"));
  CHECK(kept.has("older"));
}

TEST_CASE("to find a build is to use it") {
  const Kept kept;
  kept.put("old", 30);
  CHECK(kept.has("old"));
  CHECK(prune_cache(kept.cache, {.older_than = kWeek, .most_bytes = {}}, true).entries.empty());
}

TEST_CASE("nothing is pruned that a process which runs has used") {
  const Kept kept;
  kept.put("old", 30);
  kept.put("mine", 30);
  const PruneRule everything{.older_than = {}, .most_bytes = 0};
  {
    const CacheUse in_use(kept.cache);
    CHECK(kept.has("mine"));
    const Pruned pruned = prune_cache(kept.cache, everything, true);
    CHECK(pruned.entries.size() == 1);
    CHECK(pruned.in_use == 1);
    CHECK(kept.has("mine"));
    CHECK_FALSE(kept.has("old"));
  }
  CHECK(prune_cache(kept.cache, everything, true).entries.size() == 1);
}

TEST_CASE("who was killed uses nothing any more, and what it left half done is pruned") {
  const Kept kept;
  kept.put("kept", 1);
  const int ended = in_a_fork([&] {
    const CacheUse in_use(kept.cache);
    write_file(kept.cache / "builds" / (std::string(kDraftPrefix) + "1-1-abc") / kLibrary, "half");
    return raise(SIGKILL);
  });
  CHECK(ended == -1);
  CHECK_FALSE(in_use_since(kept.cache).has_value());
  CHECK(fs::is_empty(kept.cache / "in_use"));
  const Pruned pruned = prune_cache(kept.cache, {}, true);
  REQUIRE(pruned.entries.size() == 1);
  CHECK(pruned.entries[0].kind == CacheEntry::Kind::unfinished);
  CHECK(kept.has("kept"));
}

TEST_CASE("builds of another key format, and damaged ones, are counted and go") {
  const Kept kept;
  const fs::path old = kept.put("old", 0);
  std::string record = read_file(old / kBuildRecord);
  record.replace(record.find("\"format\": 2"), 11, "\"format\": 1");
  write_file(old / kBuildRecord, record);
  write_file(kept.put("damaged", 0) / kBuildRecord, "{");
  write_file(kept.cache / "builds" / std::string(64, 'a') / kBuildRecord,
             "{\"schema\": \"gauntlet.build/1\"}");
  kept.put("good", 0);
  const Pruned pruned = prune_cache(kept.cache, {}, true);
  CHECK(pruned.entries.size() == 3);
  for (const CacheEntry& entry : pruned.entries) CHECK(entry.kind == CacheEntry::Kind::unusable);
  CHECK(cache_contents(kept.cache).size() == 1);
}

TEST_CASE("there is nothing to prune where there is no cache") {
  const ScratchFolder folder("build-cache-test");
  CHECK(prune_cache(folder.path() / "none", {.older_than = kWeek, .most_bytes = 0}, true)
            .entries.empty());
  CHECK_FALSE(fs::exists(folder.path() / "none"));
}
