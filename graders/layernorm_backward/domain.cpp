// SPDX-License-Identifier: Apache-2.0
#include "domain.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Argument;
using kit::Assignment;
using kit::hiding;
using kit::sized;
using kit::threads_argument;
using kit::ValueClass;

constexpr double kMostElements = 12'000;

// A float32 solution forms the products of the formulas one after the other: they stay below this,
// and above that where what is lost below it would be multiplied by a large rstd.
constexpr double kMostMagnitude = 1e36;
constexpr double kLeastMagnitude = 1e-33;

// Of all numbers below 2^-126 those that are still exact to 19 bits: what a product with them loses
// is no more than rounding loses elsewhere.
constexpr double kLeastSubnormal = 4e-39;
constexpr double kMostSubnormal = 4.5e-39;

constexpr std::int64_t kHugeStride = std::int64_t{1} << 60;  // times 4 bytes is 2^62
constexpr double kMostFarRows = 5;                           // of 16 GiB of address space each
constexpr const char* kStrides[] = {"x stride", "dy stride", "y stride", "dx stride"};
constexpr const char* kFar = "beyond 2^32, nothing between";

const std::vector<ValueClass>& stride_classes() {
  static const std::vector<ValueClass> classes{
      {"cols"},           {"cols + 1", 1, 1},
      {"odd", 3, 29},     {"cols + 16", 16, 16},
      {"2 cols"},         {"a page more", 1024, 1040},
      {"2^60 (one row)"}, {kFar, 1LL << 32, (1LL << 32) + 99}};
  return classes;
}

std::vector<Argument> arguments() {
  return {{"rows",
           {sized(5, 12), hiding(sized(0)), sized(1), sized(2), sized(3, 4), sized(15, 17),
            sized(31, 33), sized(63, 65), sized(127, 129), sized(199, 201), sized(255, 257),
            sized(1023, 1025)}},
          {"cols",
           {sized(20, 30), hiding(sized(1)), sized(2), sized(3), sized(4, 5), sized(7, 9),
            sized(15, 17), sized(31, 33), sized(63, 65), sized(127, 129), sized(255, 257),
            sized(511, 513), sized(1023, 1025), sized(4095, 4097)}},
          {"x stride", stride_classes()},
          {"dy stride", stride_classes()},
          {"y stride", stride_classes()},
          {"dx stride", stride_classes()},
          {"strides of absent arrays", {{"as if given"}, {"0"}, {"-1"}, {"least"}, {"largest"}}},
          {"eps",
           {{"usual", 1e-6, 1e-4},
            {"0"},
            {"-0"},
            {"1e-50", 1e-50, 1e-50},
            {"1e-30 to 1e-9", 1e-30, 1e-9},
            {"0.1 to 10", 0.1, 10},
            {"1e300", 1e300, 1e300}}},
          {"statistics",
           {{"own"},
            hiding({"given, true"}, {"eps"}),
            hiding({"given, drawn"}, {"eps"}),
            hiding({"given, negative rstd"}, {"eps"}),
            hiding({"given, tiny rstd", 1e-30, 1e-20}, {"eps"}),
            hiding({"given, rstd 0"}, {"eps"})}},
          {"x",
           {{"usual"},
            hiding({"constant rows"}),
            hiding({"zeros"}),
            {"a constant row"},
            {"a row of zeros"},
            {"far from zero", 100, 500},
            {"tiny", 1e-17, 1e-16},
            {"huge", 1e17, 3e17},
            {"all magnitudes"}}},
          {"dy",
           {{"usual"},
            hiding({"zeros"}),
            {"one element"},
            {"1e15 to 1e17", 1e15, 1e17},
            {"1e-30 to 1e-20", 1e-30, 1e-20}}},
          {"gamma",
           {{"usual"},
            {"absent"},
            {"with zeros"},
            {"1e15 to 1e16", 1e15, 1e16},
            {"1e-20 to 1e-10", 1e-20, 1e-10},
            {"subnormal", kLeastSubnormal, kMostSubnormal}}},
          {"beta", {{"usual"}, {"absent"}, {"1e18", 1e18, 1e18}}},
          {"y", {{"wanted"}, hiding({"not wanted"}, {"y stride", "beta"})}},
          {"gradients",
           {{"all"},
            hiding({"none"}),
            {"dx"},
            hiding({"dgamma"}, {"dx stride"}),
            hiding({"dbeta"}, {"dx stride"}),
            {"dx and dgamma"},
            {"dx and dbeta"},
            hiding({"dgamma and dbeta"}, {"dx stride"})}},
          {"a row of them", {{"as others"}, hiding({"NaN"}), hiding({"infinity"})}},
          {"arrays of the other pass", {{"null"}, {"given"}}},
          {"outputs hold", {{"poison"}, {"a number"}, {"infinity"}}},
          kit::alignment_argument({"x", "dy", "dx", "y", "gamma"}),
          threads_argument(),
          {"deterministic", {sized(0), sized(1), sized(256), sized(-1)}},
          {"before",
           {{"nothing"},
            {"one element of x differed"},
            {"one element of dy differed"},
            {"gamma differed"},
            {"another size"},
            {"other threads"},
            {"another step under way"},
            {"another step between"}}}};
}

/// Whether a row has no variance but eps.
bool constant_rows(const Assignment& choice) {
  return choice["cols"].most == 1 || choice.is("x", "constant rows") || choice.is("x", "zeros") ||
         choice.is("x", "a constant row") || choice.is("x", "a row of zeros");
}

double largest_x(const Assignment& choice) {
  if (choice.is("x", "all magnitudes")) return 1e7;
  return std::max(10.0, 6 * choice["x"].most);
}

/// Infinity where a row has none.
double largest_rstd(const Assignment& choice) {
  if (choice.is("statistics", "given, tiny rstd")) return choice["statistics"].most;
  if (statistics_given(choice) && !choice.is("statistics", "given, true")) return 2;
  const double by_eps = 1 / std::sqrt(choice["eps"].least);
  if (constant_rows(choice)) return by_eps;
  const double by_x = choice.is("x", "tiny") ? 2 / choice["x"].least : 1e3;
  return std::min(by_eps, by_x);
}

bool representable(const Assignment& choice) {
  const double cols = choice["cols"].most;
  const double rstd = largest_rstd(choice);
  const bool of_x = !statistics_given(choice) || choice.is("statistics", "given, true");
  const double xhat = of_x ? std::sqrt(cols) : largest_x(choice) * rstd;
  const double dy = choice.is("dy", "usual") ? 10 : std::max(2.0, 6 * choice["dy"].most);
  const double w = std::max(2.5, choice["gamma"].most) * dy;
  const double sum = std::max(cols, choice["rows"].most) * w * std::max(1.0, xhat);
  const double least_w = (choice["gamma"].most > 0 ? choice["gamma"].least : 0.1) *
                         (choice["dy"].most > 0 ? choice["dy"].least : 0.1);
  if (least_w < kLeastMagnitude && rstd > 1) return false;
  return largest_x(choice) * largest_x(choice) * cols < kMostMagnitude * 10 &&
         sum * std::max(1.0, xhat) < kMostMagnitude &&
         sum * std::max(1.0, xhat) * rstd < kMostMagnitude;
}

double largest_stride(const Assignment& choice, const char* argument) {
  if (choice.is(argument, "2^60 (one row)") || choice.is(argument, kFar)) return 0;
  const double cols = choice["cols"].most;
  return choice.is(argument, "2 cols") ? 2 * cols : cols + choice[argument].most;
}

bool valid(const Assignment& choice) {
  const double rows = choice["rows"].most;
  const auto far =
      std::ranges::count_if(kStrides, [&](const char* s) { return choice.is(s, kFar); });
  if (far > 1 || (far == 1 && (rows < 1 || rows > kMostFarRows))) return false;
  for (const char* stride : kStrides) {
    if (rows * largest_stride(choice, stride) > 4 * kMostElements) return false;
    if (rows > 1 && choice.is(stride, "2^60 (one row)")) return false;
  }
  if (rows == 0 && !choice.is("before", "nothing") && !choice.is("before", "another size"))
    return false;
  if (choice.is("before", "gamma differed") && choice.is("gamma", "absent")) return false;
  const bool another =
      choice.is("before", "another step under way") || choice.is("before", "another step between");
  if (another && statistics_given(choice)) return false;
  if (!choice.is("a row of them", "as others") && (rows < 3 || choice["cols"].most > 33))
    return false;
  return rows * choice["cols"].most <= kMostElements && representable(choice);
}

/// What adds up one row or two may be left out beside some outputs and not beside others; eps
/// counts where a row has next to no variance; what a bad row spoils are the next ones of its
/// thread; and what is subnormal shows where it is multiplied by what is large.
std::vector<kit::Corner> corners() {
  return {{{"rows", {"0", "1", "2"}}, {"y"}, {"gradients"}},
          {{"eps"}, {"x"}},
          {{"a row of them"}, {"threads", {"2", "1"}}},
          {{"gamma", {"subnormal"}}, {"dy", {"1e15 to 1e17"}}}};
}

std::int64_t gap_of(const Assignment& choice, Rng& rng, const char* argument, std::int64_t cols) {
  if (choice.is(argument, "2^60 (one row)")) return kHugeStride - cols;
  if (choice.is(argument, kFar)) return 0;
  if (choice.is(argument, "2 cols")) return cols;
  if (choice.is(argument, "odd")) return choice.draw(rng, argument) / 2 * 2 + 1 + cols % 2;
  return choice.draw(rng, argument);
}

/// x - mean = deviation times the noise. Two elements of each row lie apart: a variance that comes
/// out as next to nothing by chance leaves no bound of first order.
void spread_x(const Assignment& choice, Rng& rng, Problem& problem) {
  const bool every = choice.is("x", "all magnitudes");
  for (std::int64_t i = 0; i < problem.rows; ++i) {
    const auto row = problem.x.row(i);
    const double size = every ? log_uniform(rng, 1e-2, 1e6)
                        : choice.is("x", "tiny") || choice.is("x", "huge")
                            ? choice.draw_real(rng, "x")
                            : 1;
    const double mean = choice.is("x", "far from zero") ? choice.draw_real(rng, "x") : 0;
    if (row.size() > 1) {
      row[0] = static_cast<float>(-rng.uniform(0.7, 1.4));
      row[1] = static_cast<float>(rng.uniform(0.7, 1.4));
    }
    for (float& value : row) value = static_cast<float>(mean + size * value);
  }
}

/// Of few digits, so that its sum is exact: equal terms round the same way every time.
void make_constant(Rng& rng, std::span<float> row, bool zero) {
  const double value = zero ? 0 : std::round(rng.uniform(-3, 3) * 1024) / 1024;
  std::ranges::fill(row, static_cast<float>(value));
}

void put_x(const Assignment& choice, Rng& rng, Problem& problem) {
  spread_x(choice, rng, problem);
  const bool all = choice.is("x", "constant rows") || choice.is("x", "zeros");
  const bool one = choice.is("x", "a constant row") || choice.is("x", "a row of zeros");
  const bool zero = choice.is("x", "zeros") || choice.is("x", "a row of zeros");
  const std::int64_t only = index_at(rng, kit::one_of(rng, {"first", "last", "random"}),
                                     std::max<std::int64_t>(1, problem.rows));
  for (std::int64_t i = 0; i < problem.rows; ++i)
    if (all || (one && i == only)) make_constant(rng, problem.x.row(i), zero);
}

void put_dy(const Assignment& choice, Rng& rng, Problem& problem) {
  if (choice.is("dy", "usual")) return;
  const bool scaled = choice["dy"].most > 0;
  const std::int64_t row = rng.integer(0, std::max<std::int64_t>(0, problem.rows - 1));
  const std::int64_t column = rng.integer(0, problem.cols - 1);
  const auto factor = static_cast<float>(scaled ? choice.draw_real(rng, "dy") : 0);
  for (std::int64_t i = 0; i < problem.rows; ++i) {
    for (float& value : problem.dy.row(i)) value *= factor;
    if (choice.is("dy", "one element") && i == row)
      problem.dy.row(i)[static_cast<std::size_t>(column)] = static_cast<float>(rng.uniform(1, 2));
  }
}

/// One of the first, so that there are others behind it.
void put_bad_row(const Assignment& choice, Rng& rng, Problem& problem) {
  if (choice.is("a row of them", "as others")) return;
  const std::int64_t row = rng.integer(0, problem.rows / 3);
  const auto column = static_cast<std::size_t>(rng.integer(0, problem.cols - 1));
  const bool infinite = choice.is("a row of them", "infinity");
  const float sign = rng.chance(0.5) ? 1.0f : -1.0f;
  (rng.chance(0.5) ? problem.x : problem.dy).row(row)[column] =
      infinite ? sign * kit::kInfinity : kit::kNan;
  problem.bad_rows = {row};
}

void put_parameters(const Assignment& choice, Rng& rng, Problem& problem) {
  if (choice["gamma"].most > 0)
    for (float& gamma : problem.gamma) gamma *= static_cast<float>(choice.draw_real(rng, "gamma"));
  if (choice.is("gamma", "with zeros"))
    for (float& gamma : problem.gamma)
      if (rng.chance(0.4)) gamma = rng.chance(0.5) ? 0.0f : -0.0f;
  if (choice.is("gamma", "absent")) problem.gamma.clear();
  if (choice.is("beta", "1e18"))
    for (float& beta : problem.beta) beta = rng.chance(0.5) ? 1e18f : -1e18f;
  if (choice.is("beta", "absent")) problem.beta.clear();
}

void put_statistics(const Assignment& choice, Rng& rng, Problem& problem) {
  if (!statistics_given(choice)) return;
  if (choice.is("statistics", "given, true")) return give_true_statistics(problem);
  give_drawn_statistics(rng, problem);
  for (float& rstd : problem.rstd) {
    if (choice.is("statistics", "given, negative rstd")) rstd = -rstd;
    if (choice.is("statistics", "given, rstd 0")) rstd = 0;
    if (choice.is("statistics", "given, tiny rstd"))
      rstd = static_cast<float>(choice.draw_real(rng, "statistics"));
  }
}

std::optional<std::int64_t> absent_stride(const Assignment& choice) {
  using Limits = std::numeric_limits<std::int64_t>;
  const char* const argument = "strides of absent arrays";
  if (choice.is(argument, "as if given")) return std::nullopt;
  if (choice.is(argument, "least")) return Limits::min();
  if (choice.is(argument, "largest")) return Limits::max();
  return choice.is(argument, "-1") ? -1 : 0;
}

}  // namespace

const kit::Domain& domain() {
  static const kit::Domain made{arguments(), valid, corners()};
  return made;
}

bool statistics_given(const Assignment& choice) {
  return !choice.is("statistics", "own");
}

Problem problem_of(const Assignment& choice, Rng& rng) {
  const std::int64_t rows = choice.draw(rng, "rows");
  const std::int64_t cols = choice.draw(rng, "cols");
  const auto gap = [&](const char* argument) { return gap_of(choice, rng, argument, cols); };
  const Gaps gaps{gap("x stride"), gap("dy stride"), gap("y stride"), gap("dx stride")};
  Problem problem = make_problem(rng, rows, cols, {}, gaps);
  problem.eps = choice.is("eps", "-0") ? -0.0 : choice.draw_real(rng, "eps");
  put_x(choice, rng, problem);
  put_dy(choice, rng, problem);
  put_parameters(choice, rng, problem);
  put_statistics(choice, rng, problem);
  put_bad_row(choice, rng, problem);
  return problem;
}

CallOptions options_of(const Assignment& choice, Rng& rng) {
  CallOptions options;
  options.threads = static_cast<int>(choice.draw(rng, "threads"));
  options.deterministic = static_cast<std::int32_t>(choice.draw(rng, "deterministic"));
  options.y = choice.is("y", "wanted");
  const std::string& wanted = choice["gradients"].name;
  const auto wants = [&](const char* array) {
    return wanted == "all" || wanted.find(array) != std::string::npos;
  };
  options.dx = wants("dx");
  options.dgamma = wants("dgamma");
  options.dbeta = wants("dbeta");
  if (choice.is("outputs hold", "a number")) options.old = static_cast<float>(rng.normal());
  if (choice.is("outputs hold", "infinity")) options.old = kit::kInfinity;
  options.absent_stride = absent_stride(choice);
  for (const std::string_view stride : kStrides)
    if (choice.is(stride, kFar))
      options.far = {stride.substr(0, stride.find(' ')), choice.draw(rng, stride)};
  options.others_given = choice.is("arrays of the other pass", "given");
  kit::put_alignment(choice, options);
  return options;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
