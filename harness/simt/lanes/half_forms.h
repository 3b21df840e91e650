// SPDX-License-Identifier: Apache-2.0
// Half precision and bfloat16, alone and in pairs. Sums and products are made in single precision
// and rounded: 24 bits are enough for the second rounding to change nothing (2 * 11 + 2).
namespace gauntlet::simt::SIMT_LANES {

struct Half {
  static float single(u16 x) { return half_to_single(x); }
  static u16 near(float x) { return single_to_half(x); }
  static u16 fma(u16 a, u16 b, u16 c) { return half_fma(a, b, c); }
};
struct Bfloat {
  static float single(u16 x) { return bfloat_to_single(x); }
  static u16 near(float x) { return single_to_bfloat(x); }
  static u16 fma(u16 a, u16 b, u16 c) { return bfloat_fma(a, b, c); }
};

template <class F>
inline u32 both(u32 a, u32 b, F f) {
  return u32(f(u16(a), u16(b))) | u32(f(u16(a >> 16), u16(b >> 16))) << 16;
}

inline u16 sum(u16 a, u16 b) {
  return single_to_half(half_to_single(a) + half_to_single(b));
}
inline u16 difference(u16 a, u16 b) {
  return single_to_half(half_to_single(a) - half_to_single(b));
}
inline u16 product(u16 a, u16 b) {
  return single_to_half(half_to_single(a) * half_to_single(b));
}
template <class H>
inline u16 lesser_of(u16 a, u16 b) {
  return H::near(lesser(H::single(a), H::single(b), u32()));
}
template <class H>
inline u16 greater_of(u16 a, u16 b) {
  return H::near(greater(H::single(a), H::single(b), u32()));
}

/// Sums and products, which compute capability 8.0 has of halves and not of bfloats.
inline void add_half_arithmetic(FormTable& t) {
  const Class k = Class::half;
  add_each(t, "add{,.rn}.f16", k, [](u16 a, u16 b) { return sum(a, b); });
  add_each(t, "sub{,.rn}.f16", k, [](u16 a, u16 b) { return difference(a, b); });
  add_each(t, "mul{,.rn}.f16", k, [](u16 a, u16 b) { return product(a, b); });
  add_each(t, "add{,.rn}.f16x2", k, [](u32 a, u32 b) { return both(a, b, sum); });
  add_each(t, "sub{,.rn}.f16x2", k, [](u32 a, u32 b) { return both(a, b, difference); });
  add_each(t, "mul{,.rn}.f16x2", k, [](u32 a, u32 b) { return both(a, b, product); });
}

template <class H>
void add_small_floats(FormTable& t, const char* const (&one)[5], const char* const (&two)[5]) {
  const Class k = Class::half;
  add_each(t, one[0], k, [](u16 a, u16 b, u16 c) { return H::fma(a, b, c); });
  add_each(t, one[1], k, [](u16 a, u16 b) { return lesser_of<H>(a, b); });
  add_each(t, one[2], k, [](u16 a, u16 b) { return greater_of<H>(a, b); });
  add_each(t, one[3], k, [](u16 a) { return u16(a ^ 0x8000u); });
  add_each(t, one[4], k, [](u16 a) { return u16(a & 0x7fffu); });
  add_each(t, two[0], k, [](u32 a, u32 b, u32 c) {
    return u32(H::fma(u16(a), u16(b), u16(c))) |
           u32(H::fma(u16(a >> 16), u16(b >> 16), u16(c >> 16))) << 16;
  });
  add_each(t, two[1], k, [](u32 a, u32 b) { return both(a, b, lesser_of<H>); });
  add_each(t, two[2], k, [](u32 a, u32 b) { return both(a, b, greater_of<H>); });
  add_each(t, two[3], k, [](u32 a) { return a ^ 0x80008000u; });
  add_each(t, two[4], k, [](u32 a) { return a & 0x7fff7fffu; });
}

template <class H>
void add_small_float_tests(FormTable& t, const char* const (&add)[14]) {
  const Class k = Class::half;
  add_each(t, add[0], k, [](u16 a, u16 b) { return H::single(a) == H::single(b); });
  add_each(t, add[1], k,
           [](u16 a, u16 b) { return H::single(a) < H::single(b) || H::single(a) > H::single(b); });
  add_each(t, add[2], k, [](u16 a, u16 b) { return H::single(a) < H::single(b); });
  add_each(t, add[3], k, [](u16 a, u16 b) { return H::single(a) <= H::single(b); });
  add_each(t, add[4], k, [](u16 a, u16 b) { return H::single(a) > H::single(b); });
  add_each(t, add[5], k, [](u16 a, u16 b) { return H::single(a) >= H::single(b); });
  add_each(t, add[6], k, [](u16 a, u16 b) {
    return !(H::single(a) < H::single(b) || H::single(a) > H::single(b));
  });
  add_each(t, add[7], k, [](u16 a, u16 b) { return H::single(a) != H::single(b); });
  add_each(t, add[8], k, [](u16 a, u16 b) { return !(H::single(a) >= H::single(b)); });
  add_each(t, add[9], k, [](u16 a, u16 b) { return !(H::single(a) > H::single(b)); });
  add_each(t, add[10], k, [](u16 a, u16 b) { return !(H::single(a) <= H::single(b)); });
  add_each(t, add[11], k, [](u16 a, u16 b) { return !(H::single(a) < H::single(b)); });
  add_each(t, add[12], k, [](u16 a, u16 b) {
    return H::single(a) == H::single(a) && H::single(b) == H::single(b);
  });
  add_each(t, add[13], k, [](u16 a, u16 b) {
    return H::single(a) != H::single(a) || H::single(b) != H::single(b);
  });
}

inline void add_half_forms(FormTable& t) {
  add_half_arithmetic(t);
#define SIMT_SMALL(n) {"fma.rn." n, "min." n, "max." n, "neg." n, "abs." n}
  add_small_floats<Half>(t, SIMT_SMALL("f16"), SIMT_SMALL("f16x2"));
  add_small_floats<Bfloat>(t, SIMT_SMALL("bf16"), SIMT_SMALL("bf16x2"));
#undef SIMT_SMALL
#define SIMT_TESTS(n)                                                         \
  {"setp.eq." n,  "setp.ne." n,  "setp.lt." n,  "setp.le." n,  "setp.gt." n,  \
   "setp.ge." n,  "setp.equ." n, "setp.neu." n, "setp.ltu." n, "setp.leu." n, \
   "setp.gtu." n, "setp.geu." n, "setp.num." n, "setp.nan." n}
  add_small_float_tests<Half>(t, SIMT_TESTS("f16"));
#undef SIMT_TESTS
}

}  // namespace gauntlet::simt::SIMT_LANES
