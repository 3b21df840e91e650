// SPDX-License-Identifier: Apache-2.0
#include "domain.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "oracle.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Argument;
using kit::Assignment;
using kit::costly;
using kit::hiding;
using kit::sized;
using kit::ValueClass;

// Of a case: numbers that the model answers beside those of three rows, extensions that the oracle
// writes down, and tokens that it copies with them.
constexpr double kMostAnswered = 60'000;
constexpr double kMostListed = 20'000;
constexpr double kMostCopied = 1'000'000;

// With so many threads every request of the model takes long: those that idle have to be stopped.
constexpr double kManyThreads = 7;
constexpr double kMostStepsOfManyThreads = 9;

constexpr double kMostBeam = 1024;  // by the contract
constexpr double kMostAlike = 65;   // hypotheses
constexpr double kMostAlpha = std::numeric_limits<double>::max();

/// The first class of sizes: as many as fit beside the others.
constexpr const char* kFew = "a few";

ValueClass few(double least, double most) {
  return {kFew, least, most};
}

std::vector<Argument> sizes() {
  return {{"batch",
           {few(1, 7), hiding(sized(0)), sized(1), sized(2), sized(7, 9), sized(15, 17),
            sized(31, 33), sized(63, 65), sized(255, 257)}},
          {"beam",
           {few(2, 4),
            sized(1),
            sized(5, 9),
            sized(15, 17),
            sized(31, 33),
            sized(63, 65),
            sized(255, 257),
            sized(1023, 1024),
            {"vocab - 1"},
            {"vocab"},
            {"vocab + 1"}}},
          {"vocab",
           {sized(4, 8), sized(1), sized(2), sized(3), sized(15, 17), sized(31, 33), sized(63, 65),
            sized(255, 257), sized(511, 513), sized(1023, 1025), sized(4095, 4097),
            sized(kit::kDivisible), sized(65'537)}},
          {"max_new",
           {few(2, 8), hiding(sized(0)), sized(1), sized(2), sized(3), sized(7, 9), sized(15, 17),
            sized(31, 33), sized(63, 65), sized(255, 257)}},
          {"min_new", {{"0"}, {"1"}, {"2"}, {"half"}, {"max_new - 1"}, hiding({"max_new"})}},
          {"n_return", {{"beam"}, {"1"}, {"half"}, {"beam - 1"}}}};
}

std::vector<Argument> rules() {
  return {{"policy", {{"separate"}, hiding({"pooled"}, {"stop"})}},
          {"stop", {{"bound"}, {"estimate"}, {"full"}}},
          {"penalty", {{"length"}, {"GNMT"}, hiding({"none"}, {"alpha"})}},
          {"alpha",
           {{"0.5 to 1.5", 0.5, 1.5},
            {"0"},
            {"-0"},
            {"1", 1, 1},
            {"2", 2, 2},
            {"-1", -1, -1},
            {"-1.5 to -0.3", 0.3, 1.5},
            {"1e-7", 1e-7, 1e-7},
            {"-1e-7", -1e-7, -1e-7},
            {"1e-300", 1e-300, 1e-300},
            {"-1e-300", -1e-300, -1e-300},
            {"large and whole"},
            {"large, whole, below 0"},
            {"largest", kMostAlpha, kMostAlpha},
            {"least", -kMostAlpha, -kMostAlpha}}},
          {"EOS ids",
           {hiding(sized(1), {"EOS order"}),
            hiding(sized(0)),
            sized(2),
            sized(3, 4),
            sized(9, 16),
            sized(31, 33),
            sized(63),
            sized(64),
            {"all but one"},
            {"all"}}},
          {"EOS are", {{"anywhere"}, {"first"}, {"last"}, {"at both ends"}}},
          {"EOS order", {{"any"}, {"ascending"}, {"descending"}}},
          {"pad", {{"0"}, {"-1"}, {"an EOS id"}, {"vocab"}, {"least"}, {"largest"}}}};
}

std::vector<Argument> answers() {
  return {{"log-probs",
           {{"usual"},
            {"of many digits"},
            {"coarse"},
            {"equal in a row"},
            {"0 and -0"},
            {"as low as float goes"},
            {"mostly the lowest float"},
            {"subnormal"},
            {"far down"},
            {"lost in the sum"}}},
          {"possible",
           {{"most"},
            {"all"},
            {"half"},
            hiding({"one token"}),
            {"the first tokens"},
            {"the last tokens"},
            {"none from some step on"},
            hiding({"none"})}},
          {"EOS come",
           {{"now and then"}, {"often"}, {"before all others"}, {"rarely"}, hiding({"never"})}},
          {"states",
           {{"random"}, {"from 0"}, {"down from 2^64 - 1"}, {"that converge"}, {"of the prompt"}}},
          {"prompts", {{"usual"}, {"of 0 tokens"}, {"beyond 2^32"}}}};
}

std::vector<Argument> circumstances() {
  return {{"steps", {{"wanted"}, {"not wanted"}}},
          {"pointers", {{"given"}, {"null where allowed"}}},
          {"alignment",
           {{"64"},
            {"of an element"},
            {"4 after 16"},
            {"12 after 32"},
            {"4096"},
            {"64, root_log_probs 4"},
            {"64, tokens 4"},
            {"64, scores 8"},
            {"64, log_probs 8"}}},
          {"threads",
           {sized(2), sized(1), sized(3), sized(7), costly(sized(33)), costly(sized(200)),
            costly(sized(1024))}},
          {"before",
           {{"nothing"},
            {"a root row differed"},
            {"the model differed"},
            {"alpha differed"},
            {"alpha differed a little"},
            {"the penalty differed"},
            {"max_new differed"},
            {"EOS ids differed"},
            {"the last EOS id differed"},
            {"the policy differed"},
            {"the stop differed"},
            {"one item more"},
            {"other threads"},
            {"other float controls"},
            {"the model failed"},
            {"a refusal"}}}};
}

std::vector<Argument> arguments() {
  std::vector<Argument> all = sizes();
  for (const auto& more : {rules(), answers(), circumstances()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

double least_or_most(const Assignment& choice, const char* argument) {
  const ValueClass& chosen = choice[argument];
  return chosen.name == kFew ? chosen.least : chosen.most;
}

double beam_of(const Assignment& choice, double vocab) {
  const std::string& name = choice["beam"].name;
  if (name == "vocab") return vocab;
  if (name == "vocab + 1") return vocab + 1;
  if (name == "vocab - 1") return std::max(1.0, vocab - 1);
  return least_or_most(choice, "beam");
}

/// EOS ids at most.
double ids_of(const Assignment& choice, double vocab) {
  const double ids = choice["EOS ids"].name.starts_with("all") ? 64 : choice["EOS ids"].most;
  return std::min(ids, vocab);
}

bool cheap(double batch, double beam, double vocab, double max_new, double ids) {
  const double rows = batch * (1 + beam * std::max(0.0, max_new - 1));
  const double kept = vocab <= kLongRow ? vocab : std::min(vocab, beam * (1 + ids));
  return (rows - 3) * vocab <= kMostAnswered && rows * kept <= kMostListed &&
         rows * kept * max_new <= kMostCopied;
}

bool small(const Assignment& choice) {
  const double vocab = choice["vocab"].most;
  const double beam = beam_of(choice, vocab);
  // Where one step asks nothing of the model, a search of one step more may ask too much.
  const double more = choice.is("before", "max_new differed") ? 1 : 0;
  return beam <= kMostBeam && cheap(least_or_most(choice, "batch"), beam, vocab,
                                    least_or_most(choice, "max_new") + more, ids_of(choice, vocab));
}

/// lp is a normal number for every length, by far: scores are numbers then as well.
bool lp_is_normal(const Assignment& choice) {
  const bool vast = choice.is("alpha", "largest") || choice.is("alpha", "least");
  if (!vast) return true;
  return choice.is("penalty", "none")
             ? !choice.is("before", "the penalty differed")
             : choice["max_new"].most <= 1 && !choice.is("before", "max_new differed");
}

bool valid(const Assignment& choice) {
  if (!small(choice) || !lp_is_normal(choice)) return false;
  if (choice["threads"].most > kManyThreads &&
      least_or_most(choice, "max_new") > kMostStepsOfManyThreads)
    return false;
  // A worker has no room for so many, which a solution may start where there is work.
  if (choice.is("threads", "1024") && !choice.is("batch", "0")) return false;
  // Whole numbers would often be equal after a division by other whole numbers.
  if (coarse(choice) && rational(choice)) return false;
  if (!choice["alpha"].name.ends_with("1e-7")) return true;
  // Nor may lp be so alike where many hypotheses of several lengths have sums that are, too.
  const bool dense = choice.is("log-probs", "far down") && choice["max_new"].most > 1;
  if (dense && beam_of(choice, choice["vocab"].most) > kMostAlike) return false;
  // With more steps lp would differ by less than 1e-9 from one to the next.
  return choice["max_new"].most <= 33;
}

/// Equal sums of different log-probs, as many threads as there may be, EOS ids that fill a word
/// and would be all the best while they are forbidden, powers of lengths that no integer holds,
/// sums of long rows that a float does not hold, a model that needs no argument, places that are
/// left while no EOS may come, each thing that lp follows from, other than in the call before, EOS
/// ids of that call, one that failed as well, and items that leave the last of the threads none.
std::vector<kit::Corner> corners() {
  return {
      {{"batch", {"0"}}, {"threads", {"1024"}}},
      {{"log-probs", {"lost in the sum"}}, {"policy"}, {"vocab", {"31 to 33", "4095 to 4097"}}},
      {{"EOS ids", {"63", "64"}},
       {"EOS come", {"before all others"}},
       {"min_new", {"2"}},
       {"vocab", {"1023 to 1025"}},
       {"beam", {"1", kFew}},
       {"policy"}},
      {{"alpha", {"large and whole", "large, whole, below 0"}},
       {"penalty", {"length", "GNMT"}},
       {"max_new", {"15 to 17"}},
       {"EOS come", {"rarely"}},
       {"policy"}},
      {{"log-probs", {"far down"}},
       {"policy"},
       {"vocab", {"1023 to 1025", "4095 to 4097"}},
       {"max_new", {"7 to 9"}}},
      {{"pointers", {"null where allowed"}}, {"policy"}, {"max_new", {"2"}}},
      {{"beam", {"vocab", "vocab + 1"}},
       {"max_new", {"1", "2"}},
       {"min_new", {"max_new", "max_new - 1"}},
       {"policy"}},
      {{"before",
        {"alpha differed", "alpha differed a little", "the penalty differed", "max_new differed"}},
       {"max_new", {"7 to 9"}},
       {"penalty", {"length", "GNMT"}},
       {"stop"},
       {"EOS come", {"often"}}},
      {{"before", {"EOS ids differed", "the last EOS id differed", "the model failed"}},
       {"max_new", {"7 to 9"}},
       {"EOS ids", {"2"}},
       {"policy"},
       {"EOS come", {"often"}}},
      {{"batch", {"15 to 17"}},
       {"threads", {"7"}},
       {"vocab", {"1023 to 1025"}},
       {"max_new", {"2"}},
       {"policy"}}};
}

}  // namespace

const kit::Domain& domain() {
  static const kit::Domain made{
      arguments(), valid, corners(), {"batch", "beam", "vocab", "max_new", "EOS ids", "threads"}};
  return made;
}

Sizes sizes_of(const Assignment& choice, Rng& rng) {
  Sizes sizes;
  sizes.vocab = choice.draw(rng, "vocab");
  const auto vocab = static_cast<double>(sizes.vocab);
  const bool of_vocab = choice["beam"].name.starts_with("vocab");
  sizes.beam =
      of_vocab ? static_cast<std::int64_t>(beam_of(choice, vocab)) : choice.draw(rng, "beam");
  sizes.batch = choice.draw(rng, "batch");
  sizes.max_new = choice.draw(rng, "max_new");
  const double ids = ids_of(choice, vocab);
  const auto lower = [&](std::int64_t& size, const char* argument) {
    const ValueClass& chosen = choice[argument];
    if (chosen.name != kFew || static_cast<double>(size) <= chosen.least) return false;
    --size;
    return true;
  };
  while (
      !cheap(static_cast<double>(sizes.batch), static_cast<double>(sizes.beam), vocab,
             static_cast<double>(sizes.max_new), ids) &&
      (lower(sizes.batch, "batch") || lower(sizes.max_new, "max_new") || lower(sizes.beam, "beam")))
    continue;
  return sizes;
}

bool coarse(const Assignment& choice) {
  return choice.is("log-probs", "coarse") || choice.is("log-probs", "equal in a row") ||
         choice.is("log-probs", "0 and -0") || choice.is("log-probs", "lost in the sum") ||
         choice.is("log-probs", "mostly the lowest float");
}

bool flat(const Assignment& choice) {
  const std::string& alpha = choice["alpha"].name;
  return choice.is("penalty", "none") || alpha == "0" || alpha == "-0" || alpha.ends_with("1e-300");
}

bool rational(const Assignment& choice) {
  const double alpha = choice["alpha"].most;
  return !flat(choice) && (alpha == 1 || alpha == 2 || alpha == -1);
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
