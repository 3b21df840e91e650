// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include <xxhash.h>

#include "harness/audit/audit.h"
#include "harness/core/digest.h"
#include "harness/core/machine.h"
#include "harness/grading/probe.h"
#include "harness/grading/reference_sessions.h"
#include "harness/grading/run_cell.h"
#include "tests/end_to_end/grading_environment.h"

using namespace gauntlet;

namespace {

// Asked again and again about one lap's cache, by the judge, after the clock has stopped.
constexpr std::string_view kJudges = "kv_read";

/// Hashes the inputs of a racer that are not small, from the beginning of its first race.
class Recorder : public Session {
 public:
  Recorder(Session& session, std::size_t small) : session_(session), small_(small) {}

  void run(CallBase& call) override {
    if (racing_ && call.symbol != kJudges)
      for (const Buffer& buffer : call.buffers())
        if (buffer.direction == Direction::in && buffer.bytes > small_) see(call, buffer);
    session_.run(call);
  }
  void restart() override { session_.restart(); }
  void keep_threads_apart() override {
    session_.keep_threads_apart();
    racing_ = true;
  }
  void enter_race(RaceGround& ground) override { session_.enter_race(ground); }
  void leave_race() override { session_.leave_race(); }

  /// Of the processors, a hundred times what there is: whatever else runs here, races lose no time
  /// to it, and every shape has one to the end.
  std::chrono::nanoseconds cpu_time() const override {
    return 100 * this_machine().cores * (std::chrono::steady_clock::now() - start_);
  }

  std::map<std::string, int> seen, again;         // by call and buffer
  std::map<std::string, std::int64_t> kept_rows;  // 256 bytes that an input has as its last one had

 private:
  void see(const CallBase& call, const Buffer& buffer) {
    const std::string name = call.symbol + " " + buffer.name;
    ++seen[name];
    const auto hash = XXH3_64bits(buffer.source, buffer.bytes);
    if (!hashes_[name].insert(hash).second) ++again[name];
    std::vector<std::byte>& last = last_[name];
    constexpr std::size_t kRow = 256;
    const std::span<const std::byte> bytes(buffer.source, buffer.bytes);
    for (std::size_t at = 0; at + kRow <= std::min(last.size(), bytes.size()); at += kRow)
      if (std::memcmp(bytes.data() + at, last.data() + at, kRow) == 0) ++kept_rows[name];
    last.assign(bytes.begin(), bytes.end());
  }

  Session& session_;
  std::size_t small_;
  bool racing_ = false;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::map<std::string, std::set<std::uint64_t>> hashes_;
  std::map<std::string, std::vector<std::byte>> last_;
};

/// What laps may have in common, because it holds nothing but sizes or places.
const std::set<std::string> kPlacesOnly{
    "dflash_build node_start",
    "kv_attend table",
};

// Permutations of a few sequences and the like come again by chance, and say nothing.
constexpr std::size_t kSmall = 1024;
constexpr int kPairs = 2;

/// Races the reference as a solution, and says what it was given twice.
std::vector<std::string> given_twice(const GraderEntry& entry) {
  const GradingEnvironment shop = environment();
  const Challenge challenge = load_challenge(shop.root, std::string(entry.id));
  ReferenceSessions references(shop, challenge);
  ReferenceSessions contestants(shop, challenge);
  std::vector<std::string> twice;
  for (const Check& check : entry.make().checks) {
    if (check.id.find("speed") == std::string::npos) continue;
    Recorder recorder(contestants.first(), kSmall);
    Probe::Setting setting{.solution = recorder};
    setting.reference = [&]() -> Session& { return references.first(); };
    setting.reference_again = [&]() -> Session& { return references.second(); };
    setting.race_pairs = kPairs;
    Probe probe(check, Seed::fresh(), std::move(setting));
    probe.restart();
    try {
      check.ask(probe);
    } catch (const CheckEnded& ended) {
      FAIL_CHECK(check.id, ": ", ended.finding.summary);
    }
    CHECK_MESSAGE(!recorder.seen.empty(), check.id, " raced with nothing");
    for (const auto& [name, rows] : recorder.kept_rows)
      if (!kPlacesOnly.contains(name))
        twice.push_back(fmt::format("{}: {} rows of {} as they were in the input before", check.id,
                                    rows, name));
    for (const auto& [name, times] : recorder.again)
      if (!kPlacesOnly.contains(name))
        twice.push_back(
            fmt::format("{}: {} {} times of {}", check.id, name, times, recorder.seen.at(name)));
  }
  return twice;
}

}  // namespace

// All races take a minute and a half: three graders are looked at, others whenever one is changed.
TEST_CASE("no lap of a race is given what an earlier one was given, nor a row of the last one") {
  const std::span<const GraderEntry> graders = all_graders();
  Digest all;
  for (const GraderEntry& entry : graders) all.add("grader", entry.digest(Device::cpu));
  for (const std::size_t drawn : sample_of(graders.size(), 3, all.hex())) {
    const GraderEntry& entry = graders[drawn];
    INFO(entry.id);
    for (const std::string& what : given_twice(entry)) FAIL_CHECK(what);
  }
}
