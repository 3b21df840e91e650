#include "oracle.h"

#include <cmath>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "cases.h"

using namespace gauntlet;
using namespace gauntlet::GAUNTLET_CHALLENGE;

TEST_CASE("every directed search ends as it was published") {
  CHECK(directed_searches().size() >= 30);
  for (const Directed& one : directed_searches()) {
    INFO(one.name);
    const Decoded got = decode(one.settings, table_language({one.table}), 0);
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
    const Posed posed = pose_directed(rng, one, 3);
    for (const Decoded& want : posed.want) {
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
    const Posed posed = pose_random(rng, settings, 1, [](Rng& dice_rng) {
      Dice dice = draw_dice(dice_rng);
      dice.unit = 1.0F / 1024;  // fine: no ties, which the two break by different orders
      dice.levels = 1 << 20;
      return dice;
    });
    const auto all = exhaustive(settings, posed.problem.language, 0);
    INFO(describe(settings));
    REQUIRE(posed.want[0].best.size() == all.size());
    for (std::size_t i = 0; i < all.size(); ++i)
      REQUIRE(posed.want[0].best[i].tokens == all[i].tokens);
  }
}

TEST_CASE("one beam without a penalty is the greedy path") {
  Rng rng(3);
  for (int round = 0; round < 100; ++round) {
    Settings settings = random_settings(rng, round % 2 == 0 ? BEAM_POOLED : BEAM_SEPARATE);
    settings.beam = settings.n_return = 1;
    settings.alpha = 0;
    settings.min_new = 0;
    const Posed posed = pose_random(rng, settings, 1);
    if (posed.want[0].best.empty()) continue;
    Context at = root_of(0);
    std::vector<float> row(static_cast<std::size_t>(settings.vocab));
    for (const std::int32_t token : posed.want[0].best[0].tokens) {
      posed.problem.language(at, row);
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
    const Posed posed = pose_random(rng, settings, 1);
    Settings longer = settings;
    longer.vocab = kLongRow + 3;  // cut; the further tokens are impossible
    const Language padded = [&](const Context& at, std::span<float> row) {
      posed.problem.language(at, row.first(static_cast<std::size_t>(settings.vocab)));
      std::fill(row.end() - 3, row.end(), kForbidden);
    };
    CHECK(same_result(decode(longer, padded, 0), posed.want[0]));
  }
}

TEST_CASE("the two policies are not equivalent") {
  Rng rng(23);
  int differ = 0;
  for (int round = 0; round < 400; ++round) {
    Settings settings = random_settings(rng, BEAM_POOLED);
    settings.alpha = 1;
    const Posed posed = pose_random(rng, settings, 1);
    settings.policy = BEAM_SEPARATE;
    if (!same_result(decode(settings, posed.problem.language, 0), posed.want[0])) ++differ;
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
