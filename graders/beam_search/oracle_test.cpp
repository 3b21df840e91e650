// SPDX-License-Identifier: Apache-2.0
#include "oracle.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "directed.h"

using namespace gauntlet;
using namespace gauntlet::GAUNTLET_CHALLENGE;

namespace {

void explore(const Settings& settings, const Language& language, const Context& at,
             const Hypothesis& so_far, std::vector<Hypothesis>& found) {
  if (so_far.finished || std::ssize(so_far.tokens) == settings.max_new) {
    found.push_back(so_far);
    return;
  }
  std::vector<float> row(static_cast<std::size_t>(settings.vocab));
  language(at, row);
  for (std::int32_t token = 0; token < settings.vocab; ++token) {
    const float value = row[static_cast<std::size_t>(token)];
    const bool ends = std::ranges::count(settings.eos, token) > 0;
    if (std::isinf(value) || (ends && std::ssize(so_far.tokens) < settings.min_new)) continue;
    Hypothesis next = so_far;
    next.tokens.push_back(token);
    next.finished = ends;
    next.log_prob += static_cast<double>(value);
    next.score = next.log_prob / length_penalty(settings, std::ssize(next.tokens));
    explore(settings, language, at.extended(token), next, found);
  }
}

/// The best hypotheses of all there are, by trying every one. Agrees with both policies when the
/// beam has room for everything and nothing stops early. vocab^max_new of a few thousand at most.
std::vector<Hypothesis> exhaustive(const Settings& settings, const Language& language,
                                   std::int64_t item) {
  std::vector<Hypothesis> found;
  explore(settings, language, root_of(item), {}, found);
  std::stable_sort(found.begin(), found.end(),
                   [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  if (std::ssize(found) > settings.n_return)
    found.resize(static_cast<std::size_t>(settings.n_return));
  return found;
}

}  // namespace

TEST_CASE("every directed search ends as it was published") {
  CHECK(directed_searches().size() >= 30);
  for (const Directed& one : directed_searches()) {
    INFO(one.name);
    const Expected got = decode(one.settings, table_language({one.table}), 0);
    CHECK_FALSE(got.close_call);
    REQUIRE(got.best.size() >= one.known.size());
    if (one.known_steps > 0) CHECK(got.steps == one.known_steps);
    for (std::size_t i = 0; i < one.known.size(); ++i) {
      CHECK(got.best[i].tokens == one.known[i].tokens);
      CHECK(got.best[i].score == doctest::Approx(one.known[i].score).epsilon(1e-6));
    }
  }
}

TEST_CASE("a disguised search finds the same hypotheses under other token ids") {
  Rng rng(5);
  for (const Directed& one : directed_searches()) {
    INFO(one.name);
    const SolvedProblem solved = directed_problem(rng, one, 3);
    for (const Expected& want : solved.want) {
      REQUIRE(want.best.size() >= one.known.size());
      for (std::size_t i = 0; i < one.known.size(); ++i)
        CHECK(want.best[i].tokens.size() == one.known[i].tokens.size());
    }
  }
}

TEST_CASE("with room for everything both policies find what trying everything finds") {
  Rng rng(11);
  for (int round = 0; round < 200; ++round) {
    Settings settings = random_settings(rng, round % 2 == 0 ? BEAM_POOLED : BEAM_SEPARATE);
    settings.vocab = rng.integer(2, 4);
    settings.eos = {static_cast<std::int32_t>(rng.integer(0, settings.vocab - 1))};
    settings.max_new = rng.integer(1, 4);
    settings.min_new = rng.integer(0, settings.max_new);
    settings.beam = 400;
    settings.n_return = rng.integer(1, 400);
    const SolvedProblem solved = random_problem(rng, settings, 1, [](Rng& item_rng) {
      RandomLanguage drawn = draw_language(item_rng);
      drawn.unit = 1.0F / 1024;  // fine: no ties, which the two break by different orders
      drawn.levels = 1 << 20;
      return drawn;
    });
    const auto all = exhaustive(settings, solved.problem.language, 0);
    INFO(describe(settings));
    REQUIRE(solved.want[0].best.size() == all.size());
    for (std::size_t i = 0; i < all.size(); ++i)
      REQUIRE(solved.want[0].best[i].tokens == all[i].tokens);
  }
}

TEST_CASE("one beam without a penalty is the greedy path") {
  Rng rng(3);
  for (int round = 0; round < 100; ++round) {
    Settings settings = random_settings(rng, round % 2 == 0 ? BEAM_POOLED : BEAM_SEPARATE);
    settings.beam = settings.n_return = 1;
    settings.alpha = 0;
    settings.min_new = 0;
    const SolvedProblem solved = random_problem(rng, settings, 1);
    if (solved.want[0].best.empty()) continue;
    Context at = root_of(0);
    std::vector<float> row(static_cast<std::size_t>(settings.vocab));
    for (const std::int32_t token : solved.want[0].best[0].tokens) {
      solved.problem.language(at, row);
      CHECK(token == std::max_element(row.begin(), row.end()) - row.begin());
      at = at.extended(token);
    }
  }
}

TEST_CASE("cutting long rows down changes nothing") {
  Rng rng(17);
  for (int round = 0; round < 12; ++round) {
    Settings settings = random_settings(rng, round % 2 == 0 ? BEAM_POOLED : BEAM_SEPARATE);
    settings.vocab = kLongRow;  // not cut
    settings.eos = {7, 900};
    const SolvedProblem solved = random_problem(rng, settings, 1);
    Settings longer = settings;
    longer.vocab = kLongRow + 3;  // cut; the further tokens are impossible
    const Language padded = [&](const Context& at, std::span<float> row) {
      solved.problem.language(at, row.first(static_cast<std::size_t>(settings.vocab)));
      std::fill(row.end() - 3, row.end(), kForbidden);
    };
    CHECK(same_result(decode(longer, padded, 0), solved.want[0]));
  }
}

TEST_CASE("the two policies are not equivalent") {
  Rng rng(23);
  int differ = 0;
  for (int round = 0; round < 400; ++round) {
    Settings settings = random_settings(rng, BEAM_POOLED);
    settings.alpha = 1;
    const SolvedProblem solved = random_problem(rng, settings, 1);
    settings.policy = BEAM_SEPARATE;
    if (!same_result(decode(settings, solved.problem.language, 0), solved.want[0])) ++differ;
  }
  CHECK(differ > 40);
  CHECK(differ < 400);
}

TEST_CASE("a decision that hangs on rounding is noticed") {
  Settings settings;
  settings.beam = settings.n_return = 1;
  settings.vocab = 2;
  settings.max_new = 2;
  settings.alpha = 1;
  settings.stop = BEAM_STOP_BOUND;
  // -1 at length 1 and -2 at length 2: equal scores with different lp.
  const Table table{{{{}, {-1, -1}}, {{1}, {-1, -5}}}, {-9, -9}};
  CHECK(decode(settings, table_language({table}), 0).close_call);
  settings.alpha = 0;
  CHECK_FALSE(decode(settings, table_language({table}), 0).close_call);
}

TEST_CASE("scores of one lp hang on its last bits where the sums are next to each other") {
  Settings settings;
  settings.policy = BEAM_POOLED;
  settings.beam = settings.n_return = 2;
  settings.vocab = 2;
  settings.max_new = 2;
  settings.eos.clear();
  settings.alpha = 0.9;
  const float least = 0x1p-52F;
  const auto close = [&](float one, float other) {
    const Table table{{{{}, {-1, kForbidden}}}, {one, other}};
    return decode(settings, table_language({table}), 0).close_call;
  };
  CHECK(close(-2 * least, -3 * least));
  CHECK_FALSE(close(-2 * least, -99 * least));
  CHECK_FALSE(close(-least / 64, -least / 128));  // both sums are -1
  settings.alpha = 0;
  CHECK_FALSE(close(-2 * least, -3 * least));
}

TEST_CASE("of long rows too, what is equal is found by its sum and by its score") {
  Settings settings;
  settings.beam = settings.n_return = 1;
  settings.vocab = kLongRow + 5;
  settings.max_new = 2;
  settings.eos.clear();
  std::vector<float> root(static_cast<std::size_t>(settings.vocab), kForbidden);
  std::vector<float> falling = root;
  for (std::size_t token = 0; token < falling.size(); ++token)
    falling[token] = -0x1p-140F * static_cast<float>(falling.size() - token);
  const auto last_of_best = [&](float first, std::int32_t policy, double alpha) {
    root[3] = first;
    settings.policy = policy;
    settings.alpha = alpha;
    const Expected want = decode(settings, table_language({{{{{}, root}}, falling}}), 0);
    CHECK_FALSE(want.close_call);
    return want.best.at(0).tokens.at(1);
  };
  CHECK(last_of_best(-1, BEAM_SEPARATE, 0) == 0);
  CHECK(last_of_best(-1, BEAM_POOLED, 0) == 0);
  CHECK(last_of_best(-0x1p-140F, BEAM_SEPARATE, 1000) == settings.vocab - 1);
  CHECK(last_of_best(-0x1p-140F, BEAM_POOLED, 1000) == 0);
}

TEST_CASE("far down, a float no longer tells what float64 sums exactly") {
  const Table table{{{{}, {-3, -2.5F}}}, {-1.0F / 1024, -3.0F / 1024}};
  const Language language = far_down(table_language({table}), 0x1p24F);
  std::vector<float> row(2);
  language(root_of(0), row);
  CHECK(row == std::vector<float>{-0x1p24F - 6, -0x1p24F - 6});
  language(root_of(0).extended(1), row);
  CHECK(row == std::vector<float>{-1.0F / 1024, -3.0F / 1024});
  CHECK(-0x1p24F - 6 + row[0] == -0x1p24F - 6 + row[1]);
  CHECK(-0x1p24 - 6 + static_cast<double>(row[0]) > -0x1p24 - 6 + static_cast<double>(row[1]));
}
