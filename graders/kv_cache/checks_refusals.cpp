// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "domain.h"
#include "drawing.h"
#include "graders/kit/refusals.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "invalid_calls.h"
#include "living.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Assignment;

// Calls that are refused one after the other, before a good one comes again.
constexpr std::size_t kInARow = 3;

/// A cache in some state, and calls on it that are good but for what is spoilt.
class Scene {
 public:
  Scene(Probe& probe, const Assignment& choice, Rng& rng)
      : probe_(probe), life_(life_of(choice, rng)), cache_(probe, life_.setup, rng.seed()) {
    live(cache_, choice, rng, life_.lengths);
    // The last one is free for a fork to go to.
    const std::int64_t last = setup().sequences - 1;
    if (last > 0 && cache_.length(last) > 0) cache_.free(last);
    problem_ = problem_of(choice, rng, cache_);
    const std::int64_t some = choice.is("asked of", "none") ? 0 : setup().sequences;
    for (const std::int64_t s : random_order(rng, std::min<std::int64_t>(3, some)))
      chunks_.push_back({s, draw_many_tokens(rng, setup(), 2)});
  }

  PageBytesCall page_bytes() const { return PageBytesCall(setup()); }
  AppendCall append() const { return AppendCall(cache_.state(), chunks_); }
  ForkCall fork() const { return ForkCall(cache_.state(), 0, setup().sequences - 1); }
  TruncateCall truncate() const { return TruncateCall(cache_.state(), 0, cache_.length(0) / 2); }
  ReadCall read() const { return ReadCall(cache_.state(), 0, 0, cache_.length(0)); }
  AttendCall attend() const { return AttendCall(cache_.state(), problem_); }
  AttendCall attend(const Problem& problem) const { return AttendCall(cache_.state(), problem); }

  /// Three entries with two queries each, one sequence twice.
  Lists lists() const {
    Problem made;
    made.which = {0, setup().sequences - 2, 0};
    made.queries = {2, 2, 2};
    made.q_heads = setup().heads;
    for (const std::int64_t s : made.which) {
      made.key_begin.push_back(cache_.length(s) / 2);
      made.key_end.push_back(cache_.length(s));
    }
    made.q.assign(static_cast<std::size_t>(made.rows() * setup().key_dim), 0.5f);
    return {made, setup().sequences};
  }

  void require_right() { cache_.require_right(problem_); }
  void require_right_to_the_end() {
    cache_.append(chunks_);
    cache_.require_some_contents();
  }

  template <class AnyCall>
  void require_refused(AnyCall& call, std::int64_t want) {
    if constexpr (requires(State & state) { call.take(state); }) {
      // What is not in use it may write.
      probe_.run(call);
      if (call.returned != want)
        probe_.fail(fmt::format("{} returned {}, want {}", call.symbol, call.returned, want));
      State after = cache_.state();
      call.take(after);
      cache_.require_untouched(after);
    } else {
      kit::require_refused(probe_, call, want);
    }
  }

 private:
  const Setup& setup() const { return life_.setup; }

  Probe& probe_;
  Life life_;
  Cache cache_;
  Problem problem_;
  std::vector<Chunk> chunks_;
};

/// Runs what has to be refused; a finding says what was wrong with the call.
template <class Refuse>
void name_fault(const std::string& name, const Refuse& refuse) {
  try {
    refuse();
  } catch (CheckEnded& ended) {
    ended.finding.evidence.insert(ended.finding.evidence.begin(), "the call has: " + name);
    throw;
  }
}

/// The groups of `all`, each as one refusal that asks `refuse` for all of its members.
template <class Call, class Refuse>
void add_groups(std::vector<kit::Refusal>& to, const std::string& function,
                const Invalids<Call>& all, const Refuse& refuse) {
  for (auto first = all.begin(); first != all.end();) {
    const auto last = std::find_if(
        first, all.end(), [&](const Invalid<Call>& one) { return one.group != first->group; });
    const Invalids<Call> group(first, last);
    to.push_back({function + " " + first->group, first->beside,
                  [=](const Assignment& choice, Rng& rng) { refuse(group, choice, rng); }});
    first = last;
  }
}

/// Refusals by a function that is given a cache. `make` makes the good call, or what it is made of.
template <class Call, class Make>
void add_refusals(std::vector<kit::Refusal>& to, Probe& probe, const std::string& function,
                  const Invalids<Call>& all, const Make& make, bool between) {
  add_groups(to, function, all, [=, &probe](const auto& group, const auto& choice, Rng& rng) {
    Scene scene(probe, choice, rng);
    if (between) scene.require_right();
    std::size_t refused = 0;
    for (const Invalid<Call>& invalid : group) {
      Call made = make(scene);
      invalid.spoil(made);
      name_fault(invalid.group + " " + invalid.name, [&] {
        if constexpr (std::is_same_v<Call, Lists>) {
          AttendCall call = scene.attend(made.problem);
          scene.require_refused(call, invalid.want);
        } else {
          scene.require_refused(made, invalid.want);
        }
      });
      if (between && (++refused % kInARow == 0 || refused == group.size())) scene.require_right();
    }
    if (between) scene.require_right_to_the_end();
  });
}

/// What all functions but the merge refuse.
std::vector<kit::Refusal> refusals(Probe& probe, bool between) {
  std::vector<kit::Refusal> all;
  const auto add = [&](const char* function, const auto& invalid, const auto& make) {
    add_refusals(all, probe, function, invalid, make, between);
  };
  add("page bytes", invalid_page_bytes(), [](Scene& s) { return s.page_bytes(); });
  add("append", invalid_appends(), [](Scene& s) { return s.append(); });
  add("fork", invalid_forks(), [](Scene& s) { return s.fork(); });
  add("truncate", invalid_truncations(), [](Scene& s) { return s.truncate(); });
  add("read", invalid_reads(), [](Scene& s) { return s.read(); });
  add("attend", invalid_attention(), [](Scene& s) { return s.attend(); });
  add("attend", invalid_lists(), [](Scene& s) { return s.lists(); });
  for (kit::Refusal& refusal : all) {
    // A solution may return before it has looked at the rest of what is given an empty list.
    if (between && (refusal.name.starts_with("append") || refusal.name.starts_with("attend")))
      refusal.always = {{{"asked of", {"none"}}}};
    // Idle threads of an earlier call cost every later one a millisecond, and refuse nothing.
    refusal.beside = [beside = refusal.beside](const Assignment& choice) {
      return beside(choice) && choice["threads"].most <= 7;
    };
  }
  return all;
}

std::vector<kit::Refusal> merge_refusals(Probe& probe, bool between) {
  std::vector<kit::Refusal> all;
  add_groups(all, "merge", invalid_merges(),
             [=, &probe](const auto& group, const auto& choice, Rng& rng) {
               const Parts parts = parts_of(choice, rng);
               const CallOptions options = merge_options_of(choice, rng);
               const bool want_lse = choice.is("merged lse", "wanted");
               for (const Invalid<MergeCall>& invalid : group) {
                 if (between) require_right(probe, parts, want_lse, options);
                 MergeCall call(parts, want_lse, options);
                 invalid.spoil(call);
                 name_fault(invalid.group + " " + invalid.name,
                            [&] { kit::require_refused(probe, call, invalid.want); });
                 if (between) require_right(probe, parts, want_lse, options);
               }
             });
  for (kit::Refusal& refusal : all)
    if (between) refusal.always = {{{"parts", {"0"}}}, {{"rows", {"0"}}}};
  return all;
}

}  // namespace

std::vector<Check> refusals_checks() {
  return kit::refusal_checks({{&domain(), refusals}, {&merge_domain(), merge_refusals}});
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
