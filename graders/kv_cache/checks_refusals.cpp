// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cache.h"
#include "graders/kit/refusals.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Flaw;

/// A cache with some tokens in it, and calls on it that are good but for one flaw.
class Refusals {
 public:
  explicit Refusals(Probe& probe)
      : probe_(probe), rng_(probe.begin_case("drawn")), cache_(probe, Setup(), rng_.seed()) {
    cache_.append({{0, draw_tokens(rng_, Setup(), 11)}, {2, draw_tokens(rng_, Setup(), 5)}});
    chunks_ = {{0, draw_tokens(rng_, Setup(), 3)}, {1, draw_tokens(rng_, Setup(), 2)}};
    problem_ = draw_problem(rng_, Setup(), cache_.contents(), {0, 2}, 2, 4);
    problem_.key_begin = {0, 1};
    problem_.key_end = {11, 4};
  }

  void page_bytes(const std::vector<Flaw<KvShape>>& flaws, std::int64_t want) {
    for (const auto& flaw : flaws) refuse(PageBytesCall(Setup()), flaw, want);
  }

  void append(const std::vector<Flaw<KvAppendArgs>>& flaws, std::int64_t want) {
    for (const auto& flaw : flaws) change(AppendCall(cache_.state(), chunks_), flaw, want);
  }
  void fork(const std::vector<Flaw<KvForkArgs>>& flaws, std::int64_t want) {
    for (const auto& flaw : flaws) change(ForkCall(cache_.state(), 0, 1), flaw, want);
  }
  void truncate(const std::vector<Flaw<KvTruncateArgs>>& flaws, std::int64_t want) {
    for (const auto& flaw : flaws) change(TruncateCall(cache_.state(), 0, 4), flaw, want);
  }

  void read(const std::vector<Flaw<KvReadArgs>>& flaws, std::int64_t want) {
    for (const auto& flaw : flaws) refuse(ReadCall(cache_.state(), 0, 2, 6), flaw, want);
  }
  void attend(const std::vector<Flaw<KvAttendArgs>>& flaws, std::int64_t want) {
    for (const auto& flaw : flaws) refuse(AttendCall(cache_.state(), problem_), flaw, want);
  }

  /// With lists that are wrong themselves, not the arguments beside them.
  void lists(const Flaw<Problem>& flaw) {
    Problem problem = problem_;
    flaw.spoil(problem);
    refuse(AttendCall(cache_.state(), problem), Flaw<KvAttendArgs>{flaw.name, [](KvAttendArgs&) {}},
           KV_BAD_ARGUMENT);
  }
  void append_to(std::int64_t sequence) {
    chunks_[1].sequence = sequence;
    append({{"append_to_no_sequence", [](KvAppendArgs&) {}}}, KV_BAD_ARGUMENT);
    chunks_[1].sequence = 1;
  }

  /// The same calls must work without a flaw, or nothing was shown.
  void require_good() {
    probe_.begin_case("without_a_flaw");
    cache_.require_right(problem_);
    cache_.append(chunks_);
    cache_.require_contents();
  }

 private:
  template <class Args>
  void spoil(Call<Args>& call, const Flaw<Args>& flaw) {
    probe_.begin_case(fmt::format("{}_{}", call.symbol, flaw.name));
    flaw.spoil(call.args);
  }

  template <class Args>
  void refuse(Call<Args>&& call, const Flaw<Args>& flaw, std::int64_t want) {
    spoil(call, flaw);
    kit::require_refused(probe_, call, want);
  }

  /// A call that would change the cache, and must not. What is not in use it may write.
  template <class Made, class Args>
  void change(Made&& call, const Flaw<Args>& flaw, std::int64_t want) {
    spoil(call, flaw);
    probe_.run(call);
    if (call.returned != want)
      probe_.fail(fmt::format("{} returned {}, want {}", call.symbol, call.returned, want));
    State after = cache_.state();
    call.take(after);
    cache_.require_untouched(after);
  }

  Probe& probe_;
  Rng rng_;
  Cache cache_;
  std::vector<Chunk> chunks_;
  Problem problem_;
};

template <class Args>
std::vector<Flaw<Args>> shape_flaws() {
  return {{"no_heads", [](Args& a) { a.shape.kv_heads = 0; }},
          {"no_key_dim", [](Args& a) { a.shape.key_dim = 0; }},
          {"negative_value_dim", [](Args& a) { a.shape.value_dim = -1; }},
          {"no_page_tokens", [](Args& a) { a.shape.page_tokens = 0; }},
          {"no_group", [](Args& a) { a.shape.group = 0; }},
          {"negative_pages", [](Args& a) { a.shape.pages = -1; }},
          {"no_threads", [](Args& a) { a.shape.num_threads = 0; }}};
}

template <class Args>
std::vector<Flaw<Args>> strange_shapes() {
  return {{"later_abi", [](Args& a) { a.shape.abi_version = KV_ABI_VERSION + 1; }},
          {"unknown_device", [](Args& a) { a.shape.device = 77; }},
          {"unknown_type", [](Args& a) { a.shape.stored = 77; }}};
}

void bad_arguments(Probe& probe) {
  Refusals calls(probe);
  calls.page_bytes({{"no_heads", [](KvShape& s) { s.kv_heads = 0; }},
                    {"no_key_dim", [](KvShape& s) { s.key_dim = 0; }},
                    {"no_page_tokens", [](KvShape& s) { s.page_tokens = 0; }},
                    {"negative_group", [](KvShape& s) { s.group = -4; }}},
                   KV_BAD_ARGUMENT);
  calls.append(shape_flaws<KvAppendArgs>(), KV_BAD_ARGUMENT);
  calls.append({{"negative_count", [](KvAppendArgs& a) { a.count = -1; }}}, KV_BAD_ARGUMENT);
  calls.append_to(4);
  calls.append_to(-1);
  calls.fork(shape_flaws<KvForkArgs>(), KV_BAD_ARGUMENT);
  calls.fork({{"to_itself", [](KvForkArgs& a) { a.to = a.from; }},
              {"to_one_in_use", [](KvForkArgs& a) { a.to = 2; }},
              {"from_nowhere", [](KvForkArgs& a) { a.from = 4; }},
              {"to_nowhere", [](KvForkArgs& a) { a.to = -1; }}},
             KV_BAD_ARGUMENT);
  calls.truncate({{"longer", [](KvTruncateArgs& a) { a.length = 12; }},
                  {"negative", [](KvTruncateArgs& a) { a.length = -1; }},
                  {"nowhere", [](KvTruncateArgs& a) { a.sequence = 4; }}},
                 KV_BAD_ARGUMENT);
  calls.read({{"behind_the_end", [](KvReadArgs& a) { a.begin = 6; }},
              {"before_the_start", [](KvReadArgs& a) { a.begin = -1; }},
              {"negative_tokens", [](KvReadArgs& a) { a.tokens = -1; }},
              {"nowhere", [](KvReadArgs& a) { a.sequence = -1; }}},
             KV_BAD_ARGUMENT);
  calls.attend(shape_flaws<KvAttendArgs>(), KV_BAD_ARGUMENT);
  calls.attend({{"uneven_heads", [](KvAttendArgs& a) { a.q_heads = 3; }},
                {"no_query_heads", [](KvAttendArgs& a) { a.q_heads = 0; }},
                {"window_below_all", [](KvAttendArgs& a) { a.window = -2; }},
                {"negative_count", [](KvAttendArgs& a) { a.count = -1; }}},
               KV_BAD_ARGUMENT);
  calls.lists({"attend_to_no_sequence", [](Problem& q) { q.which[1] = 4; }});
  calls.lists({"keys_behind_the_end", [](Problem& q) { q.key_end[1] = 6; }});
  calls.lists({"keys_before_the_start", [](Problem& q) { q.key_begin[0] = -1; }});
  calls.lists({"keys_the_wrong_way_round", [](Problem& q) { q.key_begin[0] = 12; }});
  calls.require_good();
}

void unsupported_requests(Probe& probe) {
  Refusals calls(probe);
  calls.append(strange_shapes<KvAppendArgs>(), KV_UNSUPPORTED);
  calls.fork(strange_shapes<KvForkArgs>(), KV_UNSUPPORTED);
  calls.truncate(strange_shapes<KvTruncateArgs>(), KV_UNSUPPORTED);
  calls.read(strange_shapes<KvReadArgs>(), KV_UNSUPPORTED);
  calls.attend(strange_shapes<KvAttendArgs>(), KV_UNSUPPORTED);
  calls.page_bytes({{"later_abi", [](KvShape& s) { s.abi_version = KV_ABI_VERSION + 1; }},
                    {"unknown_type", [](KvShape& s) { s.stored = 77; }},
                    {"unknown_device", [](KvShape& s) { s.device = 77; }}},
                   KV_UNSUPPORTED);
  calls.require_good();
}

}  // namespace

std::vector<Check> refusals_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"bad_arguments", "arguments that make no sense, acted upon", robustness, 0.5, minor},
       bad_arguments},
      {{"unsupported_requests", "types and versions that are not implemented, taken for others",
        robustness, 0.5, minor},
       unsupported_requests},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
