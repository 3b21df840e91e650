// SPDX-License-Identifier: Apache-2.0
// Arrays whose parts lie further apart than any memory reaches.
#include <cstdint>

#include "harness/core/error.h"
#include "harness/worker/layout.h"
#include "tests/support/text.h"
#include "worker_fixture.h"

using namespace gauntlet;
using namespace gauntlet::test;

namespace {

constexpr std::int64_t kFar = (std::int64_t{1} << 32) + 5;  // elements

/// Three parts of x, and three of y, of `count` elements each. Part i of y is x plus i.
const char* const kAddPart = R"(
  for (int64_t part = 0; part < 3; ++part)
    for (int64_t i = 0; i < args->count; ++i)
      args->y[part * args->mode + i] = args->x[part * args->mode + i] + part;
  return 0;
)";

struct FarCall : Call<Args> {
  std::vector<float> data = std::vector<float>(std::size_t{3} * 100);
  std::vector<Output<float>> parts;

  explicit FarCall(std::int64_t stride = kFar) : Call("work") {
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
    args.count = 100;
    args.mode = stride;
    const std::span<const float> all(data);
    in_parts<float, float>("x", args.x, {all.first(100), all.subspan(100, 100), all.last(100)},
                           stride);
    parts = out_parts<float>("y", args.y, 3, 100, stride);
  }
};

}  // namespace

TEST_CASE("parts of arrays lie as far apart as they are said to") {
  const Solution solution(work(kAddPart));
  for (int n = 0; n < 2; ++n) {
    FarCall call;
    call.measure_memory = true;
    solution.session->run(call);
    for (std::size_t part = 0; part < 3; ++part)
      for (std::size_t i = 0; i < 100; ++i)
        REQUIRE(call.parts[part].view()[i] == call.data[100 * part + i] + float(part));
    REQUIRE(call.peak_bytes);
    CHECK(*call.peak_bytes < 1 << 20);  // what lies between costs nothing and counts for nobody
  }
  WorkCall near(50);  // and an ordinary call comes after it
  near.args.mode = 0;
  CHECK(ending_of(*solution.session, near).verdict == Verdict::passed);
}

TEST_CASE("between far parts is nothing") {
  const Solution reader(work("return (int64_t)args->x[args->mode / 2];"));
  FarCall call;
  const Ending end = ending_of(*reader.session, call);
  CHECK(end.verdict == Verdict::crashed);
  CHECK(contains(end.text, "SIGSEGV"));
}

TEST_CASE("what is written around a far part is seen, and the part is named") {
  const Solution solution(work("args->y[args->mode + args->count] = 1; return 0;"));
  FarCall call;
  const Ending end = ending_of(*solution.session, call);
  CHECK(end.verdict == Verdict::wrong);
  CHECK(contains(end.text, "past the end of `y (part 1)`"));
}

TEST_CASE("far parts that nobody wrote are poison") {
  const Solution solution(work("args->y[2 * args->mode] = 1; return 0;"));
  FarCall call;
  solution.session->run(call);
  CHECK(call.parts[2].view()[0] == 1);
  CHECK(call.parts[1].view()[0] != call.parts[1].view()[0]);
}

TEST_CASE("parts that would lie on each other, or beyond the room for them, are our own fault") {
  CHECK_THROWS_AS(lay_out(FarCall(200), std::size_t{256} << 20), Broken);
  CHECK_THROWS_AS(lay_out(FarCall(std::int64_t{1} << 34), std::size_t{256} << 20), Broken);
  CHECK_NOTHROW(lay_out(FarCall(), std::size_t{256} << 20));
}
