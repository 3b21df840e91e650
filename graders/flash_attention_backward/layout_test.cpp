#include "layout.h"

#include <cmath>
#include <doctest/doctest.h>
#include <numeric>

#include "cases.h"
#include "directions.h"

namespace {

using namespace gauntlet;
using namespace gauntlet::GAUNTLET_CHALLENGE;

const Extents kExtents{2, 3, 4, 5};

std::vector<float> counting(std::int64_t count) {
  std::vector<float> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  return numbers;
}

}  // namespace

TEST_CASE("a tensor comes back from every layout") {
  const std::vector<float> dense = counting(kExtents.count());
  for (const bool rows_outside : {false, true})
    for (const std::int64_t gap : {0, 3}) {
      Layout layout;
      layout.rows_outside = rows_outside;
      layout.row_gap = gap;
      layout.head_gap = rows_outside ? 0 : 2 * gap;
      const Placed placed(kExtents, layout);
      CHECK(placed.gather(placed.scatter(dense, NAN)) == dense);
    }
}

TEST_CASE("a layout has the strides that its words say") {
  Layout layout;
  layout.rows_outside = true;
  layout.row_gap = 1;
  const Placed placed(kExtents, layout);
  CHECK(placed.head_stride == 6);
  CHECK(placed.row_stride == 18);
  CHECK(placed.batch_stride == 72);
  CHECK(placed.count == 72 + 2 * 6 + 3 * 18 + 5);  // nothing behind the last row
}

TEST_CASE("equal heads are stored once") {
  Layout layout;
  layout.one_head = true;
  const Placed placed(kExtents, layout);
  CHECK(placed.head_stride == 0);
  CHECK(placed.count == 2 * 4 * 5);
}

TEST_CASE("a write between the rows is seen, one into a row is not") {
  Layout layout;
  layout.row_gap = 2;
  const Placed placed(kExtents, layout);
  const std::vector<float> before = placed.scatter(counting(kExtents.count()), NAN);
  std::vector<float> after = before;
  after[4] = 100;
  CHECK_FALSE(placed.touched(after, before));
  after[6] = 0;
  CHECK(placed.touched(after, before) == 6);
}

TEST_CASE("drawn lengths stay in their range and lie near multiples of tiles") {
  Rng rng(3);
  for (int n = 0; n < 200; ++n) {
    const std::int64_t length = near_tile_edge(rng, 65, 170);
    CHECK(length >= 65);
    CHECK(length <= 170);
    CHECK((length + 1) % 16 <= 2);
  }
}

TEST_CASE("slopes of the loss agree with the oracle's gradients and not with others") {
  Rng rng(5);
  Sizes sizes;
  sizes.q_heads = 2;
  sizes.q_len = 9;
  sizes.k_len = 12;
  sizes.dim = sizes.value_dim = 6;
  Problem problem = random_problem(rng, sizes, 1);
  problem.form.softcap = 3;
  problem.dlse.assign(18, 0.5f);
  attend(problem);
  const Expected expected = expected_of(problem);
  const auto rounded = [](const std::vector<double>& numbers) {
    return std::vector<float>(numbers.begin(), numbers.end());
  };
  Answer answer{
      rounded(expected.value.dq), rounded(expected.value.dk), rounded(expected.value.dv), {}};
  for (const Moved moved : {Moved::q, Moved::k, Moved::v})
    CHECK_FALSE(slope_miss(problem, rng, moved, answer));
  for (float& dk : answer.dk) dk *= 1.001f;
  CHECK(slope_miss(problem, rng, Moved::k, answer));
}
