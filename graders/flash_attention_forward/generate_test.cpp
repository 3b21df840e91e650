#include "generate.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>

using namespace gauntlet;
using namespace gauntlet::GAUNTLET_CHALLENGE;

namespace {

Sizes some_sizes() {
  Sizes sizes;
  sizes.batch = 2;
  sizes.q_heads = 4;
  sizes.kv_heads = 2;
  sizes.q_len = 5;
  sizes.k_len = 300;
  sizes.dim = 32;
  sizes.value_dim = 7;
  return sizes;
}

constexpr Layout kLayouts[] = {Layout::heads_first, Layout::rows_first,   Layout::packed,
                               Layout::gapped,      Layout::shared_heads, Layout::shared_batch};

}  // namespace

// A guard page behind the last element can only catch what reads beyond it.
TEST_CASE("a tensor's memory ends with its last element") {
  Rng rng(1);
  for (const Layout layout : kLayouts) {
    Tensor tensor(2, 3, 4, 5, layout, rng);
    CHECK(tensor.row(1, 2, 3) + 5 == tensor.data.data() + tensor.data.size());
  }
  CHECK(Tensor(0, 3, 4, 5, Layout::heads_first, rng).data.empty());
}

TEST_CASE("rows of a tensor do not overlap unless they are shared, and gaps hold NaN") {
  Rng rng(2);
  for (const Layout layout : kLayouts) {
    Tensor tensor(2, 3, 4, 5, layout, rng);
    for_each_row(tensor, [](float* row, auto, auto, auto) { std::fill_n(row, 5, 1.0f); });
    const auto filled = std::count(tensor.data.begin(), tensor.data.end(), 1.0f);
    const int shared = layout == Layout::shared_heads ? 3 : layout == Layout::shared_batch ? 2 : 1;
    CHECK(filled == 2 * 3 * 4 * 5 / shared);
    const auto gaps = std::count_if(tensor.data.begin(), tensor.data.end(),
                                    [](float value) { return std::isnan(value); });
    CHECK(filled + gaps == std::ssize(tensor.data));
    CHECK((gaps > 0) == (layout == Layout::packed || layout == Layout::gapped));
  }
}

TEST_CASE("outputs are never shared") {
  Rng rng(3);
  const Problem problem(some_sizes(), rng, Layout::shared_heads);
  CHECK(problem.k.head_stride == 0);
  CHECK(problem.o.head_stride > 0);
}

// Flat scores hide most faults: the mean of the values would pass.
TEST_CASE("sharp scores have the deviation that makes a softmax peaked") {
  Rng rng(4);
  Problem problem(some_sizes(), rng);
  problem.scale = -0.02f;
  fill_sharp(problem, rng);
  double squares = 0;
  double count = 0;
  kit::AttentionRow row;
  for (std::int64_t i = 0; i < 5; ++i) {
    kit::attention_row(problem.oracle_view(), 1, 2, i, row);
    for (const double score : row.scores) squares += score * score;
    count += static_cast<double>(row.scores.size());
  }
  CHECK(std::sqrt(squares / count) > 2);
  CHECK(std::sqrt(squares / count) < 5);
}

// A wrong rescaling is invisible where the maximum does not move after the first tile. Ascending
// profiles move it for a walk from the first key, the reversed ones for a walk from the last.
TEST_CASE("every profile climbs by at least 8 after the first 64 keys") {
  for (std::uint64_t seed = 0; seed < 50; ++seed)
    for (const Profile profile : kProfiles) {
      CAPTURE(name_of(profile));
      Rng rng(seed);
      const std::vector<double> height = heights(profile, 333, rng);
      REQUIRE(height.size() == 333);
      CHECK(std::is_sorted(height.begin(), height.end()));
      CHECK(height.front() == 0);
      CHECK(height.back() - height[63] >= 8);
    }
}

TEST_CASE("a feature adds exactly its product to the scores") {
  Rng rng(5);
  Problem problem(some_sizes(), rng);
  fill_scores(problem, rng, 0, 32);
  add_to_scores(
      problem, 3, [](auto, auto, auto i) { return static_cast<double>(i + 1); },
      [](auto, auto, auto j) { return static_cast<double>(j); });
  kit::AttentionRow row;
  kit::attention_row(problem.oracle_view(), 0, 0, 2, row);
  CHECK(row.scores.at(10) == doctest::Approx(30));
}

TEST_CASE("one-hot values name their key") {
  Rng rng(6);
  Problem problem(some_sizes(), rng);
  fill_one_hot_values(problem);
  CHECK(problem.v.row(1, 1, 9)[2] == 1);
  CHECK(std::count(problem.v.row(1, 1, 9), problem.v.row(1, 1, 9) + 7, 0.0f) == 6);
}
