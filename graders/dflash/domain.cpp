// SPDX-License-Identifier: Apache-2.0
#include "domain.h"

#include <algorithm>
#include <initializer_list>

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Argument;
using kit::Assignment;
using kit::costly;
using kit::hiding;
using kit::sized;
using kit::ValueClass;

using Arguments = std::vector<Argument>;
using Names = std::vector<std::string>;

// Of a case: bits of all masks, floats of all logits, and what a drafter and its judge compare.
constexpr double kMostBits = 1'300'000;
constexpr double kMostFloats = 400'000;
constexpr double kMostCompared = 1'200'000;
constexpr double kMostCopied = 70'000;  // tokens of all prompts, nodes that all may have
constexpr double kMostRounds = 300;     // of all requests together
// Each asks three callbacks, and each of those waits for a processor where others want it too.
constexpr double kMostPasses = 20;
constexpr double kMostEnds = 2'000'000;  // that all rounds look through

// Starting more threads takes longer than what a case asks of them. Those that share a long row
// wait for each other, for long where there are fewer processors: thread_counts asks some of these.
constexpr double kManyThreads = 7;
constexpr double kMostFloatsOfManyThreads = 3000;
constexpr double kLongRow = 60'000;

constexpr double kMostFarRows = 4;  // of 16 GiB of address space each

/// The first class of a number: as many as fit beside the others.
constexpr const char* kFew = "a few";

ValueClass few(double least, double most) {
  return {kFew, least, most};
}

Arguments joined(std::initializer_list<Arguments> parts) {
  Arguments all;
  for (const Arguments& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

/// `of_several`: arguments that say which of several.
std::vector<ValueClass> counts(const Names& of_several) {
  return {few(1, 4),       hiding(sized(0)), hiding(sized(1), of_several),
          sized(2),        sized(3),         sized(7, 9),
          sized(15, 17),   sized(31, 33),    sized(63, 65),
          sized(127, 129), sized(255, 257)};
}

Arguments shapes() {
  return {
      {"shape",
       {{"bush"}, {"chain"}, {"fork"}, {"star"}, {"comb"}, {"chain but one"}, {"star but one"}}},
      {"order", {{"any"}, {"breadth first"}, {"depth first"}}}};
}

/// `of_nodes`: arguments that say what nodes are, beside their shape.
Arguments trees(const char* of_several, Names of_nodes) {
  of_nodes.insert(of_nodes.end(), {"shape", "order"});
  return joined({{{"trees", counts({"other trees", of_several})},
                  {"nodes", {few(2, 9),        hiding(sized(0), of_nodes),
                             sized(1),         sized(2),
                             sized(3),         sized(7, 8),
                             sized(15, 17),    sized(30, 32),
                             sized(62),        sized(63),
                             sized(64),        sized(65),
                             sized(126),       sized(127),
                             sized(128),       sized(191, 192),
                             sized(254, 257),  sized(319, 320),
                             sized(511, 513),  sized(kit::kDivisible / 64),
                             sized(1023, 1025)}},
                  {"other trees",
                   {{"as large"},
                    {"smaller"},
                    {"empty by turns"},
                    {"empty but the first"},
                    {"empty but the last"}}}},
                 shapes()});
}

Arguments texts() {
  return {{"right", {{"some"}, {"none"}, {"one"}, {"all but one"}, {"all"}}},
          {"tokens",
           {{"tempting"},
            {"equal among siblings"},
            {"strangers too"},
            {"strangers"},
            {"ends too"},
            {"0"},
            {"the last"}}},
          {"says", {{"anything"}, {"0"}, {"the last"}, {"0 and the last"}, {"around words"}}},
          {"EOS ids",
           {sized(1), hiding(sized(0), {"EOS are", "EOS come"}), sized(2), sized(3), sized(7, 9),
            sized(15, 17), sized(31, 33), sized(63, 65), sized(255, 257), sized(65'535, 65'537)}},
          {"EOS are",
           {{"tokens"},
            {"strangers but the last"},
            {"strangers but the first"},
            {"strangers"},
            {"one again and again"},
            {"ascending but for a quarter"}}},
          {"EOS come", {{"now and then"}, {"never"}, {"often"}, {"always"}}},
          {"logits",
           {{"usual"},
            {"plain"},
            {"forbidden"},
            {"infinite"},
            {"above all"},
            {"opposite"},
            {"far down"},
            {"lowest"},
            {"a float apart"},
            {"subnormal"},
            {"zeros of both signs"},
            {"farthest"},
            {"of every kind"}}}};
}

std::vector<ValueClass> vocabularies() {
  return {sized(11, 40),
          sized(1),
          sized(2),
          sized(3),
          sized(4, 7),
          sized(8, 9),
          sized(15, 17),
          sized(31, 33),
          sized(63, 65),
          sized(127, 129),
          sized(255, 257),
          sized(1023, 1025),
          sized(4095, 4097),
          sized(16'383, 16'385),
          sized(kit::kDivisible),
          sized(65'535, 65'537)};
}

/// What all functions are given; `before` is what was called before.
Arguments circumstances(std::initializer_list<const char*> arrays, std::vector<ValueClass> before) {
  Argument alignment{"alignment",
                     {{"64"}, {"8"}, {"8 after 16"}, {"16 after 32"}, {"32 after 64"}, {"4096"}}};
  for (const char* array : arrays) alignment.classes.push_back({array});
  return {{"pointers", {{"given"}, {"null where allowed"}}},
          alignment,
          {"promised", {{"all"}, {"8"}}},
          {"threads", {sized(2), sized(1), sized(3), sized(7), costly(sized(33))}},
          {"before", std::move(before)}};
}

double least_or_most(const Assignment& choice, const char* argument) {
  const ValueClass& chosen = choice[argument];
  return chosen.name == kFew ? chosen.least : chosen.most;
}

bool threads_fit(const Assignment& choice, double floats) {
  return choice["threads"].most <= kManyThreads || floats <= kMostFloatsOfManyThreads;
}

/// The greatest number of rows that trees of these classes have.
double rows_of(const Assignment& choice, double trees) {
  const double nodes = choice["nodes"].most;
  const bool alone = choice["other trees"].name.starts_with("empty but");
  return alone ? trees + nodes : trees * (1 + nodes);
}

bool comparable(const Assignment& choice, double trees) {
  return rows_of(choice, trees) * (1 + choice["nodes"].most) <= kMostCompared;
}

bool cheap_to_build(const Assignment& choice, double trees) {
  const double words = (choice["nodes"].most + 64) / 64 + choice["spare words"].most;
  const double bits = 64 * words * rows_of(choice, trees);
  return comparable(choice, trees) && bits <= kMostBits && threads_fit(choice, bits / 64);
}

/// Rows that are far apart are few, and not more in the call before.
bool far_rows_fit(const Assignment& choice, const char* argument, double rows) {
  return !choice.is(argument, kFarApart) ||
         (rows >= 1 && rows <= kMostFarRows && !choice["before"].name.ends_with(" more"));
}

bool cheap_to_verify(const Assignment& choice, double trees) {
  if (!far_rows_fit(choice, "spare floats", rows_of(choice, trees))) return false;
  const double row = choice["vocab"].most + choice["spare floats"].most;
  const double floats = row * rows_of(choice, trees);
  return comparable(choice, trees) && floats <= kMostFloats && threads_fit(choice, floats) &&
         (choice["threads"].most <= 1 || row <= kLongRow);
}

/// Nodes that a drafter answers for one request at most.
double drafted(const Assignment& choice) {
  if (choice.is("drafts", "none")) return 0;
  return std::min(choice["budget"].most, choice.is("drafts", "one")     ? 1.0
                                         : choice.is("drafts", "a few") ? 4.0
                                                                        : 1e9);
}

/// Tokens of all prompts at most, as often as they are read where one is long.
double prompts_of(const Assignment& choice, double requests) {
  const double prompt = choice["prompt"].most;
  return choice.is("prompt of", "all") ? requests * prompt : prompt + 9 * requests;
}

/// Passes at most. Where all drafts are right and full, each brings as many tokens.
double passes_of(const Assignment& choice) {
  const bool right = choice.is("right", "all") && choice.is("tokens", "tempting") &&
                     choice.is("drafts", "the budget") && !choice["shape"].name.starts_with("star");
  return choice["max_new"].most / (right ? 1 + choice["budget"].least : 1);
}

bool cheap_to_generate(const Assignment& choice, double requests) {
  if (!far_rows_fit(choice, "spare stride", requests)) return false;
  const double passes = passes_of(choice);
  const double rounds = requests * std::max(1.0, passes);
  const double nodes = 1 + drafted(choice);
  const double floats = rounds * nodes * choice["vocab"].most;
  return rounds <= kMostRounds && passes <= kMostPasses && floats <= kMostFloats &&
         rounds * nodes * nodes <= 200'000 && requests * choice["budget"].most <= kMostCopied &&
         prompts_of(choice, requests) <= kMostCopied &&
         requests * choice["max_new"].most * choice["EOS ids"].most <= kMostEnds &&
         threads_fit(choice, floats);
}

std::int64_t drawn_count(const Assignment& choice, Rng& rng, const char* argument,
                         bool (*cheap)(const Assignment&, double)) {
  std::int64_t count = choice.draw(rng, argument);
  const ValueClass& chosen = choice[argument];
  while (chosen.name == kFew && static_cast<double>(count) > chosen.least &&
         !cheap(choice, static_cast<double>(count)))
    --count;
  return count;
}

}  // namespace

const kit::Domain& build_domain() {
  static const kit::Domain made{
      joined({trees("context of", {}),
              {{"context",
                {hiding(few(0, 40), {"context of"}), sized(0), sized(1), sized(62, 65),
                 sized(32'767, 32'768), sized(65'535, 65'536),
                 sized((1LL << 24) - 1, (1LL << 24) + 1), sized((1LL << 31) - 9, (1LL << 31) - 1),
                 sized(1LL << 31, (1LL << 31) + 1), sized((1LL << 32) - 9, (1LL << 32) - 1),
                 sized(1LL << 32, (1LL << 32) + 1), sized(1LL << 40)}},
               {"context of", {{"all"}, {"the first"}, {"the last"}}},
               {"spare words",
                {sized(0), sized(1), sized(2), sized(3, 5), sized(63, 65), sized(1024, 1026)}}},
              circumstances({"node_start", "parent", "context_length", "mask", "position"},
                            {{"nothing"},
                             {"a parent differed"},
                             {"contexts differed"},
                             {"a tree more"},
                             {"more words"},
                             {"other threads"},
                             {"a refusal"}})}),
      [](const Assignment& choice) {
        return cheap_to_build(choice, least_or_most(choice, "trees"));
      },
      {},
      {"trees", "nodes", "context", "spare words", "threads"}};
  return made;
}

const kit::Domain& verify_domain() {
  static const kit::Domain made{
      joined({trees("max_emit of", {"right", "tokens"}),
              texts(),
              {{"vocab", vocabularies()},
               {"spare floats",
                {hiding(sized(0), {"between rows"}),
                 sized(1),
                 sized(3),
                 sized(15, 17),
                 sized(4096),
                 {kFarApart}}},
               {"between rows", {{"NaN"}, {"infinity"}, {"largest"}}},
               {"max_emit",
                {hiding({"beyond the tree"}, {"max_emit of"}),
                 {"0"},
                 {"1"},
                 {"2"},
                 {"path - 1"},
                 {"path"},
                 {"path + 1"},
                 {"2^16"},
                 {"2^31"},
                 {"2^32"},
                 {"2^32 + 1"},
                 {"largest"}}},
               {"max_emit of", {{"all"}, {"the first"}, {"the last"}, {"every second"}}}},
              circumstances({"node_start", "parent", "token", "eos", "max_emit", "logits", "emit",
                             "path", "num_emit", "num_path"},
                            {{"nothing"},
                             {"a token differed"},
                             {"a parent differed"},
                             {"logits differed"},
                             {"limits differed"},
                             {"EOS ids differed"},
                             {"a tree more"},
                             {"other threads"},
                             {"a refusal"}})}),
      [](const Assignment& choice) {
        return cheap_to_verify(choice, least_or_most(choice, "trees"));
      },
      // One of very many siblings is right, wherever it lies among them.
      {{{"nodes", {"127", "191 to 192"}},
        {"shape", {"star"}},
        {"order", {"any", "breadth first"}},
        {"right", {"all"}},
        {"vocab", {"255 to 257", "1023 to 1025"}}}},
      {"trees", "nodes", "EOS ids", "vocab", "spare floats", "threads"}};
  return made;
}

const kit::Domain& generate_domain() {
  static const kit::Domain made{
      joined({{{"requests", counts({"prompt of", "max_new of", "others"})},
               {"budget",
                {sized(4, 9), hiding(sized(0)), sized(1), sized(2), sized(3), sized(15, 17),
                 sized(30, 33), sized(62), sized(63), sized(64), sized(65), sized(126, 129),
                 sized(254, 257), sized(65'535)}},
               {"drafts",
                {{"up to the budget"},
                 {"the budget"},
                 hiding({"none"}, {"shape", "order", "right", "tokens"}),
                 {"one"},
                 {"a few"},
                 {"none or the budget"},
                 {"none for the first"}}},
               {"behind nodes", {{"0"}, {"what is no tree"}}}},
              shapes(),
              texts(),
              {{"vocab", vocabularies()},
               {"prompt",
                {hiding(sized(1, 9), {"prompt of"}), sized(1), sized(2), sized(63, 65),
                 sized(255, 257), sized(4095, 4097), sized(65'535, 65'537)}},
               {"prompt of", {{"all"}, {"the first"}, {"the last"}}},
               {"prompt ends", {{"anyhow"}, {"with an end"}}},
               {"max_new",
                {sized(3, 8), hiding(sized(0)), sized(1), sized(2), sized(15, 17), sized(31, 33),
                 sized(63, 65), sized(255, 257)}},
               {"max_new of",
                {hiding({"all"}, {"others"}), {"the first"}, {"the last"}, {"every second"}}},
               {"others", {{"0"}, {"1"}, {"2"}}},
               {"spare stride", {sized(0), sized(1), sized(7, 9), sized(4096), {kFarApart}}}},
              circumstances({"prompt_start", "prompt", "max_new", "eos", "emit", "num_emit",
                             "rounds", "accepted"},
                            {{"nothing"},
                             {"another model"},
                             {"limits differed"},
                             {"EOS ids differed"},
                             {"a request more"},
                             {"other threads"},
                             {"other float controls"},
                             {"a drafter failed"},
                             {"a target failed"},
                             {"a cache failed"},
                             {"a draft was none"},
                             {"a refusal"}})}),
      [](const Assignment& choice) {
        return cheap_to_generate(choice, least_or_most(choice, "requests"));
      },
      {},
      {"requests", "budget", "vocab", "EOS ids", "prompt", "max_new", "spare stride", "threads"}};
  return made;
}

std::int64_t trees_of(const kit::Domain& domain, const Assignment& choice, Rng& rng) {
  return drawn_count(choice, rng, "trees",
                     &domain == &build_domain() ? cheap_to_build : cheap_to_verify);
}

std::int64_t requests_of(const Assignment& choice, Rng& rng) {
  return drawn_count(choice, rng, "requests", cheap_to_generate);
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
