// SPDX-License-Identifier: Apache-2.0
#include "domain.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "domain_numbers.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Argument;
using kit::Assignment;
using kit::hiding;
using kit::sized;
using kit::threads_argument;
using kit::ValueClass;

constexpr double kMostElements = 12'000;

constexpr const char* kOneRow = "2^60 and more (one row)";
constexpr double kMostFarRows = 5;  // of 16 GiB of address space each
constexpr const char* kStrides[] = {"x stride", "dy stride", "y stride", "dx stride"};
constexpr const char* kFar = "beyond 2^32, nothing between";
constexpr const char* kMultiple = "the next multiple of 16";
constexpr const char* kOnes = "gamma of ones";

const std::vector<ValueClass>& stride_classes() {
  static const std::vector<ValueClass> classes{{"cols"},
                                               {"cols + 1", 1, 1},
                                               {"odd", 3, 29},
                                               {"cols + 16", 16, 16},
                                               {kMultiple, 1, 16},
                                               {"2 cols"},
                                               {"a page more", 1024, 1040},
                                               {kOneRow},
                                               {kFar, 1LL << 32, (1LL << 32) + 99}};
  return classes;
}

std::vector<Argument> arguments() {
  std::vector<Argument> all{
      {"rows",
       {sized(5, 12), hiding(sized(0)), sized(1), sized(2), sized(3, 4), sized(15, 17),
        sized(31, 33), sized(63, 65), sized(127, 129), sized(199, 201), sized(255, 257),
        sized(1023, 1025)}},
      {"cols",
       {sized(20, 30), hiding(sized(1)), sized(2), sized(3), sized(4, 5), sized(7, 9),
        sized(15, 17), sized(31, 33), sized(63, 65), sized(127, 129), sized(255, 257),
        sized(511, 513), sized(1023, 1025), sized(kit::kDivisible / 16), sized(4095, 4097)}},
      {"x stride", stride_classes()},
      {"dy stride", stride_classes()},
      {"y stride", stride_classes()},
      {"dx stride", stride_classes()},
      {"strides of absent arrays", {{"as if given"}, {"0"}, {"-1"}, {"least"}, {"largest"}}},
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
      kit::alignment_argument({"x", "dy", "dx", "y", "gamma", "dgamma", "dbeta"}),
      threads_argument(),
      {"deterministic", {sized(0), sized(1), sized(256), sized(-1)}},
      {"passes",
       {{"alike"},
        {"bytes asked for otherwise"},
        {"forward otherwise"},
        {"x elsewhere in backward"},
        {"saved bytes elsewhere"},
        {"beta in forward only"}}},
      {"arrays of no bytes", {{"at null"}, {"at an address"}}},
      {"before",
       {hiding({"nothing"}, {"what differs in it"}),
        {"another step"},
        {"another step under way"},
        {"another step between"},
        hiding({"another size"}, {"what differs in it"}),
        hiding({"more rows"}, {"what differs in it"}),
        hiding({"other threads"}, {"what differs in it"})}},
      {"what differs in it",
       {{"one element of x"},
        {"all of x"},
        {"one element of dy"},
        {"gamma"},
        {"eps"},
        {kOnes},
        {"beta of zeros"},
        {"dy of zeros"},
        {"a row of NaN"}}}};
  std::ranges::move(number_arguments(), std::back_inserter(all));
  return all;
}

double largest_stride(const Assignment& choice, const char* argument) {
  if (choice.is(argument, kOneRow) || choice.is(argument, kFar)) return 0;
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
    if (rows > 1 && choice.is(stride, kOneRow)) return false;
  }
  if (rows == 0 && !choice.is("before", "nothing") && !choice.is("before", "another size") &&
      !choice.is("before", "more rows"))
    return false;
  if (!choice.is("before", "nothing")) {
    // Beside other numbers than its own, what is near 1e18 leaves the range of float.
    if (choice.is("gamma", "alike, near 1e18")) return false;
    const std::string& differs = choice["what differs in it"].name;
    if (differs.starts_with("gamma") && choice.is("gamma", "absent")) return false;
    if (differs.starts_with("beta") && choice.is("beta", "absent")) return false;
    // Ones are no larger than what gamma is, so that they leave nothing either.
    const double gamma = choice["gamma"].most;
    if (differs == kOnes && gamma > 0 && gamma < 1) return false;
  }
  const bool another =
      choice.is("before", "another step under way") || choice.is("before", "another step between");
  if (another && statistics_given(choice)) return false;
  const bool one_place = choice.is("x stride", kOneRow) || choice.is("x stride", kFar);
  if (choice.is("passes", "x elsewhere in backward") && one_place) return false;
  if (choice.is("passes", "beta in forward only") && choice.is("beta", "absent")) return false;
  // One column has no neighbour, and two that are alike no variance.
  if (choice.is("dy", "neighbours cancel") && choice["cols"].most < 3) return false;
  if (!choice.is("a row of them", "as others") && (rows < 3 || choice["cols"].most > 33))
    return false;
  return rows * choice["cols"].most <= kMostElements && numbers_representable(choice);
}

/// What adds up one row or two may be left out beside some outputs and not beside others; eps
/// counts where a row has next to no variance; what a bad row spoils are the next ones of its
/// thread; what is subnormal shows where it is multiplied by what is large; given statistics need
/// not be what eps allows; a sum of large squares is still representable, and cols times that is
/// not; w that is as large as it may be, and the same in all of a row, leaves no dx however large
/// rstd is; sums over no row follow those over some; gamma times rstd, or dy times rstd, is beyond
/// all floats where xhat and w are not, and so is, or is below them, w (x - mean); means that
/// cancel what a variance is made of, whatever is not wanted; halves of a row that lie apart, of
/// every length; saved bytes that are none, beside every length, and arrays of no rows that are
/// somewhere; sums over a row that are exactly 0 though dx is not, with a variance and without,
/// gamma or none; each thing that another step has of its own; and what the calls of a step need
/// not have in common.
std::vector<kit::Corner> corners() {
  const kit::Classes long_rows{"cols", {"4095 to 4097"}};
  return {{{"rows", {"0", "1", "2"}}, {"y"}, {"gradients"}},
          {{"eps"}, {"x"}},
          {{"a row of them"}, {"threads", {"2", "1"}}},
          {{"rows", {"63 to 65", "199 to 201"}}, {"threads", {"33", "200"}}},
          {{"gamma", {"subnormal"}}, {"dy", {"1e15 to 1e17"}}},
          {{"dy", {"subnormal"}}, {"gamma", {"1e15 to 1e16"}}, {"gradients", {"all", "dx"}}},
          {{"statistics", {"given, drawn"}}, {"eps"}},
          {{"cols"}, {"x", {"huge"}}},
          {{"y", {"not wanted"}}, {"x", {"far from zero"}}, {"cols", {"20 to 30", "255 to 257"}}},
          {{"gamma", {"alike, near 1e18"}},
           {"dy", {"rows alike, near 1e18"}},
           {"eps", {"usual", "1e-12 to 1e-9"}},
           {"x", {"usual", "constant rows"}},
           {"cols", {"20 to 30", "1", "2"}}},
          {{"rows", {"0", "1"}}, {"gradients"}, {"before", {"more rows"}}},
          {{"eps", {"1e-50"}},
           {"x", {"constant rows", "zeros"}},
           {"gamma", {"1e15 to 1e16", "1e-20 to 1e-10", "alike, near 1e18"}},
           {"dy", {"zeros", "1e15 to 1e17", "1e-30 to 1e-20"}}},
          {{"x", {"huge"}},
           {"gamma", {"1e15 to 1e16"}},
           {"dy", {"1e15 to 1e17"}},
           {"cols", {"2", "3", "4 to 5", "7 to 9"}}},
          {{"x", {"tiny"}}, {"dy", {"1e-30 to 1e-20"}}, {"eps", {"0", "1e-50"}}},
          {{"cols"}, {"x", {"halves apart", "huge halves apart"}}},
          {{"cols"}, {"arrays of no bytes", {"at an address"}}},
          {{"rows", {"0"}}, {"arrays of no bytes", {"at an address"}}, {"gradients"}},
          {{"dy", {"neighbours cancel"}},
           {"x", {"usual", "constant rows"}},
           {"gamma", {"usual", "absent"}}},
          {{"before", {"another step", "another step under way", "another step between"}},
           {"what differs in it"}},
          {{"passes"}, {"deterministic", {"0", "1"}}},
          // Ways that long rows may be taken by alone.
          {long_rows, {"threads", {"1", "3", "7"}}, {"before", {"other threads"}}},
          {long_rows, {"before", {"another step"}}, {"what differs in it"}},
          {long_rows, {"gradients", {"all", "dx"}}, {"arrays of the other pass", {"given"}}},
          {long_rows,
           {"rows", {"2"}},
           {"threads", {"7"}},
           {"passes", {"alike", "forward otherwise"}},
           {"deterministic", {"0", "1"}}}};
}

std::int64_t gap_of(const Assignment& choice, Rng& rng, const char* argument, std::int64_t cols) {
  // As a number of bytes none of them but the first is one of 64 bits with a sign.
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  if (choice.is(argument, kOneRow))
    return (rng.chance(0.5) ? kLargest : std::int64_t{1} << rng.integer(60, 62)) - cols;
  if (choice.is(argument, kFar)) return 0;
  if (choice.is(argument, "2 cols")) return cols;
  if (choice.is(argument, kMultiple)) return 16 - cols % 16;
  if (choice.is(argument, "odd")) return choice.draw(rng, argument) / 2 * 2 + 1 + cols % 2;
  return choice.draw(rng, argument);
}

std::optional<std::int64_t> absent_stride(const Assignment& choice) {
  using Limits = std::numeric_limits<std::int64_t>;
  const char* const argument = "strides of absent arrays";
  if (choice.is(argument, "as if given")) return std::nullopt;
  if (choice.is(argument, "least")) return Limits::min();
  if (choice.is(argument, "largest")) return Limits::max();
  return choice.is(argument, "-1") ? -1 : 0;
}

Passes passes_of(const Assignment& choice) {
  if (choice.is("passes", "bytes asked for otherwise")) return Passes::bytes_otherwise;
  if (choice.is("passes", "forward otherwise")) return Passes::forward_otherwise;
  if (choice.is("passes", "x elsewhere in backward")) return Passes::x_elsewhere;
  if (choice.is("passes", "saved bytes elsewhere")) return Passes::saved_elsewhere;
  return choice.is("passes", "alike") ? Passes::alike : Passes::beta_in_forward;
}

}  // namespace

const kit::Domain& domain() {
  static const kit::Domain made{arguments(), valid, corners(), {"rows", "cols", "threads"}};
  return made;
}

Problem problem_of(const Assignment& choice, Rng& rng) {
  const std::int64_t rows = choice.draw(rng, "rows");
  const std::int64_t cols = choice.draw(rng, "cols");
  const auto gap = [&](const char* argument) { return gap_of(choice, rng, argument, cols); };
  const Gaps gaps{gap("x stride"), gap("dy stride"), gap("y stride"), gap("dx stride")};
  Problem problem = make_problem(rng, rows, cols, {}, gaps);
  put_numbers(choice, rng, problem);
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
  options.passes = passes_of(choice);
  options.empty_at_address = choice.is("arrays of no bytes", "at an address");
  options.others_given = choice.is("arrays of the other pass", "given");
  kit::put_alignment(choice, options);
  return options;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
