// SPDX-License-Identifier: Apache-2.0
namespace gauntlet::simt::SIMT_LANES {

/// selp: its last operand is a predicate.
template <class T>
void select(Frame& frame, const Instr& instr, u32 mask) {
  T* const out = slot<T>(frame, instr.slots[0]);
  const T* const a = slot<const T>(frame, instr.slots[1]);
  const T* const b = slot<const T>(frame, instr.slots[2]);
  const u32 chosen = *slot<u32>(frame, instr.slots[3]);
  const u32 first = mask & chosen;
  const u32 second = mask & ~chosen;
  SIMT_EACH_LANE
  for (u32 l = 0; l < kLanes; ++l) {
    const T other = (second & (1u << l)) != 0 ? b[l] : out[l];
    out[l] = (first & (1u << l)) != 0 ? a[l] : other;
  }
}

/// Logic of predicates is that of masks.
template <class F>
void logic(Frame& frame, const Instr& instr, u32 mask) {
  u32& out = *slot<u32>(frame, instr.slots[0]);
  const u32 a = *slot<u32>(frame, instr.slots[1]);
  const u32 b = *slot<u32>(frame, instr.slots[2]);
  out = (out & ~mask) | (F()(a, b) & mask);
}
template <class F>
void add_logic(FormTable& t, const char* name, const char* operands, F /*f*/) {
  add_lane_form(t, name, operands, &logic<F>, Class::move);
}

/// mov.b64 d, {a, b} and its like.
template <class Whole, class Part>
void pack(Frame& frame, const Instr& instr, u32 mask) {
  constexpr u32 kParts = sizeof(Whole) / sizeof(Part);
  Whole* const out = slot<Whole>(frame, instr.slots[0]);
  for (u32 l = 0; l < kLanes; ++l) {
    Whole made = 0;
    for (u32 n = 0; n < kParts; ++n)
      made |= Whole(slot<const Part>(frame, instr.slots[1 + n])[l]) << (8 * sizeof(Part) * n);
    out[l] = (mask & (1u << l)) != 0 ? made : out[l];
  }
}
/// mov.b64 {a, b}, d. A part that is not wanted has a slot of its own that nobody reads.
template <class Whole, class Part>
void unpack(Frame& frame, const Instr& instr, u32 mask) {
  constexpr u32 kParts = sizeof(Whole) / sizeof(Part);
  const Whole* const in = slot<const Whole>(frame, instr.slots[kParts]);
  for (u32 n = 0; n < kParts; ++n) {
    Part* const out = slot<Part>(frame, instr.slots[n]);
    SIMT_EACH_LANE
    for (u32 l = 0; l < kLanes; ++l)
      out[l] = (mask & (1u << l)) != 0 ? Part(in[l] >> (8 * sizeof(Part) * n)) : out[l];
  }
}

inline void add_move_forms(FormTable& t) {
  const Class k = Class::move;
  add_each(t, "mov{.b16,.u16,.s16}", k, [](u16 x) { return x; });
  add_each(t, "mov{.b32,.u32,.s32,.f32}", k, [](u32 x) { return x; });
  add_each(t, "mov{.b64,.u64,.s64,.f64}", k, [](u64 x) { return x; });
  // Addresses of global and constant memory are the same in every space, see memory/address.h;
  // the other way, and those of shared and local memory, are in execute/control_forms.cpp.
  add_each(t, "cvta{,.to}{.global,.const}.u64", Class::integer, [](u64 x) { return x; });
  add_lane_form(t, "selp{.b16,.u16,.s16}", "H=H,H,P", &select<u16>, k);
  add_lane_form(t, "selp{.b32,.u32,.s32,.f32}", "W=W,W,P", &select<u32>, k);
  add_lane_form(t, "selp{.b64,.u64,.s64,.f64}", "D=D,D,P", &select<u64>, k);
  add_logic(t, "and.pred", "P=P,P", [](u32 a, u32 b) { return a & b; });
  add_logic(t, "or.pred", "P=P,P", [](u32 a, u32 b) { return a | b; });
  add_logic(t, "xor.pred", "P=P,P", [](u32 a, u32 b) { return a ^ b; });
  add_logic(t, "not.pred", "P=P", [](u32 a, u32 /*b*/) { return ~a; });
  add_logic(t, "mov.pred", "P=P", [](u32 a, u32 /*b*/) { return a; });
  add_lane_form(t, "mov.b32", "W={HH}", &pack<u32, u16>, k);
  add_lane_form(t, "mov.b32", "{HH}=W", &unpack<u32, u16>, k);
  add_lane_form(t, "mov.b64", "D={WW}", &pack<u64, u32>, k);
  add_lane_form(t, "mov.b64", "{WW}=D", &unpack<u64, u32>, k);
  add_lane_form(t, "mov.b64", "D={HHHH}", &pack<u64, u16>, k);
  add_lane_form(t, "mov.b64", "{HHHH}=D", &unpack<u64, u16>, k);
}

}  // namespace gauntlet::simt::SIMT_LANES
