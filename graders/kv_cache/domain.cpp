// SPDX-License-Identifier: Apache-2.0
#include "domain.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Argument;
using kit::Assignment;
using kit::hiding;
using kit::sized;
using kit::threads_argument;
using kit::ValueClass;

// Of a case: numbers in the longest sequence, numbers in the pool, and products of attention.
constexpr double kMostNumbers = 20'000;
constexpr double kMostPool = 300'000;
constexpr double kMostTable = 20'000;  // entries of a table, which every call is given whole
constexpr double kMostProducts = 1'500'000;

constexpr double kMostHeads = 128;  // by the contract

std::vector<ValueClass> dimensions() {
  return {sized(6, 12),  sized(1),      sized(2),        sized(3),   sized(15, 17),
          sized(31, 33), sized(63, 65), sized(127, 129), sized(255), sized(256)};
}

std::vector<ValueClass> placements() {
  return {{"64"},      {"4"},       {"4 after 16"}, {"8 after 16"}, {"16 after 32"}, {"4096"},
          {"64, k 4"}, {"64, v 4"}, {"64, q 4"},    {"64, out 4"},  {"32 after 64"}};
}

std::vector<Argument> sizes() {
  return {
      {"stored", {{"f32"}, {"int8"}, {"int4"}}},
      {"kv heads", {sized(2), sized(1), sized(3, 5), sized(7, 9), sized(16, 17), sized(128)}},
      {"heads each",
       {sized(2), sized(1), sized(3), sized(4, 7), sized(8), sized(16, 17), sized(41), sized(128)}},
      {"key dim", dimensions()},
      {"value dim", dimensions()},
      {"group",
       {sized(5),
        sized(1),
        sized(2),
        sized(3),
        sized(7),
        sized(15, 17),
        sized(31, 33),
        sized(64),
        sized(127, 129),
        {"2^32 + 3"},
        {"largest"}}},
      {"page tokens",
       {sized(8), sized(1), sized(2), sized(3), sized(5, 7), sized(15, 17), sized(31, 33),
        sized(49), sized(64), sized(127, 129)}},
      {"tokens",
       {sized(20, 30),
        hiding(sized(0)),
        sized(1),
        sized(2, 3),
        {"a page - 1"},
        {"a page"},
        {"a page + 1"},
        {"2 pages"},
        sized(63, 65),
        sized(127, 129),
        sized(255, 257),
        sized(511, 513),
        sized(kit::kDivisible / 64),
        sized(1023, 1025)}},
      {"sequences", {sized(3), sized(1), sized(2), sized(7, 9), sized(40), sized(300)}},
      {"pages", {{"to spare"}, {"as needed"}, {"too few"}, {"none"}}},
      {"table width", {{"to spare"}, {"as needed"}, {"too narrow"}}}};
}

std::vector<Argument> contents() {
  return {{"history",
           {{"one call"},
            {"a call each"},
            {"in pieces"},
            {"token by token"},
            {"forked"},
            {"forked, one grown"},
            {"forked and cut"},
            {"cut and grown again"},
            {"operations"}}},
          {"pages move", {{"never"}, {"always"}}},
          {"numbers",
           {{"usual"},
            {"zeros"},
            {"a constant"},
            {"up to 1e30", 5e29, 5e29},
            {"1e-20", 1e-20, 1e-20},
            {"1e10", 1e10, 1e10},
            {"with -0 and subnormal"}}},
          {"first token",
           {{"usual"}, {"NaN in it"}, {"infinity in it"}, {"-infinity in it"}, {"all NaN"}}}};
}

std::vector<Argument> questions() {
  return {{"asked of",
           {{"one"},
            hiding({"none"}),
            {"all"},
            {"all, backwards"},
            {"one three times"},
            {"some without queries"}}},
          {"queries",
           {sized(1),
            hiding(sized(0)),
            sized(2, 3),
            sized(7, 9),
            sized(15, 17),
            sized(31, 33),
            sized(63, 65),
            {"all"},
            {"one more than tokens"},
            {"more than tokens"}}},
          {"key range", {{"none"}, {"begin"}, {"end"}, {"both"}, {"empty"}, {"all"}, {"one key"}}},
          {"window",
           {sized(-1),
            sized(0),
            sized(1),
            sized(2, 9),
            sized(15, 17),
            sized(63, 65),
            {"all but one"},
            {"2^32 + 3"},
            {"largest"}}},
          {"scale",
           {{"usual"},
            {"negative"},
            {"0"},
            {"-0"},
            {"1"},
            {"1e-20", 1e-20, 1e-20},
            {"1e20", 1e20, 1e20}}},
          {"scores",
           {{"usual"},
            {"equal"},
            {"near -1e5"},
            {"near 1e5"},
            {"far apart"},
            {"16 apart"},
            {"100 apart"},
            {"rising"}}},
          {"lse", {{"wanted"}, {"not wanted"}}},
          {"alignment", placements()},
          threads_argument(1),
          {"before",
           {{"nothing"},
            {"one number of q differed"},
            {"a token less"},
            {"other tokens there"},
            {"another group"},
            {"another type"},
            {"another page size"},
            {"another table width"},
            {"another number of heads"},
            {"another key dim"},
            {"another value dim"},
            {"refusals"}}}};
}

std::vector<Argument> arguments() {
  std::vector<Argument> all = sizes();
  for (const auto& more : {contents(), questions()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

double most_tokens(const Assignment& choice) {
  const double page = choice["page tokens"].most;
  if (choice.is("tokens", "2 pages")) return 2 * page;
  if (choice["tokens"].name.starts_with("a page")) return page + 1;
  return choice["tokens"].most;
}

double most_queries(const Assignment& choice) {
  if (choice.is("queries", "all")) return most_tokens(choice);
  if (choice["queries"].name.ends_with("more than tokens")) return most_tokens(choice) + 3;
  return choice["queries"].most;
}

bool small(const Assignment& choice) {
  const double tokens = most_tokens(choice) + kAppended;
  const double heads = choice["kv heads"].most;
  const double dims = choice["key dim"].most + choice["value dim"].most;
  const double sequences = choice["sequences"].most;
  const double q_heads = heads * choice["heads each"].most;
  const double page = choice["page tokens"].most;
  // Histories write tokens of the longest sequence more than once; the others are short.
  const double pages = (tokens / page + 4) * 2 + sequences * (12 / page + 2);
  const double asked = choice.is("asked of", "one") ? 1 : 3;
  if (sequences > 9 && pages * page * heads * dims > kMostPool / 8) return false;
  if (sequences * (tokens / page + 4) > kMostTable) return false;
  return q_heads <= kMostHeads && tokens * heads * dims <= kMostNumbers &&
         pages * page * heads * dims <= kMostPool &&
         asked * most_queries(choice) * q_heads * (tokens * dims + 50) <= kMostProducts;
}

/// Products and sums of queries and keys, in any order, are numbers that float can hold.
bool representable(const Assignment& choice) {
  const double scale = choice["scale"].most > 0 ? choice["scale"].most : 1;
  const double query = 1 / (scale * magnitude(choice));
  return query > 1e-33 && query < 1e33;
}

bool history_fits(const Assignment& choice) {
  const std::string& history = choice["history"].name;
  const bool given_pages = choice.is("pages", "to spare") && choice.is("table width", "to spare");
  if (history == "token by token") return most_tokens(choice) <= 40;
  if (history.starts_with("forked")) return choice["sequences"].least > 1;
  if (history == "operations")
    return given_pages && choice.is("numbers", "usual") && !spoilt(choice) &&
           !scores_made(choice) && choice["page tokens"].most <= 17 &&
           choice["kv heads"].most * (choice["key dim"].most + choice["value dim"].most) <= 100;
  return true;
}

bool valid(const Assignment& choice) {
  if (!small(choice) || !representable(choice) || !history_fits(choice)) return false;
  if (scores_made(choice) && !choice.is("numbers", "usual")) return false;
  if (scores_made(choice) && choice["scale"].name.ends_with("0")) return false;
  // What nobody may see has to be out of everybody's sight.
  if (spoilt(choice) && !choice.is("key range", "begin")) return false;
  if (choice.is("pages", "none") && !choice.is("history", "one call")) return false;
  if (choice["sequences"].least == 1 && choice.is("asked of", "some without queries")) return false;
  return !choice.is("before", "another group") || !choice.is("stored", "f32");
}

std::vector<Argument> merge_arguments() {
  return {
      {"parts", {sized(3), hiding(sized(0)), sized(1), sized(2), sized(15, 17), sized(127, 129)}},
      {"rows",
       {sized(5, 9), hiding(sized(0)), sized(1), sized(2), sized(31, 33), sized(127, 129),
        sized(1023, 1025)}},
      {"numbers in a row",
       {sized(20, 30), sized(1), sized(2), sized(3), sized(15, 17), sized(31, 33), sized(63, 65),
        sized(255, 257), sized(511, 513)}},
      {"lse of parts",
       {{"usual"},
        {"equal"},
        {"far apart"},
        {"20 apart"},
        {"100 apart"},
        {"rising"},
        {"near -1e5"},
        {"near 1e5"},
        {"-0 and 0"}}},
      {"empty parts",
       {{"some"},
        hiding({"none"}, {"empty parts hold"}),
        hiding({"all"}),
        {"the first"},
        {"the last"},
        {"all but one"}}},
      {"empty parts hold", {{"NaN"}, {"infinity"}, {"numbers"}}},
      {"results",
       {{"usual"},
        {"zeros"},
        {"1e30", 1e30, 1e30},
        {"1e-20", 1e-20, 1e-20},
        {"large where faint"}}},
      {"merged lse", {{"wanted"}, {"not wanted"}}},
      {"merge alignment",
       {{"64"}, {"4"}, {"4 after 16"}, {"12 after 16"}, {"64, part_out 4"}, {"64, out 4"}}},
      threads_argument(1, "merge threads"),
      {"merge before", {{"nothing"}, {"one number differed"}, {"another size"}, {"a refusal"}}}};
}

bool merge_valid(const Assignment& choice) {
  return choice["parts"].most * choice["rows"].most * choice["numbers in a row"].most <= 60'000;
}

/// A ratio whose reciprocal is rounded down; a page of the same size but for its groups; as many
/// groups as there can be; a block of queries of which some stand before the first token, beside
/// windows that reach beyond 32 bits, or 64; the most heads; a single key in sight, where another
/// one was in the call before; one size of a cache that differs from the one before; a scale that
/// turns scores that are far apart around; arrays of whole vectors that start in the middle of one;
/// keys that threads share, of rows that see none; scores that rise, behind whole tiles of keys;
/// and what nobody may see in one vector of slots, and of numbers, with what is seen.
std::vector<kit::Corner> corners() {
  return {
      {{"heads each", {"41"}}, {"kv heads", {"2", "3 to 5"}}},
      {{"stored", {"int8", "int4"}},
       {"key dim", {"127 to 129"}},
       {"page tokens", {"1"}},
       {"before", {"another group"}}},
      {{"queries", {"more than tokens"}}, {"window", {"2^32 + 3", "largest"}}},
      {{"kv heads", {"1", "128"}},
       {"heads each", {"1", "128"}},
       {"page tokens", {"1"}},
       {"tokens", {"1"}}},
      {{"before", {"other tokens there"}}, {"kv heads", {"1"}}, {"tokens", {"1"}}},
      {{"before", {"other tokens there"}}, {"kv heads", {"1"}}, {"window", {"0"}}},
      {{"stored", {"int8"}},
       {"asked of", {"all"}},
       {"before",
        {"another group", "another type", "another page size", "another table width",
         "another number of heads", "another key dim", "another value dim"}}},
      {{"scale", {"negative"}}, {"scores", {"far apart", "16 apart", "100 apart"}}},
      {{"stored", {"int8", "int4"}},
       {"kv heads", {"1"}},
       {"key dim", {"256"}},
       {"value dim", {"256"}},
       {"group", {"1"}}},
      {{"key dim", {"256"}}, {"value dim", {"256"}}, {"alignment", {"16 after 32", "32 after 64"}}},
      {{"kv heads", {"128"}},
       {"heads each", {"1"}},
       {"key dim", {"2"}},
       {"value dim", {"2"}},
       {"page tokens", {"3"}},
       {"tokens", {"a page + 1"}},
       {"queries", {"more than tokens"}},
       {"threads", {"3"}}},
      {{"scores", {"rising"}}, {"tokens", {"127 to 129", "511 to 513"}}},
      {{"stored", {"int4"}},
       {"kv heads", {"1"}},
       {"value dim", {"256"}},
       {"group", {"64"}},
       {"page tokens", {"64"}},
       {"tokens", {"20 to 30", "2 to 3"}},
       {"first token", {"infinity in it", "-infinity in it", "all NaN"}},
       {"key range", {"begin"}}}};
}

/// Parts of little weight whose results make up for it, and of so little that nothing does; and the
/// largest results where lse rises.
std::vector<kit::Corner> merge_corners() {
  return {{{"lse of parts", {"20 apart"}}, {"results", {"large where faint"}}},
          {{"lse of parts", {"100 apart"}},
           {"results", {"large where faint"}},
           {"parts", {"15 to 17", "127 to 129"}},
           {"empty parts", {"some", "the first", "the last"}}},
          {{"lse of parts", {"rising"}}, {"results", {"1e30"}}, {"parts", {"15 to 17"}}}};
}

}  // namespace

bool spoilt(const Assignment& choice) {
  return !choice.is("first token", "usual");
}

bool scores_made(const Assignment& choice) {
  return !choice.is("scores", "usual") && !choice.is("scores", "equal");
}

double magnitude(const Assignment& choice) {
  const double most = choice["numbers"].most;
  return most > 0 ? most : 1;
}

const kit::Domain& domain() {
  static const kit::Domain made{
      arguments(),
      valid,
      corners(),
      {"kv heads", "heads each", "key dim", "value dim", "group", "page tokens", "tokens",
       "sequences", "queries", "window", "threads"}};
  return made;
}

const kit::Domain& merge_domain() {
  static const kit::Domain made{merge_arguments(),
                                merge_valid,
                                merge_corners(),
                                {"parts", "rows", "numbers in a row", "merge threads"}};
  return made;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
