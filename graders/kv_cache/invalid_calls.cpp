// SPDX-License-Identifier: Apache-2.0
#include "invalid_calls.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

#include "domain.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Assignment;
using kit::kNarrowed16;
using Beside = std::function<bool(const Assignment&)>;

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kNarrowed = std::int64_t{1} << 32;  // gone where 32 bits are kept

// Of a list: its first entry, one in the middle, its last.
constexpr const char* kPlaces[] = {"first", "middle", "last"};

bool always(const Assignment&) {
  return true;
}
bool several_sequences(const Assignment& choice) {
  return choice["sequences"].least > 1;
}
bool list_of_three(const Assignment& choice) {
  return choice["sequences"].least > 2;
}

/// Whether a few tokens more fit in: what is wrong and does not fit may be called either.
bool has_room(const Assignment& choice) {
  return choice.is("pages", "to spare") && choice.is("table width", "to spare") &&
         !choice.is("history", "operations");
}
bool can_append_three(const Assignment& choice) {
  return has_room(choice) && list_of_three(choice) && !choice.is("asked of", "none");
}

/// Whether the first sequence has tokens, whatever is drawn.
bool has_tokens(const Assignment& choice) {
  static const std::vector<std::string> kPlain{"one call", "a call each", "in pieces"};
  return has_room(choice) && !choice.is("tokens", "0") && !choice.is("tokens", "a page - 1") &&
         std::ranges::count(kPlain, choice["history"].name) > 0;
}

template <class Call, class Field>
void add_values(Invalids<Call>& to, const char* argument, const Field& field,
                std::initializer_list<std::int64_t> values, std::int64_t want = KV_BAD_ARGUMENT) {
  for (const std::int64_t value : values)
    to.push_back({argument, fmt::format("{}", value),
                  [=](Call& call) {
                    auto& number = field(call.args);
                    number = static_cast<std::remove_reference_t<decltype(number)>>(value);
                  },
                  always, want});
}

template <class Args>
KvShape& shape_in(Args& args) {
  if constexpr (requires { args.shape; })
    return args.shape;
  else
    return args;
}

/// Makes one group of all, and so one cache for all of them: to make one takes longer than to
/// refuse a call. All can stand beside the same.
template <class Call>
void join(Invalids<Call>& all, const char* group) {
  for (Invalid<Call>& one : all) {
    one.name = one.name.empty() ? one.group : one.group + " " + one.name;
    one.group = group;
  }
}

/// What all functions that are given a shape refuse.
template <class Call>
Invalids<Call> invalid_shapes() {
  Invalids<Call> all;
  const auto add = [&](const char* argument, auto KvShape::*field,
                       std::initializer_list<std::int64_t> values,
                       std::int64_t want = KV_BAD_ARGUMENT) {
    add_values(
        all, argument, [=](auto& args) -> auto& { return shape_in(args).*field; }, values, want);
  };
  add("kv heads", &KvShape::kv_heads, {0, -1, kLeast, 2 - kNarrowed});
  add("key dim", &KvShape::key_dim, {0, -1, kLeast, 8 - kNarrowed});
  add("value dim", &KvShape::value_dim, {0, -1, kLeast, 8 - kNarrowed});
  add("page tokens", &KvShape::page_tokens, {0, -1, kLeast, 8 - kNarrowed});
  add("group", &KvShape::group, {0, -1, kLeast, 16 - kNarrowed});
  add("threads", &KvShape::num_threads,
      {0, -1, std::numeric_limits<std::int32_t>::min(), 1 - kNarrowed16});
  constexpr bool kOfCache = !std::is_same_v<Call, PageBytesCall>;
  if (kOfCache) add("pages", &KvShape::pages, {-1, kLeast, 32 - kNarrowed});
  if (kOfCache) add("sequences", &KvShape::sequences, {-1, kLeast, 4 - kNarrowed});
  if (kOfCache) add("table width", &KvShape::table_width, {-1, kLeast, 16 - kNarrowed});
  add("abi", &KvShape::abi_version, {0, 2, -1, 257, 1 + kNarrowed16}, KV_UNSUPPORTED);
  add("device", &KvShape::device, {1, 2, -1, 256, kNarrowed16}, KV_UNSUPPORTED);
  add("type", &KvShape::stored, {3, -1, 256, kNarrowed16}, KV_UNSUPPORTED);
  join(all, "shape");
  return all;
}

/// Numbers of sequences that there are not.
template <class Call, class Field>
void add_strangers(Invalids<Call>& to, const std::string& argument, const Field& field,
                   const Beside& beside = always) {
  const auto add = [&](const char* name, auto change) {
    to.push_back({argument, name,
                  [=](Call& call) {
                    std::int64_t& sequence = field(call.args);
                    sequence = change(sequence, call.args.shape.sequences);
                  },
                  beside});
  };
  add("-1", [](std::int64_t, std::int64_t) { return std::int64_t{-1}; });
  add("behind the last", [](std::int64_t, std::int64_t count) { return count; });
  add("+ 2^32", [](std::int64_t right, std::int64_t) { return right + kNarrowed; });
  add("- 2^32", [](std::int64_t right, std::int64_t) { return right - kNarrowed; });
  add("least", [](std::int64_t, std::int64_t) { return kLeast; });
}

}  // namespace

Invalids<PageBytesCall> invalid_page_bytes() {
  return invalid_shapes<PageBytesCall>();
}

Invalids<AppendCall> invalid_appends() {
  Invalids<AppendCall> all = invalid_shapes<AppendCall>();
  add_values(all, "count", [](KvAppendArgs & a) -> auto& { return a.count; }, {-1, kLeast});
  join(all, "by itself");
  for (auto& invalid : all)
    invalid.beside = [](const Assignment& choice) {
      return has_room(choice) || choice.is("asked of", "none");
    };
  for (const std::size_t place : {0, 1, 2}) {
    const auto add = [&](const std::string& name, const std::function<void(AppendCall&)>& spoil,
                         std::int64_t want = KV_BAD_ARGUMENT) {
      all.push_back({"in a list", fmt::format("{} entry, {}", kPlaces[place], name), spoil,
                     can_append_three, want});
    };
    add("sequence -1", [=](AppendCall& call) { call.which()[place] = -1; });
    add("sequence behind the last",
        [=](AppendCall& call) { call.which()[place] = call.args.shape.sequences; });
    add("sequence + 2^32", [=](AppendCall& call) { call.which()[place] += kNarrowed; });
    add("sequence -1, without tokens", [=](AppendCall& call) {
      call.which()[place] = -1;
      for (std::size_t i = place + 1; i < call.starts().size(); ++i) call.starts()[i] -= 2;
    });
    add("sequence behind the last, no tokens at all", [=](AppendCall& call) {
      call.which()[place] = call.args.shape.sequences;
      std::ranges::fill(call.starts(), 0);
    });
    add("new_start decreases",
        [=](AppendCall& call) { call.starts()[place + 1] = call.starts()[place] - 1; });
    // No table has room for these, so that no array has to have them. The six new tokens of the
    // lists still fit into 64 bits; what the sequence has already does not.
    for (const std::int64_t more : {kNarrowed, std::int64_t{1} << 40, kMost - 6})
      add(
          fmt::format("{} tokens more", more),
          [=](AppendCall& call) {
            for (std::size_t i = place + 1; i < call.starts().size(); ++i) call.starts()[i] += more;
          },
          KV_FULL);
  }
  return all;
}

Invalids<ForkCall> invalid_forks() {
  Invalids<ForkCall> all = invalid_shapes<ForkCall>();
  all.push_back({"to itself", "", [](ForkCall& call) { call.args.to = call.args.from; }});
  join(all, "by itself");
  Invalids<ForkCall> others;
  add_strangers(
      others, "from", [](KvForkArgs & a) -> auto& { return a.from; }, several_sequences);
  add_strangers(
      others, "to", [](KvForkArgs & a) -> auto& { return a.to; }, several_sequences);
  others.push_back({"to itself, empty", "", [](ForkCall& call) { call.args.from = call.args.to; },
                    several_sequences});
  join(others, "of several");
  all.insert(all.end(), others.begin(), others.end());
  all.push_back(
      {"to one in use", "", [](ForkCall& call) { std::swap(call.args.from, call.args.to); },
       [](const Assignment& choice) { return has_tokens(choice) && several_sequences(choice); }});
  return all;
}

Invalids<TruncateCall> invalid_truncations() {
  Invalids<TruncateCall> all = invalid_shapes<TruncateCall>();
  add_strangers(
      all, "sequence", [](KvTruncateArgs & a) -> auto& { return a.sequence; });
  const auto length = [](KvTruncateArgs & a) -> auto& {
    return a.length;
  };
  add_values(all, "length", length, {-1, kLeast, kMost});
  all.push_back({"length", "+ 2^32", [](TruncateCall& call) { call.args.length += kNarrowed; }});
  all.push_back({"length", "- 2^32", [](TruncateCall& call) { call.args.length -= kNarrowed; }});
  join(all, "by itself");
  return all;
}

Invalids<ReadCall> invalid_reads() {
  Invalids<ReadCall> all = invalid_shapes<ReadCall>();
  add_strangers(
      all, "sequence", [](KvReadArgs & a) -> auto& { return a.sequence; });
  const auto add = [&](const char* name, const std::function<void(KvReadArgs&)>& spoil) {
    all.push_back({"tokens", name, [=](ReadCall& call) { spoil(call.args); }});
  };
  add("one before the first", [](KvReadArgs& a) { a.begin = -1, a.tokens = 1; });
  add("one at the least number", [](KvReadArgs& a) { a.begin = kLeast, a.tokens = 1; });
  add("one at 2^32", [](KvReadArgs& a) { a.begin = kNarrowed, a.tokens = 1; });
  add("one at the largest number", [](KvReadArgs& a) { a.begin = kMost, a.tokens = 1; });
  add("one behind the last", [](KvReadArgs& a) { a.begin = a.tokens, a.tokens = 1; });
  add("-1", [](KvReadArgs& a) { a.tokens = -1; });
  add("least", [](KvReadArgs& a) { a.tokens = kLeast; });
  add("one more than there are", [](KvReadArgs& a) { a.tokens += 1; });
  add("2^32 more than there are", [](KvReadArgs& a) { a.tokens += kNarrowed; });
  add("largest", [](KvReadArgs& a) { a.tokens = kMost; });
  add("largest, from 1", [](KvReadArgs& a) { a.begin = 1, a.tokens = kMost; });
  add("largest, from the largest", [](KvReadArgs& a) { a.begin = a.tokens = kMost; });
  join(all, "by itself");
  return all;
}

Invalids<AttendCall> invalid_attention() {
  Invalids<AttendCall> all = invalid_shapes<AttendCall>();
  const auto q_heads = [](KvAttendArgs & a) -> auto& {
    return a.q_heads;
  };
  add_values(all, "count", [](KvAttendArgs & a) -> auto& { return a.count; }, {-1, kLeast});
  add_values(all, "window", [](KvAttendArgs & a) -> auto& { return a.window; },
             {-2, kLeast, 5 - kNarrowed});
  add_values(all, "query heads", q_heads, {0, -1, kLeast});
  all.push_back({"query heads", "with a minus",
                 [](AttendCall& call) { call.args.q_heads = -call.args.q_heads; }});
  all.push_back(
      {"query heads", "- 2^32", [](AttendCall& call) { call.args.q_heads -= kNarrowed; }});
  join(all, "by itself");
  all.push_back({"query heads that kv heads do not divide", "",
                 [](AttendCall& call) { call.args.q_heads = call.args.shape.kv_heads / 2 + 1; },
                 [](const Assignment& choice) { return choice["kv heads"].least > 2; }});
  // More of them than kv heads, too.
  Invalids<AttendCall> uneven;
  for (const int more : {1, -1})
    uneven.push_back({"query heads", fmt::format("{:+} than a multiple", more),
                      [=](AttendCall& call) { call.args.q_heads += more; },
                      [](const Assignment& choice) { return choice["kv heads"].least > 1; }});
  join(uneven, "query heads beside a multiple");
  all.insert(all.end(), uneven.begin(), uneven.end());
  return all;
}

/// What can be wrong in one entry of the lists of attention, whether it has queries or not.
Invalids<Lists> invalid_entries(std::size_t place) {
  Invalids<Lists> all;
  const auto add = [&](const char* name, const std::function<void(Problem&)>& spoil) {
    all.push_back({fmt::format("{} entry", kPlaces[place]), name,
                   [=](Lists& lists) { spoil(lists.problem); }, list_of_three});
  };
  all.push_back({fmt::format("{} entry", kPlaces[place]), "sequence behind the last",
                 [=](Lists& lists) { lists.problem.which[place] = lists.sequences; },
                 list_of_three});
  add("sequence -1", [=](Problem& q) { q.which[place] = -1; });
  add("sequence + 2^32", [=](Problem& q) { q.which[place] += kNarrowed; });
  add("key_begin -1", [=](Problem& q) { q.key_begin[place] = -1; });
  add("key_begin least", [=](Problem& q) { q.key_begin[place] = kLeast; });
  add("key_begin behind key_end", [=](Problem& q) { q.key_begin[place] = q.key_end[place] + 1; });
  add("key_end before key_begin", [=](Problem& q) { q.key_end[place] = q.key_begin[place] - 1; });
  add("key_end behind the last", [=](Problem& q) { q.key_end[place] += 1; });
  add("key_end + 2^32", [=](Problem& q) { q.key_end[place] += kNarrowed; });
  add("key_end largest", [=](Problem& q) { q.key_end[place] = kMost; });
  add("key_begin alone, behind the last", [=](Problem& q) {
    q.key_begin[place] = q.key_end[place] + 1;
    q.key_end.clear();
  });
  add("key_begin alone, -1", [=](Problem& q) {
    q.key_begin[place] = -1;
    q.key_end.clear();
  });
  add("key_end alone, behind the last", [=](Problem& q) {
    q.key_end[place] += 1;
    q.key_begin.clear();
  });
  add("key_end alone, -1", [=](Problem& q) {
    q.key_end[place] = -1;
    q.key_begin.clear();
  });
  return all;
}

/// Of the lists of attention, in one entry of three: what is wrong there is wrong where nobody asks
/// anything of that entry, or of all.
Invalids<Lists> invalid_lists() {
  Invalids<Lists> all;
  for (const std::size_t place : {0, 1, 2}) {
    all.push_back({fmt::format("{} entry", kPlaces[place]), "fewer queries than none",
                   [=](Lists& lists) { lists.problem.queries[place] = -1; }, list_of_three});
    for (const Invalid<Lists>& one : invalid_entries(place)) {
      all.push_back(one);
      const auto add = [&](const char* beside, const std::function<void(Problem&)>& take_queries) {
        Invalid<Lists> idle = one;
        idle.name += beside;
        idle.spoil = [=, spoil = one.spoil](Lists& lists) {
          spoil(lists);
          take_queries(lists.problem);
        };
        all.push_back(idle);
      };
      add(", without queries", [=](Problem& q) { q.queries[place] = 0; });
      add(", no queries at all", [](Problem& q) {
        std::ranges::fill(q.queries, 0);
        q.q.clear();
      });
    }
  }
  // What was found right of a sequence in one entry is not right of it in the next.
  for (const std::size_t place : {1, 2}) {
    const auto add = [&](const char* name, const std::function<void(Problem&)>& spoil) {
      all.push_back({fmt::format("{} entry", kPlaces[place]), name,
                     [=](Lists& lists) {
                       Problem& problem = lists.problem;
                       for (Ids* ids : {&problem.which, &problem.key_begin, &problem.key_end})
                         (*ids)[place] = (*ids)[place - 1];
                       spoil(problem);
                     },
                     list_of_three});
    };
    add("again, key_begin -1", [=](Problem& q) { q.key_begin[place] = -1; });
    add("again, key_begin behind key_end",
        [=](Problem& q) { q.key_begin[place] = q.key_end[place] + 1; });
    add("again, key_end behind the last", [=](Problem& q) { q.key_end[place] += 1; });
  }
  join(all, "lists");
  return all;
}

Invalids<MergeCall> invalid_merges() {
  Invalids<MergeCall> all;
  const auto add = [&](const char* argument, auto KvMergeArgs::*field,
                       std::initializer_list<std::int64_t> values,
                       std::int64_t want = KV_BAD_ARGUMENT) {
    add_values(
        all, argument, [=](auto& args) -> auto& { return args.*field; }, values, want);
  };
  add("parts", &KvMergeArgs::parts, {-1, kLeast, 3 - kNarrowed});
  add("rows", &KvMergeArgs::rows, {-1, kLeast, 5 - kNarrowed});
  add("numbers in a row", &KvMergeArgs::value_dim, {0, -1, kLeast, 5 - kNarrowed});
  add("threads", &KvMergeArgs::num_threads,
      {0, -1, std::numeric_limits<std::int32_t>::min(), 1 - kNarrowed16});
  add("abi", &KvMergeArgs::abi_version, {0, 2, -1, 257, 1 + kNarrowed16}, KV_UNSUPPORTED);
  add("device", &KvMergeArgs::device, {1, 2, -1, 256, kNarrowed16}, KV_UNSUPPORTED);
  join(all, "by itself");
  return all;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
