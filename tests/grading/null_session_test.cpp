// SPDX-License-Identifier: Apache-2.0
#include "harness/grading/null_session.h"

#include <cmath>
#include <doctest/doctest.h>

using namespace gauntlet;

namespace {

struct Args {
  const float* x;
  float* y;
  std::int32_t* index;
};

std::vector<float> answer(NullSession& session, const std::vector<float>& x) {
  Call<Args> call("f");
  call.in("x", call.args.x, x);
  const auto y = call.out<float>("y", call.args.y, x.size());
  call.out<std::int32_t>("index", call.args.index, 2);
  session.run(call);
  CHECK(call.returned == 0);
  return y.copy();
}

std::vector<float> answer(NullKind kind, const std::vector<float>& x) {
  NullSession session(kind, 1);
  return answer(session, x);
}

}  // namespace

TEST_CASE("each null solution writes what its name says") {
  const std::vector<float> x{1, 2, 6};
  CHECK(std::isnan(answer(NullKind::untouched, x)[2]));
  CHECK(answer(NullKind::zeros, x) == std::vector<float>{0, 0, 0});
  CHECK(answer(NullKind::ones, x) == std::vector<float>{1, 1, 1});
  CHECK(answer(NullKind::copy, x) == x);
  CHECK(answer(NullKind::mean, x) == std::vector<float>{3, 3, 3});
  const auto random = answer(NullKind::random, x);
  CHECK(random[0] != random[1]);
}

TEST_CASE("'previous' is right once per shape, then repeats itself until it restarts") {
  NullSession teacher(NullKind::copy, 1);
  NullSession session(NullKind::previous, 1, &teacher);
  CHECK(answer(session, {5}) == std::vector<float>{5});
  CHECK(answer(session, {7}) == std::vector<float>{5});
  CHECK(answer(session, {7, 8}) == std::vector<float>{7, 8});
  session.restart();
  CHECK(answer(session, {7}) == std::vector<float>{7});
  CHECK_THROWS(NullSession(NullKind::previous, 1));
}

TEST_CASE("a null solution for a device has one that saw nothing") {
  CHECK(NullSession(NullKind::zeros, 1).device() == nullptr);
  NullSession session(NullKind::zeros, 1, nullptr, Device::cuda);
  REQUIRE(session.device() != nullptr);
  session.device()->set_terms(strict_terms());
  CHECK(answer(session, {5}) == std::vector<float>{0});
  CHECK(session.device()->report().kernels.empty());
  CHECK(session.device()->report().diagnostics().empty());
}

TEST_CASE("every kind has a name of its own") {
  for (int i = 0; i < kNullKinds; ++i)
    for (int j = 0; j < i; ++j)
      CHECK(name_of(static_cast<NullKind>(i)) != name_of(static_cast<NullKind>(j)));
}
