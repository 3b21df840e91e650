// SPDX-License-Identifier: Apache-2.0
#include "graders/kit/refusals.h"

#include <doctest/doctest.h>
#include <vector>

#include "graders/kit/bits.h"
#include "graders/kit/memory.h"
#include "graders/kit/tolerance.h"
#include "tests/support/scripted_session.h"

using namespace gauntlet;

namespace {

struct CopyArgs {
  const float* x;
  float* y;
  float* sum;
};

/// A call with one array of each direction, as a solution would leave it.
struct Refused {
  Scripted session;
  Probe probe = probe_of(session);
  std::vector<float> x{1, 2};
  std::vector<std::byte> y{8, std::byte{0xff}};
  std::vector<float> old_sum{5};
  std::vector<float> sum{5};
  std::int64_t returned = -2;

  bool passes() {
    Call<CopyArgs> call("copy");
    call.in("x", call.args.x, x);
    call.out<float>("y", call.args.y, 2);
    call.inout("sum", call.args.sum, old_sum);
    session.script = [&](CallBase& ran) {
      ran.returned = returned;
      ran.buffers()[1].result = y;
      ran.buffers()[2].result = std::as_writable_bytes(std::span(sum));
    };
    try {
      kit::require_refused(probe, call, -2);
    } catch (const CheckEnded&) {
      return false;
    }
    return true;
  }
};

}  // namespace

TEST_CASE("a refusal returns what the contract says, and writes nothing") {
  CHECK(Refused().passes());
  Refused accepted;
  accepted.returned = 0;
  CHECK_FALSE(accepted.passes());
  for (std::size_t i = 0; i < 8; ++i) {
    Refused written;
    written.y[i] = std::byte{0x7f};
    CHECK_FALSE(written.passes());
  }
  Refused added;
  added.sum[0] = 6;
  CHECK_FALSE(added.passes());
}

TEST_CASE("a finding says first what is wrong with the call") {
  Scripted session;
  Probe probe = probe_of(session);
  try {
    kit::naming_flaw("eps -1", [&] { probe.fail("returned 0", {"the rest"}); });
    FAIL("the check did not end");
  } catch (const CheckEnded& ended) {
    CHECK(ended.finding.summary == "returned 0");
    CHECK(ended.finding.evidence ==
          std::vector<std::string>{"what is wrong with the call: eps -1", "the rest"});
  }
}

TEST_CASE("poison is told from a solution's own NaN, and equal numbers from equal bits") {
  const float own = std::numeric_limits<float>::quiet_NaN();
  CHECK_FALSE(kit::is_poison(own));
  CHECK(kit::is_poison(std::bit_cast<float>(0xffffffffu)));
  CHECK(kit::is_poison(std::int32_t{-1}));
  CHECK(kit::is_poison(std::vector<std::int32_t>{-1, -1}));
  CHECK_FALSE(kit::is_poison(std::vector<std::int32_t>{-1, 0}));
  CHECK(kit::same_bits(std::vector{own}, std::vector{own}));
  CHECK_FALSE(kit::same_bits(std::vector{0.0f}, std::vector{-0.0f}));
  CHECK_FALSE(kit::same_bits(std::vector{0.0f}, std::vector<float>{}));
  CHECK(kit::same_bits(std::vector<float>{}, std::vector<float>{}));
}

TEST_CASE("the largest share of a tolerance is kept") {
  Scripted session;
  Probe probe = probe_of(session);
  for (const double share : {0.2, 0.7, 0.1}) kit::note_share(probe, share);
  REQUIRE(probe.observation().facts.size() == 1);
  CHECK(probe.observation().facts[0].value == 0.7);
}
