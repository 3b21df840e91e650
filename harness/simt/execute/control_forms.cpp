// SPDX-License-Identifier: Apache-2.0
// Control flow, barriers and fences. What ends a block of code is done by Warp and ThreadBlock,
// which know the forms by their roles.
#include <bit>

#include "harness/simt/decode/form_table.h"
#include "harness/simt/execute/device_printf.h"
#include "harness/simt/execute/forms.h"
#include "harness/simt/execute/grid.h"
#include "harness/simt/memory/address.h"

namespace gauntlet::simt {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

void nothing(Frame& /*frame*/, const Instr& /*instr*/, u32 /*mask*/) {}

/// bar.arrive: counts for the barrier and does not wait.
void arrive(Frame& frame, const Instr& instr, u32 mask) {
  Warp& warp = static_cast<Warp&>(frame);
  const int lane = std::countr_zero(mask);
  warp.block().arrive(warp, warp.slot<u32>(instr.slots[0])[lane],
                      warp.slot<u32>(instr.slots[1])[lane], false);
}

void fence(Frame& frame, const Instr& /*instr*/, u32 /*mask*/) {
  Warp& warp = static_cast<Warp&>(frame);
  warp.grid().races.fence(warp.block().handovers());
}

/// Between a generic address and one in a window.
template <u64 kWindow, bool kToSpace>
void convert_address(Frame& frame, const Instr& instr, u32 mask) {
  Warp& warp = static_cast<Warp&>(frame);
  u64* const out = warp.slot<u64>(instr.slots[0]);
  const u64* const in = warp.slot<const u64>(instr.slots[1]);
  for (u32 l = 0; l < kLanes; ++l) {
    const u64 value = kToSpace ? in[l] - kWindow : in[l] + kWindow;
    out[l] = (mask & (1u << l)) != 0 ? value : out[l];
  }
}

template <ptx::Space kSpace>
void is_in_space(Frame& frame, const Instr& instr, u32 mask) {
  Warp& warp = static_cast<Warp&>(frame);
  const u64* const in = warp.slot<const u64>(instr.slots[1]);
  u32 yes = 0;
  for (u32 l = 0; l < kLanes; ++l) yes |= space_of(in[l]) == kSpace ? 1u << l : 0;
  u32& out = *warp.slot<u32>(instr.slots[0]);
  out = (out & ~mask) | (yes & mask);
}

void trap(Frame& frame, const Instr& instr, u32 mask) {
  Warp& warp = static_cast<Warp&>(frame);
  warp.grid().fault(warp, instr, Fault::trap, u32(std::countr_zero(mask)), u64(std::popcount(mask)),
                    [] { return std::string("trap"); });
  warp.grid().stop(Status::trapped, instr.index, "trap");
}

void add_barriers(FormTable& t) {
  const auto barrier = [&](const char* pattern, const char* operands, std::uint8_t variant) {
    Form form;
    form.operands = operands;
    form.run = &nothing;
    form.kind = Class::barrier;
    form.role = Role::barrier;
    form.variant = variant;
    t.add(pattern, form);
  };
  constexpr const char* kSync = "{bar.sync,barrier.sync,barrier.sync.aligned}";
  constexpr std::uint8_t kThreads = BarrierVariant::has_threads;
  barrier(kSync, "W", BarrierVariant::sync);
  barrier(kSync, "W,W", BarrierVariant::sync | kThreads);
  constexpr const char* kCount = "{bar.red,barrier.red,barrier.red.aligned}.popc.u32";
  barrier(kCount, "W=W,P", BarrierVariant::count);
  barrier(kCount, "W=W,W,P", BarrierVariant::count | kThreads);
  constexpr const char* kAll = "{bar.red,barrier.red,barrier.red.aligned}.and.pred";
  barrier(kAll, "P=W,P", BarrierVariant::all);
  barrier(kAll, "P=W,W,P", BarrierVariant::all | kThreads);
  constexpr const char* kAny = "{bar.red,barrier.red,barrier.red.aligned}.or.pred";
  barrier(kAny, "P=W,P", BarrierVariant::any);
  barrier(kAny, "P=W,W,P", BarrierVariant::any | kThreads);
  t.add("{bar.arrive,barrier.arrive,barrier.arrive.aligned}", {"W,W", &arrive, Class::barrier});
}

}  // namespace

void add_control_forms(FormTable& t) {
  const Class k = Class::control;
  t.add("bra{,.uni}", {"L", &nothing, k, Role::branch});
  t.add("brx.idx{,.uni}", {"W,L", &nothing, k, Role::table_branch});
  t.add("{ret,ret.uni,exit}", {"", &nothing, k, Role::leave});
  t.add("trap", {"", &trap, k, Role::trap});
  t.add("call.vprintf", {"W=D,D", &print_lanes, k});
  t.add("call.assertfail", {"D,D,W,D,D", &fail_assertion, k, Role::trap});
  t.add("nanosleep.u32", {"W", &nothing, k});
  add_barriers(t);
  // Within a block nothing is reordered here, so that a fence changes only what other blocks know.
  t.add("{membar.cta,fence.acq_rel.cta,fence.sc.cta}", {"", &nothing, Class::barrier});
  t.add("{membar.gl,membar.sys,fence.acq_rel.gpu,fence.acq_rel.sys,fence.sc.gpu,fence.sc.sys}",
        {"", &fence, Class::barrier});
  const Class i = Class::integer;
  t.add("cvta.shared.u64", {"D=D", &convert_address<kSharedWindow, false>, i});
  t.add("cvta.to.shared.u64", {"D=D", &convert_address<kSharedWindow, true>, i});
  t.add("cvta.local.u64", {"D=D", &convert_address<kLocalWindow, false>, i});
  t.add("cvta.to.local.u64", {"D=D", &convert_address<kLocalWindow, true>, i});
  t.add("isspacep.shared", {"P=D", &is_in_space<ptx::Space::shared>, i});
  t.add("isspacep.local", {"P=D", &is_in_space<ptx::Space::local>, i});
  t.add("isspacep.global", {"P=D", &is_in_space<ptx::Space::global>, i});
}

}  // namespace gauntlet::simt
