// SPDX-License-Identifier: Apache-2.0
#include "oracle.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "graders/kit/inputs.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr double kUnit = 0x1p-24;  // of rounding, in float

// Attention may be off by C units of its condition: scores that are off by so many roundings of
// their products, sums and exponentials of them, sums of values. Of C = 24 + keys / 64, which sums
// one after the other need in long sequences, the honest variants have used 0.18 at most (results
// of lse_of_equal_keys, with products summed in order), and usually less than 0.1.
constexpr double kRoundings = 24;
constexpr double kKeysARounding = 64;

// Merging is a sum over parts; honest variants have used 0.09 of it.
constexpr double kPartsARounding = 16;

using kit::kInfinity;

/// Magnitudes of a vector as tolerances see them: of the number itself, or the largest in its group
/// where numbers are quantised, because honest arithmetic keeps the steps of a group apart.
void magnitudes(const Setup& setup, std::span<const float> numbers, std::vector<double>& made) {
  made.resize(numbers.size());
  for (std::size_t d = 0; d < numbers.size(); ++d)
    made[d] = std::abs(static_cast<double>(numbers[d]));
  if (setup.stored == KV_F32) return;
  for (auto first = made.begin(); first != made.end();) {
    const auto last = first + std::min<std::ptrdiff_t>(setup.group, made.end() - first);
    std::fill(first, last, *std::max_element(first, last));
    first = last;
  }
}

struct Product {
  double sum = 0;
  double width = 0;  // the sum of the magnitudes of its terms
};

/// In four sums, which a processor works on at once.
Product product(const float* q, std::span<const float> key, const std::vector<double>& sizes) {
  constexpr std::size_t kLanes = 4;
  std::array<double, kLanes> sum{};
  std::array<double, kLanes> width{};
  const auto add = [&](std::size_t d, std::size_t lane) {
    const auto factor = static_cast<double>(q[d]);
    sum[lane] += factor * key[d];
    width[lane] += std::abs(factor) * sizes[d];
  };
  std::size_t d = 0;
  for (; d + kLanes <= key.size(); d += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane) add(d + lane, lane);
  for (; d < key.size(); ++d) add(d, 0);
  return {(sum[0] + sum[1]) + (sum[2] + sum[3]), (width[0] + width[1]) + (width[2] + width[3])};
}

/// Results of one row at a time.
class RowOracle {
 public:
  RowOracle(const Setup& setup, const Problem& problem, Expected& expected)
      : setup_(setup), problem_(problem), expected_(expected) {}

  void row(const Tokens& tokens, const kit::KeyRange& seen, std::int64_t head, std::int64_t row) {
    const auto count = static_cast<std::size_t>(seen.last - seen.first);
    const auto dim = static_cast<std::size_t>(setup_.key_dim);
    kv_head_ = head / (problem_.q_heads / setup_.heads);
    const float* q = problem_.q.data() + static_cast<std::size_t>(row) * dim;
    weights_.resize(count);
    double top = -kInfinity;
    double widest = 0;
    for (std::size_t j = 0; j < count; ++j) {
      const auto key = vector(tokens.k, seen.first + std::int64_t(j), dim);
      magnitudes(setup_, key, sizes_);
      const Product found = product(q, key, sizes_);
      weights_[j] = found.sum * problem_.scale;
      top = std::max(top, weights_[j]);
      widest = std::max(widest, found.width * std::abs(problem_.scale));
    }
    double sum = 0;
    for (double& weight : weights_) sum += weight = std::exp(weight - top);
    for (double& weight : weights_) weight /= sum;
    const auto at = static_cast<std::size_t>(row);
    const double share = (kRoundings + static_cast<double>(count) / kKeysARounding) * kUnit;
    expected_.lse[at] = count == 0 ? -kInfinity : top + std::log(sum);
    expected_.lse_allowed[at] = count == 0 ? 0 : share * (1 + widest + std::abs(expected_.lse[at]));
    add_values(tokens, seen.first, at, share, 1 + widest);
  }

 private:
  std::span<const float> vector(const std::vector<float>& all, std::int64_t token,
                                std::size_t dim) const {
    return {all.data() + static_cast<std::size_t>(token * setup_.heads + kv_head_) * dim, dim};
  }

  void add_values(const Tokens& tokens, std::int64_t first, std::size_t row, double share,
                  double widest) {
    const auto dim = static_cast<std::size_t>(setup_.value_dim);
    double* out = expected_.out.data() + row * dim;
    double* allowed = expected_.out_allowed.data() + row * dim;
    std::fill_n(allowed, dim, 0.0);
    for (std::size_t j = 0; j < weights_.size(); ++j) {
      const auto value = vector(tokens.v, first + std::int64_t(j), dim);
      magnitudes(setup_, value, sizes_);
      for (std::size_t d = 0; d < dim; ++d) {
        out[d] += weights_[j] * static_cast<double>(value[d]);
        allowed[d] += share * (widest * weights_[j] + 1e-30) * sizes_[d];
      }
    }
  }

  const Setup& setup_;
  const Problem& problem_;
  Expected& expected_;
  std::int64_t kv_head_ = 0;
  std::vector<double> weights_;
  std::vector<double> sizes_;
};

}  // namespace

Expected::Expected(std::vector<std::int64_t> extents, std::int64_t dim)
    : row_extents(std::move(extents)), dim(dim) {
  std::size_t rows = 1;
  for (const std::int64_t extent : row_extents) rows *= static_cast<std::size_t>(extent);
  out.assign(rows * static_cast<std::size_t>(dim), 0);
  out_allowed = out;
  lse.assign(rows, 0);
  lse_allowed = lse;
}

Expected expect(const Setup& setup, const std::vector<Tokens>& stored, const Problem& problem,
                const std::function<bool()>& wanted, const Ids& lengths) {
  Expected expected({problem.rows() / problem.q_heads, problem.q_heads}, setup.value_dim);
  std::ranges::fill(expected.out_allowed, kInfinity);
  std::ranges::fill(expected.lse_allowed, kInfinity);
  RowOracle oracle(setup, problem, expected);
  std::int64_t row = 0;
  for (std::size_t entry = 0; entry < problem.which.size(); ++entry) {
    const auto sequence = static_cast<std::size_t>(problem.which[entry]);
    const Tokens& tokens = stored[sequence];
    const std::int64_t length = lengths.empty() ? tokens.count(setup) : lengths[sequence];
    for (std::int64_t query = 0; query < problem.queries[entry]; ++query) {
      const kit::KeyRange seen = visible_keys(problem, entry, query, length);
      for (std::int64_t head = 0; head < problem.q_heads; ++head, ++row)
        if (!wanted || wanted()) oracle.row(tokens, seen, head, row);
    }
  }
  return expected;
}

Expected expect(const Parts& parts) {
  Expected expected({parts.rows}, parts.dim);
  const double constant = (kRoundings + static_cast<double>(parts.parts) / kPartsARounding) * kUnit;
  const auto rows = static_cast<std::size_t>(parts.rows);
  const auto dim = static_cast<std::size_t>(parts.dim);
  for (std::size_t row = 0; row < rows; ++row) {
    double top = -kInfinity;
    double widest = 0;
    for (std::size_t p = 0; p < static_cast<std::size_t>(parts.parts); ++p) {
      const double lse = parts.lse[p * rows + row];
      top = std::max(top, lse);
      if (lse != -kInfinity) widest = std::max(widest, std::abs(lse));
    }
    expected.lse[row] = top;
    if (top == -kInfinity) continue;
    double sum = 0;
    for (std::size_t p = 0; p < static_cast<std::size_t>(parts.parts); ++p)
      sum += std::exp(parts.lse[p * rows + row] - top);
    expected.lse[row] = top + std::log(sum);
    expected.lse_allowed[row] = constant * (1 + widest + std::abs(expected.lse[row]));
    for (std::size_t p = 0; p < static_cast<std::size_t>(parts.parts); ++p) {
      if (parts.lse[p * rows + row] == -kInfinity) continue;
      const double weight = std::exp(parts.lse[p * rows + row] - top) / sum;
      for (std::size_t d = 0; d < dim; ++d) {
        const double value = parts.out[(p * rows + row) * dim + d];
        expected.out[row * dim + d] += weight * value;
        expected.out_allowed[row * dim + d] +=
            constant * ((1 + widest) * weight + 1e-30) * std::abs(value);
      }
    }
  }
  return expected;
}

std::vector<double> storage_allowed(const Setup& setup, const std::vector<float>& numbers,
                                    std::int64_t dim) {
  std::vector<double> allowed(numbers.size(), 0);
  if (setup.stored == KV_F32) {
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (!std::isfinite(numbers[i])) allowed[i] = kInfinity;
    return allowed;
  }
  for (std::int64_t row = 0; row < std::ssize(numbers); row += dim)
    for (std::int64_t begin = 0; begin < dim; begin += std::min(setup.group, dim)) {
      const auto first = numbers.begin() + row + begin;
      const auto last = first + std::min(setup.group, dim - begin);
      if (!std::all_of(first, last, [](float x) { return std::isfinite(x); })) {
        std::fill_n(allowed.begin() + row + begin, last - first, kInfinity);
        continue;
      }
      const double low = *std::min_element(first, last);
      const double high = *std::max_element(first, last);
      const double size = std::max(-low, high);
      const double half = setup.stored == KV_INT8 ? size / 127 / 2 : (high - low) / 15 / 2;
      std::fill_n(allowed.begin() + row + begin, last - first,
                  half * (1 + 0x1p-10) + 0x1p-20 * size + 1e-30);
    }
  return allowed;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
