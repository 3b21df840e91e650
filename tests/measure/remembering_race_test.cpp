// SPDX-License-Identifier: Apache-2.0
// Races of real solutions that want to work less than once a lap: they remember answers, look for
// those of others, or leave something out now and then.
#include <cmath>

#include "harness/measure/race.h"
#include "tests/worker/worker_fixture.h"

using namespace gauntlet;
using namespace gauntlet::test;

namespace {

constexpr std::size_t kRows = 64;
constexpr std::size_t kCols = 512;
constexpr int kSteps = 16 * 64;

float answer_to(float x) {
  for (int step = 0; step < kSteps; ++step) {
    const float next = x * 0.75f + 0.5f;
    if (next == x) break;
    x = next;
  }
  return x;
}

// No loop ends after few steps: whether a processor foresees the end of 60 changed in the middle of
// a process from lap to lap, by a factor of 1.44 of its time, and one program differed from itself.
const char* const kRow = R"(
    #include <string.h>
    enum { kRows = 64, kCols = 512, kAll = kRows * kCols };
    __attribute__((noinline)) static void row_of(const float* x, float* y) {
      memcpy(y, x, kCols * 4);
      for (int block = 0; block < 16; ++block)
        for (int j = 0; j < kCols; ++j) {
          float v = y[j];
          #pragma GCC unroll 64
          for (int step = 0; step < 64; ++step) v = v * 0.75f + 0.5f;
          y[j] = v;
        }
    }
    static void all_rows(const Args* args) {
      for (int i = 0; i < kRows; ++i) row_of(args->x + i * kCols, args->y + i * kCols);
    }
    static int laps;
    static uint64_t hashes[10000];
    static float answers[4][kAll], last_x[kAll], last_y[kAll];
)";

const char* const kHonest = "all_rows(args); return 0;";

// Each returns how much it did not have to compute.

// Knows an input that it was given before by a hash of all its bytes.
const char* const kByContent = R"(
    uint64_t hash = 0;
    for (int i = 0; i < kAll; i += 2) {
      uint64_t two;
      memcpy(&two, args->x + i, 8);
      hash = (hash ^ two) * 0x9E3779B97F4A7C15u;
    }
    for (int lap = laps < 4 ? 0 : laps - 4; lap < laps; ++lap)
      if (hashes[lap] == hash) {
        memcpy(args->y, answers[lap % 4], sizeof answers[0]);
        return kRows;
      }
    all_rows(args);
    memcpy(answers[laps % 4], args->y, sizeof answers[0]);
    hashes[laps++ % 10000] = hash;
    return 0;
)";

// Computes again only the rows that are not what they were.
const char* const kChangedRows = R"(
    int kept = 0;
    for (int i = 0; i < kRows; ++i) {
      const float* x = args->x + i * kCols;
      float* y = args->y + i * kCols;
      if (laps > 0 && memcmp(x, last_x + i * kCols, kCols * 4) == 0) {
        memcpy(y, last_y + i * kCols, kCols * 4);
        ++kept;
      } else {
        row_of(x, y);
        memcpy(last_x + i * kCols, x, kCols * 4);
        memcpy(last_y + i * kCols, y, kCols * 4);
      }
    }
    ++laps;
    return kept;
)";

// Believes what it finds in its output: the reference was there before, in the same pages.
const char* const kFromOthers = R"(
    int kept = 0;
    for (int i = 0; i < kRows; ++i)
      if (args->y[i * kCols] != args->y[i * kCols])
        row_of(args->x + i * kCols, args->y + i * kCols);
      else
        ++kept;
    return kept;
)";

// Half of the rows in half of the laps.
const char* const kLeavesOut = R"(
    const int rows = laps++ % 2 == 0 ? kRows / 2 : kRows;
    for (int i = 0; i < rows; ++i) row_of(args->x + i * kCols, args->y + i * kCols);
    return 0;
)";

/// Nothing was found wrong. On a machine that others use a race may stay without a time, which says
/// nothing of what was left out: that is counted.
bool nothing_wrong(const RaceResult& result) {
  return !result.finding || result.finding->verdict == Verdict::unmeasured;
}

/// Each lap of which one number is judged by a sample, where that does not find anything.
struct Contest {
  std::vector<float> x = std::vector<float>(kRows * kCols);
  bool fresh = true;
  bool sampled = true;
  std::int64_t kept = 0;  // rows that somebody did not compute, in all laps
  RaceSpec spec;

  Contest() {
    spec.case_name = "rows";
    spec.prepare = [this](Rng& inputs, Rng&) {
      if (!fresh && x[0] != 0) return;
      for (float& number : x) number = static_cast<float>(inputs.uniform(0.5, 1));
    };
    spec.lap = [this](Session& session) {
      Call<Args> call("work");
      call.in("x", call.args.x, x);
      const auto y = call.out<float>("y", call.args.y, x.size());
      session.run(call);
      kept += call.returned;
      Lap lap;
      lap.took(call);
      lap.judge_all = [this, got = y.view()] { return miss_in(got); };
      if (sampled) lap.finding = miss_in(got_first(y.view()));
      return lap;
    };
  }

  static std::span<const float> got_first(std::span<const float> y) { return y.first(1); }

  std::optional<Finding> miss_in(std::span<const float> y) const {
    for (std::size_t i = 0; i < y.size(); ++i)
      if (!(std::abs(y[i] - answer_to(x[i])) < 1e-4f))
        return Finding{Verdict::wrong, "", fmt::format("y[{}] is off", i), {}, {}};
    return std::nullopt;
  }

  RaceResult of(const char* body) {
    const Solution solution(work(body, kRow));
    const Solution reference(work(kHonest, kRow)), again(work(kHonest, kRow));
    RaceBudget budget;
    budget.min_pairs = 40;
    budget.max_pairs = 40;
    budget.time = std::chrono::seconds(20);
    return race(spec, budget, 3, *solution.session, *reference.session, *again.session);
  }
};

}  // namespace

TEST_CASE("who is as fast as the reference, is") {
  const RaceResult result = Contest().of(kHonest);
  REQUIRE(nothing_wrong(result));
  if (result.finding) {
    MESSAGE("not measured here: ", result.finding->summary);
    return;
  }
  CHECK(result.speed.low < 1.02);
  CHECK(result.speed.high > 1 / 1.02);
}

TEST_CASE("who remembers answers, or recomputes only rows that changed, gains nothing") {
  for (const char* cheat : {kByContent, kChangedRows}) {
    Contest contest;
    contest.fresh = false;
    CHECK(nothing_wrong(contest.of(cheat)));
    CHECK_MESSAGE(contest.kept > 0, "what this test is about");
    contest.kept = 0;
    contest.fresh = true;
    CHECK(nothing_wrong(contest.of(cheat)));
    CHECK(contest.kept == 0);
  }
}

TEST_CASE("who looks for the answers of others in the pages that all share finds none") {
  Contest contest;
  CHECK(nothing_wrong(contest.of(kFromOthers)));
  CHECK(contest.kept == 0);
}

TEST_CASE("who leaves something out where no sample looks is caught by the laps judged in full") {
  const RaceResult result = Contest().of(kLeavesOut);
  REQUIRE(result.finding);
  CHECK(result.finding->verdict == Verdict::wrong);
  CHECK(result.finding->summary.find("is off") != std::string::npos);
}
