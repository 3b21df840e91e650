// SPDX-License-Identifier: Apache-2.0
#include "graders/kit/strided.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <numeric>

#include "graders/kit/bits.h"

using namespace gauntlet::kit;

namespace {

constexpr Extents kExtents{2, 3, 4, 5};

Tensor counting() {
  Tensor tensor(kExtents);
  std::iota(tensor.data.begin(), tensor.data.end(), 0.0f);
  return tensor;
}

const std::vector<Layout> kLayouts{
    {},
    {.rows_outside = true},
    {.rows_outside = true, .outer_gap = 7},
    {.row_gap = 3, .outer_gap = 2, .batch_gap = 5},
    {.rows_outside = true, .row_gap = 3, .batch_gap = 1},
    {.one_head = true},
    {.rows_outside = true, .one_head = true},
    {.one_batch = true},
};

}  // namespace

TEST_CASE("a tensor is dense, unfilled at first, and its view finds its rows") {
  Tensor tensor(kExtents);
  CHECK(tensor.data.size() == 120);
  CHECK(std::ranges::all_of(tensor.data, [](float x) { return std::isnan(x); }));
  tensor = counting();
  CHECK(tensor.row(1, 2, 3)[4] == 119);
  CHECK(tensor.view().row(1, 2, 3) == tensor.row(1, 2, 3));
}

TEST_CASE("every row is visited once, with its place") {
  Tensor tensor(kExtents);
  for_each_row(tensor, [](std::span<float> row, auto b, auto h, auto n) {
    for (float& x : row) x = static_cast<float>(100 * b + 10 * h + n);
  });
  CHECK(tensor.row(0, 2, 1)[4] == 21);
  CHECK(tensor.row(1, 0, 3)[0] == 103);
}

TEST_CASE("keys that do not exist are visited, others are not") {
  Tensor tensor = counting();
  AttentionProblem problem;
  problem.k_len = 4;
  problem.kv_start = {1, 0};
  problem.kv_len = {2, 4};
  for_each_missing_key(tensor, problem, [](std::span<float> row) { row[0] = -1; });
  CHECK(std::ranges::count(tensor.data, -1.0f) == 6);  // two keys of three heads in one entry
  CHECK(tensor.row(0, 2, 0)[0] == -1);
  CHECK(tensor.row(0, 2, 1)[0] == 45);
}

// A guard page behind the last element can only catch what reads beyond it.
TEST_CASE("a tensor comes back from every layout, whose memory ends with the last row") {
  for (const Layout& layout : kLayouts) {
    Tensor tensor = counting();
    repeat_shared(tensor, layout);
    const Strides strides(kExtents, layout);
    const std::vector<float> memory = strides.scatter(tensor.data, NAN);
    CHECK(strides.gather(memory) == tensor.data);
    CHECK(memory.back() == tensor.data.back());
    const std::int64_t shared = layout.one_head ? 3 : layout.one_batch ? 2 : 1;
    const auto gaps = std::ranges::count_if(memory, [](float x) { return std::isnan(x); });
    CHECK(std::ssize(memory) - gaps == kExtents.count() / shared);  // no two rows overlap
    CHECK((gaps > 0) == (layout.row_gap + layout.outer_gap + layout.batch_gap > 0));
  }
  CHECK(Strides({0, 3, 4, 5}, {}).count == 0);
}

TEST_CASE("a layout has the strides that its words say") {
  const Strides rows_outside(kExtents, {.rows_outside = true, .row_gap = 1, .outer_gap = 2});
  CHECK(rows_outside.head == 6);
  CHECK(rows_outside.row == 3 * 6 + 2);
  CHECK(rows_outside.batch == 4 * 20);
  CHECK(rows_outside.count == 80 + 2 * 6 + 3 * 20 + 5);
  const Strides heads_outside(kExtents, {.row_gap = 1, .outer_gap = 2, .batch_gap = 3});
  CHECK(heads_outside.row == 6);
  CHECK(heads_outside.head == 4 * 6 + 2);
  CHECK(heads_outside.batch == 3 * 26 + 3);
  CHECK(Strides(kExtents, {.one_head = true}).head == 0);
  CHECK(Strides(kExtents, {.one_batch = true}).batch == 0);
}

TEST_CASE("a write between the rows is seen, one into a row is not") {
  const Strides strides(kExtents, {.row_gap = 2});
  const std::vector<float> before = strides.scatter(counting().data, NAN);
  std::vector<float> after = before;
  after[4] = 100;
  CHECK_FALSE(strides.touched(after, before));
  after[6] = 0;
  CHECK(strides.touched(after, before) == 6);
}

// A solution's own NaN is a write as well.
TEST_CASE("without a before, what lies between the rows has to be poison") {
  const Strides strides(kExtents, {.row_gap = 2});
  std::vector<float> memory(static_cast<std::size_t>(strides.count));
  std::ranges::fill(std::as_writable_bytes(std::span(memory)), std::byte{0xff});
  CHECK_FALSE(strides.touched(memory, {}));
  memory[12] = NAN;
  CHECK(strides.touched(memory, {}) == 12);
}

TEST_CASE("a call takes tensors with strides and gives them back dense") {
  struct Args {
    const void* x;
    float* y;
    std::int64_t x_batch_stride, x_head_stride, x_row_stride;
  };
  struct Asked : StridedCall<Args> {
    Asked(const Tensor& x, const CallOptions& options) : StridedCall("f", options) {
      tensor_in("x", args.x, x, {.row_gap = 2},
                {&args.x_batch_stride, &args.x_head_stride, &args.x_row_stride});
      tensor_out("y", args.y, kExtents, {.row_gap = 1}, {});
    }
  };
  CallOptions options;
  Asked call(counting(), options);
  CHECK(call.args.x_row_stride == 7);
  CHECK(call.args.x_batch_stride == 84);
  const Strides strides(kExtents, {.row_gap = 1});
  std::vector<float> memory = strides.scatter(counting().data, 0);
  for (std::size_t gap = 5; gap < memory.size(); gap += 6)
    std::ranges::fill(std::as_writable_bytes(std::span(memory).subspan(gap, 1)), std::byte{0xff});
  call.buffers().back().result = std::as_writable_bytes(std::span(memory));
  CHECK(call.result("y") == counting().data);
  CHECK(call.result("z").empty());
  CHECK_FALSE(call.written_gap());
  memory[11] = 1;
  CHECK(call.written_gap()->where == "y + 11, between rows");

  options.missing = "x";
  const Asked without(counting(), options);
  CHECK(without.buffers().size() == 1);
  CHECK(without.args.x_row_stride == 7);
}
