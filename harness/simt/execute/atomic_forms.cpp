// SPDX-License-Identifier: Apache-2.0
// Atomics: the lanes of a warp in ascending order, one warp after the other.
#include <bit>
#include <cstring>
#include <type_traits>

#include "harness/simt/decode/form_table.h"
#include "harness/simt/execute/forms.h"
#include "harness/simt/execute/reach.h"

#define SIMT_LANES lanes_of_atomics
#include "harness/simt/lanes/each_lane.h"
#include "harness/simt/lanes/small_floats.h"
#undef SIMT_LANES

namespace gauntlet::simt {
namespace {

using lanes_of_atomics::one_nan;

/// F(old, b[, c]) is what is there afterwards; the old value is the result, if there is one.
template <class T, class F, bool kHasResult, std::uint32_t kValues>
void atomic(Frame& frame, const Instr& instr, std::uint32_t mask) {
  Warp& warp = static_cast<Warp&>(frame);
  constexpr std::uint32_t kAddress = kHasResult ? 1 : 0;
  Reaching parts(warp, instr, mask, instr.slots[kAddress], Touch::atomic);
  const T* const b = warp.slot<const T>(instr.slots[kAddress + 1]);
  const T* const c = warp.slot<const T>(instr.slots[kAddress + kValues]);
  T* const out = kHasResult ? warp.slot<T>(instr.slots[0]) : nullptr;
  Reach reach;
  while (parts.next(reach)) {
    check_atomic(warp, instr, reach);
    for (std::uint32_t lanes = reach.mask; lanes != 0; lanes &= lanes - 1) {
      const auto l = static_cast<std::uint32_t>(std::countr_zero(lanes));
      T old;
      std::memcpy(&old, reach.lane(l), sizeof old);
      const T value = F()(old, b[l], c[l]);
      std::memcpy(reach.lane(l), &value, sizeof value);
      if constexpr (kHasResult) out[l] = old;
    }
  }
}

template <class T, std::uint32_t kValues, class F>
void add(FormTable& t, const std::string& operation, F /*f*/) {
  constexpr char kCode = sizeof(T) == 2 ? 'H' : sizeof(T) == 4 ? 'W' : 'D';
  const std::string values =
      kValues == 1 ? std::string{',', kCode} : std::string{',', kCode, ',', kCode};
  struct Spelled {
    const char* text;
    ptx::Space space;
  };
  for (const Spelled& space : {Spelled{"", ptx::Space::generic},
                               {".global", ptx::Space::global},
                               {"{.shared,.shared::cta}", ptx::Space::shared}}) {
    Form form;
    form.kind = Class::atomic;
    form.role = Role::memory;
    form.memory = {space.space, sizeof(T), 1, false, MemoryForm::Order::both};
    const std::string order =
        "{,.relaxed,.acquire,.release,.acq_rel}{,.cta,.gpu,.sys}" + std::string(space.text);
    form.operands = std::string{kCode} + "=A" + values;
    form.run = &atomic<T, F, true, kValues>;
    t.add("atom" + order + operation, form);
    if (kValues != 1) continue;
    form.operands = "A" + values;
    form.run = &atomic<T, F, false, kValues>;
    t.add("red" + order + operation, form);
  }
}

template <class S, class U>
void add_integers(FormTable& t, const std::string& bits) {
  add<U, 1>(t, ".add{.u" + bits + ",.s" + bits + "}", [](U a, U b, U) { return U(a + b); });
  add<S, 1>(t, ".min.s" + bits, [](S a, S b, S) { return a < b ? a : b; });
  add<U, 1>(t, ".min.u" + bits, [](U a, U b, U) { return a < b ? a : b; });
  add<S, 1>(t, ".max.s" + bits, [](S a, S b, S) { return a > b ? a : b; });
  add<U, 1>(t, ".max.u" + bits, [](U a, U b, U) { return a > b ? a : b; });
  add<U, 1>(t, ".and.b" + bits, [](U a, U b, U) { return U(a & b); });
  add<U, 1>(t, ".or.b" + bits, [](U a, U b, U) { return U(a | b); });
  add<U, 1>(t, ".xor.b" + bits, [](U a, U b, U) { return U(a ^ b); });
  add<U, 1>(t, ".exch.b" + bits, [](U, U b, U) { return b; });
  add<U, 2>(t, ".cas.b" + bits, [](U a, U b, U c) { return a == b ? c : a; });
}

}  // namespace

void add_atomic_forms(FormTable& t) {
  using u16 = std::uint16_t;
  using u32 = std::uint32_t;
  add_integers<std::int32_t, u32>(t, "32");
  add_integers<std::int64_t, std::uint64_t>(t, "64");
  add<u32, 1>(t, ".inc.u32", [](u32 a, u32 b, u32) { return a >= b ? 0 : a + 1; });
  add<u32, 1>(t, ".dec.u32", [](u32 a, u32 b, u32) { return a == 0 || a > b ? b : a - 1; });
  add<float, 1>(t, ".add.f32", [](float a, float b, float) { return one_nan(a + b); });
  add<double, 1>(t, ".add.f64", [](double a, double b, double) { return one_nan(a + b); });
  add<u16, 2>(t, ".cas.b16", [](u16 a, u16 b, u16 c) { return a == b ? c : a; });
  using namespace lanes_of_atomics;
  add<u16, 1>(t, ".add.noftz.f16", [](u16 a, u16 b, u16) {
    return single_to_half(half_to_single(a) + half_to_single(b));
  });
  add<u32, 1>(t, ".add.noftz.f16x2", [](u32 a, u32 b, u32) {
    const u16 low = single_to_half(half_to_single(u16(a)) + half_to_single(u16(b)));
    const u16 high = single_to_half(half_to_single(u16(a >> 16)) + half_to_single(u16(b >> 16)));
    return u32(high) << 16 | low;
  });
}

}  // namespace gauntlet::simt
