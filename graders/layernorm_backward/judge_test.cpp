// SPDX-License-Identifier: Apache-2.0
#include "judge.h"

#include <cmath>
#include <doctest/doctest.h>
#include <functional>
#include <map>

namespace {

using namespace gauntlet;
using namespace gauntlet::GAUNTLET_CHALLENGE;

/// A solution that knows the oracle's answer, and changes some of it.
struct Solution : Session {
  Problem problem;
  Expected right;
  std::string changed;                         // an output of the contract
  std::function<void(std::span<float>)> edit;  // of its memory, gaps included
  std::map<std::string, std::vector<float>> memory;

  explicit Solution(const Problem& asked) : problem(asked), right(expect(asked)) {}

  void run(CallBase& call) override {
    call.returned = 0;
    for (Buffer& buffer : call.buffers()) {
      if (buffer.direction == Direction::in) continue;
      std::vector<float>& made = memory[buffer.name];
      made.assign(buffer.bytes / sizeof(float), 0);
      std::ranges::fill(std::as_writable_bytes(std::span(made)), std::byte{0xff});
      fill(buffer.name, made);
      if (buffer.name == changed) edit(made);
      buffer.result = std::as_writable_bytes(std::span(made));
    }
  }
  void restart() override {}

  void fill(const std::string& name, std::vector<float>& to) const {
    const bool sums = name == "dgamma" || name == "dbeta";
    const auto& from = name == "y"        ? right.y
                       : name == "dx"     ? right.dx
                       : name == "dgamma" ? right.dgamma
                                          : right.dbeta;
    const std::int64_t stride = sums          ? problem.cols
                                : name == "y" ? problem.y_stride
                                              : problem.dx_stride;
    for (std::int64_t k = 0; k < std::ssize(from); ++k)
      to[static_cast<std::size_t>(k / problem.cols * stride + k % problem.cols)] =
          static_cast<float>(from[static_cast<std::size_t>(k)]);
  }
};

/// Where the judge finds a fault; empty when it finds none.
std::string fault_of(const std::string& changed, std::function<void(std::span<float>)> edit,
                     const std::vector<std::int64_t>& bad_rows = {},
                     const CallOptions& options = {}) {
  Rng rng(1);
  Solution solution(make_problem(rng, 3, 5, {}, {0, 0, 2, 2}));
  solution.problem.bad_rows = bad_rows;
  solution.changed = changed;
  solution.edit = std::move(edit);
  Probe probe({"check_id", "a fault", Section::correctness, 1, Severity::major}, 7,
              {.solution = solution});
  try {
    require_right_with_y(probe, solution.problem, options);
  } catch (const CheckEnded& ended) {
    return ended.finding.miss ? ended.finding.miss->where : ended.finding.summary;
  }
  return "";
}

}  // namespace

TEST_CASE("a right answer is accepted, and every element of every output is looked at") {
  CHECK(fault_of("", {}) == "");
  const auto spoil = [](std::size_t k, float value) {
    return [=](std::span<float> made) { made[k] = value; };
  };
  for (const float value : {NAN, INFINITY, 1e6f}) {
    CHECK(fault_of("y", spoil(0, value)) == "y[0][0]");
    CHECK(fault_of("dx", spoil(2 * 7 + 4, value)) == "dx[2][4]");
    CHECK(fault_of("dgamma", spoil(4, value)) == "dgamma[4]");
    CHECK(fault_of("dbeta", spoil(1, value)) == "dbeta[1]");
  }
  CHECK(fault_of("dx", [](std::span<float> made) { made[8] *= 1.001f; }) == "dx[1][1]");
}

TEST_CASE("what lies between two rows must not be written, whatever is written there") {
  for (const float value : {0.0f, NAN}) {
    const auto write = [=](std::span<float> made) { made[5] = value; };
    CHECK(fault_of("dx", write).starts_with("dx was written between rows 0 and 1"));
    CHECK(fault_of("y", write).starts_with("y was written between rows 0 and 1"));
  }
}

TEST_CASE("of a bad row nothing is looked at, nor are sums over rows; other rows are") {
  const auto spoil = [](std::size_t k) { return [=](std::span<float> made) { made[k] = NAN; }; };
  CHECK(fault_of("dx", spoil(7 + 4), {1}) == "");
  CHECK(fault_of("y", spoil(7), {1}) == "");
  CHECK(fault_of("dgamma", spoil(2), {1}) == "");
  CHECK(fault_of("dbeta", spoil(2), {1}) == "");
  CHECK(fault_of("dx", spoil(2 * 7 + 4), {1}) == "dx[2][4]");
  CHECK(fault_of("y", spoil(3), {1}) == "y[0][3]");
}

TEST_CASE("an array that only the other pass writes stays as it is") {
  CallOptions options;
  options.others_given = true;
  CHECK(fault_of("", {}, {}, options) ==
        "dx was written by layernorm_forward, whose output it is not");
}
