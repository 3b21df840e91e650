// SPDX-License-Identifier: Apache-2.0
#include "harness/score/pass_at_k.h"

#include <cstdint>
#include <doctest/doctest.h>
#include <stdexcept>

using namespace gauntlet;

namespace {

/// Pascal's triangle: exact, and another way than that of pass_at_k.
std::uint64_t choose(int n, int k) {
  if (k > n) return 0;
  std::vector<std::uint64_t> row{1};
  for (int i = 1; i <= n; ++i) {
    row.push_back(1);
    for (std::size_t j = row.size() - 2; j > 0; --j) row[j] += row[j - 1];
  }
  return row.at(static_cast<std::size_t>(k));
}

}  // namespace

TEST_CASE("pass@k is what the binomials say") {
  for (int n = 1; n <= 30; ++n)
    for (int c = 0; c <= n; ++c)
      for (int k = 1; k <= n; ++k) {
        INFO(n, " ", c, " ", k);
        const double none =
            static_cast<double>(choose(n - c, k)) / static_cast<double>(choose(n, k));
        CHECK(pass_at_k(n, c, k) == doctest::Approx(1 - none).epsilon(1e-12));
      }
}

TEST_CASE("pass@1 is the share that passed, pass@n is 1 as soon as one did") {
  CHECK(pass_at_k(5, 2, 1) == doctest::Approx(0.4));
  CHECK(pass_at_k(5, 1, 5) == 1);
  CHECK(pass_at_k(5, 0, 5) == 0);
  CHECK(pass_at_k(5, 5, 1) == 1);
}

TEST_CASE("pass@k never falls with k nor with c, to the last bit") {
  for (int n = 1; n <= 60; ++n)
    for (int c = 0; c <= n; ++c)
      for (int k = 1; k <= n; ++k) {
        INFO(n, " ", c, " ", k);
        if (k < n) CHECK(pass_at_k(n, c, k) <= pass_at_k(n, c, k + 1));
        if (c < n) CHECK(pass_at_k(n, c, k) <= pass_at_k(n, c + 1, k));
      }
}

TEST_CASE("numbers whose binomials no double holds are no obstacle") {
  CHECK(pass_at_k(100000, 1, 1000) == doctest::Approx(0.01));
  CHECK(pass_at_k(100000, 50000, 50000) == 1);
}

TEST_CASE("more attempts than there were say nothing") {
  CHECK_THROWS_AS(pass_at_k(3, 1, 4), std::invalid_argument);
  CHECK_THROWS_AS(pass_at_k(3, 4, 1), std::invalid_argument);
  CHECK_THROWS_AS(pass_at_k(3, -1, 1), std::invalid_argument);
  CHECK_THROWS_AS(pass_at_k(3, 1, 0), std::invalid_argument);
  CHECK(printed_k(0).empty());
  CHECK(printed_k(1) == std::vector{1});
  CHECK(printed_k(4) == std::vector{1, 2});
  CHECK(printed_k(20) == std::vector{1, 2, 5, 10, 20});
}
