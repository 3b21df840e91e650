// SPDX-License-Identifier: Apache-2.0
// What lanes of a warp tell each other. The warp has seen to it that the lanes of a member mask are
// here, or reported that some are not; lanes with different masks form groups of their own.
#include <array>
#include <bit>
#include <cstring>
#include <fmt/format.h>

#include "harness/simt/decode/form_table.h"
#include "harness/simt/execute/forms.h"
#include "harness/simt/execute/grid.h"

namespace gauntlet::simt {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// Calls visit(group) for the lanes of each distinct member mask, after reporting those that are
/// not in their own.
template <class Visit>
void each_group(Warp& warp, const Instr& instr, u32 mask, const u32* members, const Visit& visit) {
  for (u32 left = mask; left != 0;) {
    const auto first = static_cast<u32>(std::countr_zero(left));
    const u32 named = members[first];
    u32 group = 0;
    for (u32 lanes = left; lanes != 0; lanes &= lanes - 1)
      if (members[std::countr_zero(lanes)] == named) group |= lanes & (0 - lanes);
    left &= ~group;
    if (const u32 foreign = group & ~named; foreign != 0)
      warp.grid().fault(
          warp, instr, Fault::foreign_lane, u32(std::countr_zero(foreign)),
          u64(std::popcount(foreign)),
          [&] { return fmt::format("its member mask is {:#010x}, which it is not in", named); });
    visit(group);
  }
}

template <class Visit>
void each_lane_of(u32 mask, const Visit& visit) {
  for (; mask != 0; mask &= mask - 1) visit(static_cast<u32>(std::countr_zero(mask)));
}

enum class Shuffle { up, down, bfly, idx };

struct Source {
  u32 lane;
  bool inside;  // of the segment; the lane's own value otherwise
};

Source source_of(Shuffle kind, u32 lane, u32 b, u32 c) {
  const u32 by = b & 31;
  const u32 segment = (c >> 8) & 31;
  const u32 least = lane & segment;
  const u32 most = least | (c & 31 & ~segment);
  int from = 0;
  switch (kind) {
    case Shuffle::up:
      from = int(lane) - int(by);
      break;
    case Shuffle::down:
      from = int(lane + by);
      break;
    case Shuffle::bfly:
      from = int(lane ^ by);
      break;
    case Shuffle::idx:
      from = int(least | (by & ~segment));
      break;
  }
  const bool inside = kind == Shuffle::up ? from >= int(most) : from <= int(most);
  return {inside ? u32(from) & 31 : lane, inside};
}

template <Shuffle kKind, bool kTells>
void shuffle(Frame& frame, const Instr& instr, u32 mask) {
  Warp& warp = static_cast<Warp&>(frame);
  constexpr u32 kIn = kTells ? 2 : 1;
  u32* const out = warp.slot<u32>(instr.slots[0]);
  std::array<u32, kLanes> in;
  std::memcpy(in.data(), warp.slot<u32>(instr.slots[kIn]), sizeof in);
  const u32* const b = warp.slot<u32>(instr.slots[kIn + 1]);
  const u32* const c = warp.slot<u32>(instr.slots[kIn + 2]);
  const u32* const members = warp.slot<u32>(instr.slots[kIn + 3]);
  u32 inside = 0;
  each_group(warp, instr, mask, members, [&](u32 group) {
    u32 idle = 0;
    each_lane_of(group, [&](u32 l) {
      const Source source = source_of(kKind, l, b[l], c[l]);
      inside |= source.inside ? 1u << l : 0;
      idle |= (group >> source.lane & 1u) == 0 ? 1u << l : 0;
      out[l] = in[source.lane];
    });
    if (idle == 0) return;
    const auto lane = static_cast<u32>(std::countr_zero(idle));
    warp.grid().fault(warp, instr, Fault::idle_source, lane, u64(std::popcount(idle)), [&] {
      return fmt::format("takes the value of lane {}, which takes no part",
                         source_of(kKind, lane, b[lane], c[lane]).lane);
    });
  });
  if constexpr (kTells) {
    u32& told = *warp.slot<u32>(instr.slots[1]);
    told = (told & ~mask) | (inside & mask);
  }
}

enum class Vote { all, any, uni, ballot };

template <Vote kKind>
void vote(Frame& frame, const Instr& instr, u32 mask) {
  Warp& warp = static_cast<Warp&>(frame);
  const u32 said = *warp.slot<u32>(instr.slots[1]);
  const u32* const members = warp.slot<u32>(instr.slots[2]);
  u32* const out = warp.slot<u32>(instr.slots[0]);
  each_group(warp, instr, mask, members, [&](u32 group) {
    const u32 yes = said & group;
    if constexpr (kKind == Vote::ballot) {
      each_lane_of(group, [&](u32 l) { out[l] = yes; });
    } else {
      const bool result = kKind == Vote::all   ? yes == group
                          : kKind == Vote::any ? yes != 0
                                               : yes == group || yes == 0;
      *out = (*out & ~group) | (result ? group : 0);
    }
  });
}

template <class T>
void match_any(Frame& frame, const Instr& instr, u32 mask) {
  Warp& warp = static_cast<Warp&>(frame);
  u32* const out = warp.slot<u32>(instr.slots[0]);
  std::array<T, kLanes> in;
  std::memcpy(in.data(), warp.slot<T>(instr.slots[1]), sizeof in);
  each_group(warp, instr, mask, warp.slot<u32>(instr.slots[2]), [&](u32 group) {
    std::array<u32, kLanes> same{};
    each_lane_of(group, [&](u32 l) {
      each_lane_of(group, [&](u32 m) { same[l] |= in[m] == in[l] ? 1u << m : 0; });
    });
    each_lane_of(group, [&](u32 l) { out[l] = same[l]; });
  });
}

template <class T>
void match_all(Frame& frame, const Instr& instr, u32 mask) {
  Warp& warp = static_cast<Warp&>(frame);
  u32* const out = warp.slot<u32>(instr.slots[0]);
  u32& told = *warp.slot<u32>(instr.slots[1]);
  std::array<T, kLanes> in;
  std::memcpy(in.data(), warp.slot<T>(instr.slots[2]), sizeof in);
  each_group(warp, instr, mask, warp.slot<u32>(instr.slots[3]), [&](u32 group) {
    bool all = true;
    const T first = in[std::size_t(std::countr_zero(group))];
    each_lane_of(group, [&](u32 l) { all = all && in[l] == first; });
    each_lane_of(group, [&](u32 l) { out[l] = all ? group : 0; });
    told = (told & ~group) | (all ? group : 0);
  });
}

template <class F>
void reduce(Frame& frame, const Instr& instr, u32 mask) {
  Warp& warp = static_cast<Warp&>(frame);
  u32* const out = warp.slot<u32>(instr.slots[0]);
  std::array<u32, kLanes> in;
  std::memcpy(in.data(), warp.slot<u32>(instr.slots[1]), sizeof in);
  each_group(warp, instr, mask, warp.slot<u32>(instr.slots[2]), [&](u32 group) {
    const auto first = static_cast<u32>(std::countr_zero(group));
    u32 result = in[first];
    each_lane_of(group & (group - 1), [&](u32 l) { result = F()(result, in[l]); });
    each_lane_of(group, [&](u32 l) { out[l] = result; });
  });
}

void sync_warp(Frame& frame, const Instr& instr, u32 mask) {
  Warp& warp = static_cast<Warp&>(frame);
  each_group(warp, instr, mask, warp.slot<u32>(instr.slots[0]), [](u32) {});
  warp.block().clocks().meet_in_warp(warp.number());
}

void active_mask(Frame& frame, const Instr& instr, u32 mask) {
  u32* const out = static_cast<Warp&>(frame).slot<u32>(instr.slots[0]);
  each_lane_of(mask, [&](u32 l) { out[l] = mask; });
}

template <Shuffle kKind>
void add_shuffle(FormTable& t, const char* name) {
  t.add(name, {"W=W,W,W,W", &shuffle<kKind, false>, Class::exchange, Role::converge});
  t.add(name, {"W?=W,W,W,W", &shuffle<kKind, true>, Class::exchange, Role::converge});
}

template <class F>
void add_reduction(FormTable& t, const char* name, F /*f*/) {
  t.add(name, {"W=W,W", &reduce<F>, Class::exchange, Role::converge});
}

}  // namespace

void add_exchange_forms(FormTable& t) {
  const Class k = Class::exchange;
  const Role r = Role::converge;
  add_shuffle<Shuffle::up>(t, "shfl.sync.up.b32");
  add_shuffle<Shuffle::down>(t, "shfl.sync.down.b32");
  add_shuffle<Shuffle::bfly>(t, "shfl.sync.bfly.b32");
  add_shuffle<Shuffle::idx>(t, "shfl.sync.idx.b32");
  t.add("vote.sync.all.pred", {"P=P,W", &vote<Vote::all>, k, r});
  t.add("vote.sync.any.pred", {"P=P,W", &vote<Vote::any>, k, r});
  t.add("vote.sync.uni.pred", {"P=P,W", &vote<Vote::uni>, k, r});
  t.add("vote.sync.ballot.b32", {"W=P,W", &vote<Vote::ballot>, k, r});
  t.add("match.any.sync.b32", {"W=W,W", &match_any<u32>, k, r});
  t.add("match.any.sync.b64", {"W=D,W", &match_any<u64>, k, r});
  t.add("match.all.sync.b32", {"W?=W,W", &match_all<u32>, k, r});
  t.add("match.all.sync.b64", {"W?=D,W", &match_all<u64>, k, r});
  add_reduction(t, "redux.sync.add{.s32,.u32}", [](u32 a, u32 b) { return a + b; });
  add_reduction(t, "redux.sync.min.u32", [](u32 a, u32 b) { return a < b ? a : b; });
  add_reduction(t, "redux.sync.max.u32", [](u32 a, u32 b) { return a > b ? a : b; });
  add_reduction(t, "redux.sync.min.s32", [](u32 a, u32 b) { return int(a) < int(b) ? a : b; });
  add_reduction(t, "redux.sync.max.s32", [](u32 a, u32 b) { return int(a) > int(b) ? a : b; });
  add_reduction(t, "redux.sync.and.b32", [](u32 a, u32 b) { return a & b; });
  add_reduction(t, "redux.sync.or.b32", [](u32 a, u32 b) { return a | b; });
  add_reduction(t, "redux.sync.xor.b32", [](u32 a, u32 b) { return a ^ b; });
  t.add("bar.warp.sync", {"W", &sync_warp, Class::barrier, r});
  t.add("activemask.b32", {"W=", &active_mask, k});
}

}  // namespace gauntlet::simt
