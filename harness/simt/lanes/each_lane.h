// SPDX-License-Identifier: Apache-2.0
// From a function of one lane's values to a function of a warp's registers. No include guard and no
// #pragma once in this folder: forms.h includes each file once for each vector unit.
namespace gauntlet::simt::SIMT_LANES {

using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

// Slots of one instruction are the same or apart, never shifted against each other.
#if defined(__clang__)
#define SIMT_EACH_LANE _Pragma("clang loop vectorize(assume_safety)")
#else
#define SIMT_EACH_LANE _Pragma("GCC ivdep")
#endif

template <class T>
inline T* slot(Frame& frame, u32 offset) {
  return reinterpret_cast<T*>(frame.slots + offset);
}

template <class To, class From>
inline To bits_of(From x) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, x);
}

/// How an operand of a type is written in Form::operands.
template <class T>
constexpr char kCode = sizeof(T) == 2   ? 'H'
                       : sizeof(T) == 4 ? 'W'
                                        : 'D';
template <>
constexpr char kCode<bool> = 'P';

template <class R, class... A>
struct OperandText {
  char text[2 * sizeof...(A) + 2] = {kCode<R>};
  constexpr OperandText() {
    const char codes[] = {kCode<A>...};
    for (unsigned n = 0; n < sizeof...(A); ++n) {
      text[1 + 2 * n] = n == 0 ? '=' : ',';
      text[2 + 2 * n] = codes[n];
    }
  }
};

template <u32... N>
struct Numbers {};
template <u32 kCount, u32... N>
struct CountTo : CountTo<kCount - 1, kCount - 1, N...> {};
template <u32... N>
struct CountTo<0, N...> {
  using Made = Numbers<N...>;
};
template <u32 kCount>
using FirstNumbers = typename CountTo<kCount>::Made;

template <class F, class Signature = decltype(&F::operator())>
struct EachLane;

template <class F, class R, class... A>
struct EachLane<F, R (F::*)(A...) const> {
  static constexpr OperandText<R, A...> kOperands{};

  static void lanes(R* out, u32 mask, const A*... in) {
    const F f;
    if (mask == kAllLanes) {
      SIMT_EACH_LANE
      for (u32 l = 0; l < kLanes; ++l) out[l] = f(in[l]...);
      return;
    }
    R all[kLanes];
    SIMT_EACH_LANE
    for (u32 l = 0; l < kLanes; ++l) all[l] = f(in[l]...);
    SIMT_EACH_LANE
    for (u32 l = 0; l < kLanes; ++l) out[l] = (mask & (1u << l)) != 0 ? all[l] : out[l];
  }

  template <u32... N>
  static void run_with(Frame& frame, const Instr& instr, u32 mask, Numbers<N...> /*operands*/) {
    lanes(slot<R>(frame, instr.slots[0]), mask, slot<const A>(frame, instr.slots[1 + N])...);
  }
  static void run(Frame& frame, const Instr& instr, u32 mask) {
    run_with(frame, instr, mask, FirstNumbers<sizeof...(A)>());
  }
};

/// A comparison: one bit of a predicate for each lane.
template <class F, class... A>
struct EachLane<F, bool (F::*)(A...) const> {
  static constexpr OperandText<bool, A...> kOperands{};

  static u32 lanes(const A*... in) {
    const F f;
    u32 bits = 0;
    SIMT_EACH_LANE
    for (u32 l = 0; l < kLanes; ++l) bits |= f(in[l]...) ? 1u << l : 0u;
    return bits;
  }

  template <u32... N>
  static void run_with(Frame& frame, const Instr& instr, u32 mask, Numbers<N...> /*operands*/) {
    const u32 bits = lanes(slot<const A>(frame, instr.slots[1 + N])...);
    u32& out = *slot<u32>(frame, instr.slots[0]);
    out = (out & ~mask) | (bits & mask);
  }
  static void run(Frame& frame, const Instr& instr, u32 mask) {
    run_with(frame, instr, mask, FirstNumbers<sizeof...(A)>());
  }
};

/// Adds f, a function of one lane, under the spellings of a pattern.
template <class F>
void add_each(FormTable& table, const char* pattern, Class kind, F /*f*/) {
  add_lane_form(table, pattern, EachLane<F>::kOperands.text, &EachLane<F>::run, kind);
}

}  // namespace gauntlet::simt::SIMT_LANES
