// SPDX-License-Identifier: Apache-2.0
#include "domain.h"

#include <algorithm>

#include "domain_entries.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Argument;
using kit::Assignment;
using kit::Classes;
using kit::Corner;
using kit::hiding;
using kit::sized;
using kit::threads_argument;

constexpr double kMostWork = 140'000;    // entries and winners of a case
constexpr double kMostMemory = 500'000;  // entries with gaps

constexpr double kMostFarRows = 5;                         // of 16 GiB of address space each
constexpr std::int64_t kFarthest = std::int64_t{1} << 40;  // rows * row_stride, by the contract

std::vector<Argument> size_arguments() {
  return {{"rows",
           {sized(3, 6), hiding(sized(0)), sized(1), sized(2), sized(7, 9), sized(15, 17),
            sized(31, 33), sized(63, 65), sized(199, 201), sized(1023, 1025)}},
          {"vocab",
           {sized(40, 60), hiding(sized(1)), sized(2), sized(3), sized(4, 5), sized(7, 9),
            sized(15, 17), sized(31, 33), sized(63, 65), sized(127, 129), sized(255, 257),
            sized(511, 513), sized(1023, 1025), sized(4095, 4097), sized(8191, 8193),
            sized(kit::kDivisible), sized(65'536, 65'539)}},
          {"k",
           {sized(2, 6),
            sized(1),
            sized(7, 9),
            sized(15, 17),
            sized(31, 33),
            sized(63, 65),
            sized(127, 129),
            sized(255, 257),
            sized(511, 513),
            sized(1023, 1025),
            sized(2047, 2049),
            {"half of vocab"},
            {"vocab - 1"},
            {"vocab"}}},
          {"stride",
           {{"vocab"},
            {"vocab + 1", 1, 1},
            {"odd", 3, 29},
            {"vocab + 16", 16, 16},
            {"the next multiple of 16", 1, 16},
            {"2 vocab"},
            {"a page more", 1024, 1040},
            {"2^16 more", 65'536, 65'539},
            {"2^40 (one row)"},
            {"beyond 2^32, nothing between", 1LL << 32, (1LL << 32) + 99}}},
          {"lengths",
           {{"null"},
            {"vocab"},
            {"drawn"},
            hiding({"0"}),
            {"0 in one row"},
            {"0 to 2 in every other row"},
            {"1"},
            {"k - 1"},
            {"k"},
            {"k + 1"},
            {"vocab - 1"}}}};
}

std::vector<Argument> call_arguments() {
  return {{"totals", {{"both"}, {"lse"}, {"row_max"}, {"none"}}},
          {"outputs hold", {{"poison"}, {"a number"}, {"infinity"}}},
          {"arrays of no rows", {{"given"}, {"null"}}},
          kit::alignment_argument({"logits", "indices", "probs", "lse", "row_max"}),
          threads_argument(),
          {"deterministic", {sized(0), sized(1), sized(-1), sized(256)}},
          {"before",
           {{"nothing"},
            {"the same"},
            {"one entry of each row differed"},
            {"two entries had changed places"},
            {"scale differed"},
            {"k differed"},
            {"lengths differed"},
            {"another size"},
            {"other threads"},
            {"full rows of numbers"},
            {"rows of NaN"}}}};
}

std::vector<Argument> arguments() {
  std::vector<Argument> all = size_arguments();
  for (const auto& more : {entry_arguments(), call_arguments()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// What pairs leave to the places of entries, to rows' lengths or to the number of threads.
std::vector<Corner> corners() {
  const Classes wide{"vocab", {"8191 to 8193"}};
  const Classes widest{"vocab", {"65536 to 65539"}};
  const Classes steep{"entries", {"30 to 60 below the last"}};
  return {
      // A row that has less than one entry for each thread, after one that has more.
      {wide, {"lengths", {"0 to 2 in every other row"}}, {"threads", {"7"}}},
      // Threads that share a row, and whose sums arrive in any order.
      {{"rows", {"1"}}, wide, {"threads", {"7"}}, {"deterministic", {"-1", "256"}}},
      {{"rows", {"1"}}, widest, {"threads", {"7"}}, {"deterministic", {"-1", "256"}}},
      // What is special about such a row may lie in one of the parts, or in each.
      {{"rows", {"1"}}, wide, {"threads", {"7"}}, {"spoiled rows"}},
      {{"rows", {"1"}}, wide, {"threads", {"7"}}, {"masked"}},
      {{"rows", {"1"}},
       widest,
       {"threads", {"1", "2", "3", "7"}},
       {"masked", {"all but the last"}}},
      {{"rows", {"1"}}, wide, {"threads", {"7"}}, {"k", {"1", "2047 to 2049", "vocab"}}},
      {{"rows", {"1"}}, wide, {"threads", {"7"}}, {"lengths", {"1", "k - 1", "vocab - 1"}}},
      {{"rows", {"1"}}, wide, {"threads", {"7"}}, {"scale", {"2^-149", "the largest"}}},
      {{"rows", {"1"}}, widest, {"threads", {"7"}}, {"totals", {"row_max", "none"}}},
      // What threads, more before than now, left behind of their parts.
      {{"rows", {"1"}}, wide, {"before"}},
      // Terms so many that they need not be large for a sum without a shift.
      {{"rows", {"2"}}, widest, {"entries", {"at the ends of exp"}}},
      // Probabilities that are nearly too small to be normal numbers, and are.
      {{"entries", {"84 to 87 below one"}}, {"k", {"2 to 6", "half of vocab"}}, {"scale", {"1"}}},
      // What rounding cost a sum that hardly counts any more.
      {wide, steep},
      // Blocks whose maxima are further apart than the largest float.
      {{"vocab", {"4095 to 4097"}},
       {"scale", {"2^-149", "1e-42 to 1e-40", "1e-38 to 2e-38"}},
       steep}};
}

/// k is cut to the vocabulary, where it follows from that or may be drawn above it.
double most_k(const Assignment& choice) {
  const double vocab = choice["vocab"].most;
  return choice["k"].most > 0 ? std::min(choice["k"].most, vocab) : vocab;
}

bool far_apart(const Assignment& choice) {
  return choice.is("stride", "beyond 2^32, nothing between");
}

double largest_stride(const Assignment& choice) {
  if (far_apart(choice)) return 0;
  const double vocab = choice["vocab"].most;
  return choice.is("stride", "2 vocab") ? 2 * vocab : vocab + choice["stride"].most;
}

bool valid(const Assignment& choice) {
  const double rows = choice["rows"].most;
  if (rows > 1 && choice.is("stride", "2^40 (one row)")) return false;
  if (far_apart(choice) && (rows < 1 || rows > kMostFarRows)) return false;
  if (rows > 0 && choice.is("arrays of no rows", "null")) return false;
  if (rows == 0 && !choice.is("before", "nothing") && !choice.is("before", "another size"))
    return false;
  if (choice["k"].least > choice["vocab"].most) return false;
  return rows * (choice["vocab"].most + most_k(choice)) <= kMostWork &&
         rows * largest_stride(choice) <= kMostMemory;
}

// So that some 530 cases of every_argument took textbook's solution 9.1 s, 17 ms each, on a core of
// an AMD EPYC, and the slowest of the honest variants 29 s. A machine of CI was less than half as
// fast, and a check's calls may take 120 s. Whoever has more winners than fit into shared memory
// looks through a row for each.
constexpr double kMostEntriesOnDevice = 70'000;
constexpr double kMostLooksOnDevice = 51'000'000;  // at entries, one for each winner
// Of all rows, where each has more than a few: so many beside anything, and so many at all.
constexpr double kManyWinnersOnDevice = 4'200;
constexpr double kMostWinnersOnDevice = 12'300;
constexpr double kFewWinners = 8;
constexpr double kFewRowsOnDevice = 300;

/// Of each argument in this list the simplest class.
bool are_simplest(const Assignment& choice, std::initializer_list<const char*> arguments) {
  return std::ranges::all_of(arguments,
                             [&](const char* argument) { return choice.is_simplest(argument); });
}

/// A block for each of many rows costs more than what is in them, and a round for each of many
/// winners as well: beside many rows, only what one row may leave behind for the next is not the
/// simplest, and beside many winners nothing but the sizes.
bool affordable_on_device(const Assignment& choice) {
  const double rows = choice["rows"].most;
  const double entries = rows * choice["vocab"].most;
  const double winners = most_k(choice);
  if (entries > kMostEntriesOnDevice || entries * winners > kMostLooksOnDevice) return false;
  const double places = winners > kFewWinners ? rows * winners : 0;
  if (places > kMostWinnersOnDevice) return false;
  const bool many_winners = places > kManyWinnersOnDevice;
  if (many_winners &&
      !are_simplest(choice, {"stride", "lengths", "masked", "spoiled rows", "before"}))
    return false;
  return (rows <= kFewRowsOnDevice && !many_winners) ||
         are_simplest(choice, {"scale", "entries", "behind rows", "totals", "outputs hold",
                               "alignment", "threads", "deterministic"});
}

std::int64_t gap_of(const Assignment& choice, Rng& rng, std::int64_t vocab) {
  if (choice.is("stride", "2^40 (one row)")) return kFarthest - vocab;
  if (far_apart(choice)) return 0;
  if (choice.is("stride", "2 vocab")) return vocab;
  if (choice.is("stride", "the next multiple of 16")) return 16 - vocab % 16;
  if (choice.is("stride", "odd")) return choice.draw(rng, "stride") / 2 * 2 + 1 + vocab % 2;
  return choice.draw(rng, "stride");
}

std::int64_t k_of(const Assignment& choice, Rng& rng, std::int64_t vocab) {
  if (choice.is("k", "vocab")) return vocab;
  if (choice.is("k", "half of vocab")) return (vocab + 1) / 2;
  if (choice.is("k", "vocab - 1")) return std::max<std::int64_t>(1, vocab - 1);
  return std::min(vocab, choice.draw(rng, "k"));
}

std::int64_t length_of(const Assignment& choice, Rng& rng, const Problem& problem) {
  if (choice.is("lengths", "drawn")) return rng.integer(0, problem.vocab);
  if (choice.is("lengths", "0")) return 0;
  if (choice.is("lengths", "1")) return 1;
  if (choice.is("lengths", "k - 1")) return problem.k - 1;
  if (choice.is("lengths", "k")) return problem.k;
  if (choice.is("lengths", "k + 1")) return std::min(problem.vocab, problem.k + 1);
  if (choice.is("lengths", "vocab - 1")) return problem.vocab - 1;
  return problem.vocab;
}

void put_lengths(const Assignment& choice, Rng& rng, Problem& problem) {
  if (choice.is("lengths", "null")) return;
  for (std::int64_t i = 0; i < problem.rows; ++i)
    problem.valid_len.push_back(length_of(choice, rng, problem));
  if (choice.is("lengths", "0 to 2 in every other row"))
    for (std::int64_t i = 1; i < problem.rows; i += 2)
      problem.valid_len[static_cast<std::size_t>(i)] = std::min(problem.vocab, rng.integer(0, 2));
  if (choice.is("lengths", "0 in one row") && problem.rows > 0)
    problem.valid_len[static_cast<std::size_t>(rng.integer(0, problem.rows - 1))] = 0;
}

void put_options(const Assignment& choice, Rng& rng, CallOptions& options) {
  options.threads = static_cast<int>(choice.draw(rng, "threads"));
  options.deterministic = static_cast<std::int32_t>(choice.draw(rng, "deterministic"));
  options.lse = choice.is("totals", "both") || choice.is("totals", "lse");
  options.row_max = choice.is("totals", "both") || choice.is("totals", "row_max");
  if (choice.is("outputs hold", "a number")) options.old = static_cast<float>(rng.normal());
  if (choice.is("outputs hold", "infinity")) options.old = kit::kInfinity;
  options.null_when_empty = choice.is("arrays of no rows", "null");
  kit::put_alignment(choice, options);
}

}  // namespace

const kit::Domain& domain() {
  static const kit::Domain made{
      arguments(), valid, corners(), {"rows", "vocab", "k", "threads"}, affordable_on_device};
  return made;
}

Problem problem_of(const Assignment& choice, Rng& rng) {
  const std::int64_t vocab = choice.draw(rng, "vocab");
  Problem problem = blank_problem(choice.draw(rng, "rows"), vocab, k_of(choice, rng, vocab),
                                  gap_of(choice, rng, vocab));
  problem.scale = static_cast<float>(choice.draw_real(rng, "scale"));
  put_lengths(choice, rng, problem);
  put_rows(choice, rng, problem);
  put_options(choice, rng, problem.options);
  if (far_apart(choice)) problem.options.far = {"logits", choice.draw(rng, "stride")};
  return problem;
}

Sums sums_of(const Assignment& choice) {
  // At the smallest scales, and where one number is repeated, terms are alike, and so is the sign
  // of what rounding them off costs.
  const bool alike =
      choice["scale"].most < 1e-30 || choice.is("masked", "beside the lowest number");
  // The last entry is next to all of the sum, however the others were added up.
  if (choice.is("entries", "30 to 60 below the last") && choice.is("masked", "none") && !alike)
    return Sums::careful;
  const bool drawn = choice.is("entries", "usual") || choice.is("entries", "far from zero") ||
                     choice.is("entries", "the first row's but one");
  return drawn && !alike ? Sums::plain : Sums::any;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
