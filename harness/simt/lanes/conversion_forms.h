// SPDX-License-Identifier: Apache-2.0
namespace gauntlet::simt::SIMT_LANES {

enum class Rounding { near, zero, down, up };

inline double whole(double x, Rounding how) {
  const double size = x < 0 ? -x : x;
  const double big = 4503599627370496.0;  // 2^52
  const double near_size = (size + big) - big;
  const double near = size < big ? (x < 0 ? -near_size : near_size) : x;
  double out = near;
  if (how == Rounding::down) out = near > x ? near - 1 : near;
  if (how == Rounding::up) out = near < x ? near + 1 : near;
  if (how == Rounding::zero) {
    const double less = near_size > size ? near_size - 1 : near_size;
    out = size < big ? (x < 0 ? -less : less) : x;
  }
  // What rounds to zero keeps its sign.
  return out == 0 ? bits_of<double>(bits_of<u64>(x) & 0x8000000000000000ull) : out;
}

inline u16 whole_half(u16 x, Rounding how) {
  return single_to_half(float(whole(double(half_to_single(x)), how)));
}

/// Saturates; a NaN is 0, or the most negative (largest unsigned) number from or to 64 bits.
template <class I, class F>
inline I to_integer(F x, Rounding how) {
  constexpr bool kWide = sizeof(I) == 8;
  constexpr double kTop =
      kWide ? (std::is_signed_v<I> ? 9223372036854775808.0 : 18446744073709551616.0)
            : double(I(~I(0)) > 0 ? I(~I(0)) : I((u64(1) << (8 * sizeof(I) - 1)) - 1)) + 1;
  constexpr I kMost = std::is_signed_v<I> ? I((u64(1) << (8 * sizeof(I) - 1)) - 1) : I(~I(0));
  constexpr I kLeast = std::is_signed_v<I> ? I(u64(1) << (8 * sizeof(I) - 1)) : I(0);
  constexpr I kNan = kWide || sizeof(F) == 8 ? I(u64(1) << (8 * sizeof(I) - 1)) : I(0);
  const double y = whole(double(x), how);
  const double in = y >= kTop || y <= double(kLeast) || y != y ? 0.0 : y;
  return y != y ? kNan : y >= kTop ? kMost : y <= double(kLeast) ? kLeast : I(in);
}

/// A double as a float, rounded the way that is named.
inline float directed(double x, Rounding how) {
  const float near = float(x);
  const u32 bits = bits_of<u32>(near);
  const double back = near;
  const double size = x < 0 ? -x : x;
  const double back_size = back < 0 ? -back : back;
  const float inward = bits_of<float>(back_size > size ? bits - 1 : bits);
  const float outward = bits_of<float>(back_size < size ? bits + 1 : bits);
  const bool away = how == Rounding::up ? x > 0 : how == Rounding::down ? x < 0 : false;
  const bool keep = x != x || size == __builtin_inf() || how == Rounding::near;
  return one_nan(keep ? near : away ? outward : inward);
}

template <class I>
void add_to_integer(FormTable& t, const char* const (&from32)[4], const char* const (&from64)[4],
                    const char* const (&from16)[4]) {
  const Class k = Class::conversion;
  add_each(t, from32[0], k, [](float x) { return to_integer<I>(x, Rounding::near); });
  add_each(t, from32[1], k, [](float x) { return to_integer<I>(x, Rounding::zero); });
  add_each(t, from32[2], k, [](float x) { return to_integer<I>(x, Rounding::down); });
  add_each(t, from32[3], k, [](float x) { return to_integer<I>(x, Rounding::up); });
  add_each(t, from64[0], k, [](double x) { return to_integer<I>(x, Rounding::near); });
  add_each(t, from64[1], k, [](double x) { return to_integer<I>(x, Rounding::zero); });
  add_each(t, from64[2], k, [](double x) { return to_integer<I>(x, Rounding::down); });
  add_each(t, from64[3], k, [](double x) { return to_integer<I>(x, Rounding::up); });
  add_each(t, from16[0], k, [](u16 x) { return to_integer<I>(half_to_single(x), Rounding::near); });
  add_each(t, from16[1], k, [](u16 x) { return to_integer<I>(half_to_single(x), Rounding::zero); });
  add_each(t, from16[2], k, [](u16 x) { return to_integer<I>(half_to_single(x), Rounding::down); });
  add_each(t, from16[3], k, [](u16 x) { return to_integer<I>(half_to_single(x), Rounding::up); });
}

/// To float by the double, which holds 32 bits; to half and bfloat16 likewise.
template <class I>
void add_from_small_integer(FormTable& t, const char* const (&add)[4]) {
  const Class k = Class::conversion;
  add_each(t, add[0], k, [](I x) { return float(x); });
  add_each(t, add[1], k, [](I x) { return directed(double(x), Rounding::zero); });
  add_each(t, add[2], k, [](I x) { return double(x); });
  add_each(t, add[3], k, [](I x) { return double_to_half(double(x)); });
}

/// Between registers of integers: the value is taken as From, and kept as To in a register of R.
template <class R, class To, class From, class Source>
void add_resize(FormTable& t, const char* pattern) {
  add_each(t, pattern, Class::conversion, [](Source x) { return R(To(From(x))); });
}

inline void add_integer_conversions(FormTable& t) {
  add_resize<u16, u16, u8, u16>(t, "cvt{.u16,.s16}.u8");
  add_resize<u16, u16, s8, u16>(t, "cvt{.u16,.s16}.s8");
  add_resize<u32, u32, u8, u16>(t, "cvt{.u32,.s32}.u8");
  add_resize<u32, u32, s8, u16>(t, "cvt{.u32,.s32}.s8");
  add_resize<u64, u64, u8, u16>(t, "cvt{.u64,.s64}.u8");
  add_resize<u64, u64, s8, u16>(t, "cvt{.u64,.s64}.s8");
  add_resize<u32, u32, u8, u32>(t, "cvt{.u32,.s32}.u8");
  add_resize<u32, u32, s8, u32>(t, "cvt{.u32,.s32}.s8");
  add_resize<u64, u64, u8, u64>(t, "cvt{.u64,.s64}.u8");
  add_resize<u64, u64, s8, u64>(t, "cvt{.u64,.s64}.s8");
  add_resize<u16, u8, u16, u16>(t, "cvt.u8{.u16,.s16}");
  add_resize<u16, s8, u16, u16>(t, "cvt.s8{.u16,.s16}");
  add_resize<u16, u8, u32, u32>(t, "cvt.u8{.u32,.s32}");
  add_resize<u16, s8, u32, u32>(t, "cvt.s8{.u32,.s32}");
  add_resize<u16, u8, u64, u64>(t, "cvt.u8{.u64,.s64}");
  add_resize<u16, s8, u64, u64>(t, "cvt.s8{.u64,.s64}");
  add_resize<u32, u32, u16, u16>(t, "cvt{.u32,.s32}.u16");
  add_resize<u32, u32, s16, u16>(t, "cvt{.u32,.s32}.s16");
  add_resize<u64, u64, u16, u16>(t, "cvt{.u64,.s64}.u16");
  add_resize<u64, u64, s16, u16>(t, "cvt{.u64,.s64}.s16");
  add_resize<u32, u32, u16, u32>(t, "cvt{.u32,.s32}.u16");
  add_resize<u32, u32, s16, u32>(t, "cvt{.u32,.s32}.s16");
  add_resize<u64, u64, s16, u64>(t, "cvt{.u64,.s64}.s16");
  add_resize<u64, u64, s32, u64>(t, "cvt{.u64,.s64}.s32");
  add_resize<u16, u16, u32, u32>(t, "cvt{.u16,.s16}{.u32,.s32}");
  add_resize<u16, u16, u64, u64>(t, "cvt{.u16,.s16}{.u64,.s64}");
  add_resize<u64, u64, u32, u32>(t, "cvt{.u64,.s64}.u32");
  add_resize<u64, u64, s32, u32>(t, "cvt{.u64,.s64}.s32");
  add_resize<u32, u32, u64, u64>(t, "cvt{.u32,.s32}{.u64,.s64}");
}

inline void add_float_conversions(FormTable& t) {
  const Class k = Class::conversion;
  add_each(t, "cvt.f64.f32", k, [](float x) { return one_nan(double(x)); });
  add_each(t, "cvt.rn.f32.f64", k, [](double x) { return directed(x, Rounding::near); });
  add_each(t, "cvt.rz.f32.f64", k, [](double x) { return directed(x, Rounding::zero); });
  add_each(t, "cvt.rm.f32.f64", k, [](double x) { return directed(x, Rounding::down); });
  add_each(t, "cvt.rp.f32.f64", k, [](double x) { return directed(x, Rounding::up); });
  add_each(t, "cvt.sat.f32.f32", k, [](float x) { return saturated(x); });
  add_each(t, "cvt.rni.f32.f32", k,
           [](float x) { return one_nan(float(whole(x, Rounding::near))); });
  add_each(t, "cvt.rzi.f32.f32", k,
           [](float x) { return one_nan(float(whole(x, Rounding::zero))); });
  add_each(t, "cvt.rmi.f32.f32", k,
           [](float x) { return one_nan(float(whole(x, Rounding::down))); });
  add_each(t, "cvt.rpi.f32.f32", k, [](float x) { return one_nan(float(whole(x, Rounding::up))); });
  add_each(t, "cvt.rni.f64.f64", k, [](double x) { return one_nan(whole(x, Rounding::near)); });
  add_each(t, "cvt.rzi.f64.f64", k, [](double x) { return one_nan(whole(x, Rounding::zero)); });
  add_each(t, "cvt.rmi.f64.f64", k, [](double x) { return one_nan(whole(x, Rounding::down)); });
  add_each(t, "cvt.rpi.f64.f64", k, [](double x) { return one_nan(whole(x, Rounding::up)); });
  add_each(t, "cvt.f32.f16", k, [](u16 x) { return one_nan(half_to_single(x)); });
  add_each(t, "cvt.f64.f16", k, [](u16 x) { return one_nan(double(half_to_single(x))); });
  add_each(t, "cvt.f32.bf16", k, [](u16 x) { return one_nan(bfloat_to_single(x)); });
  add_each(t, "cvt.rn.f16.f32", k, [](float x) { return single_to_half(x); });
  add_each(t, "cvt.rn.f16.f64", k, [](double x) { return double_to_half(x); });
  add_each(t, "cvt.rn.bf16.f32", k, [](float x) { return single_to_bfloat(x); });
  add_each(t, "cvt.rn.f16x2.f32", k, [](float high, float low) {
    return u32(single_to_half(high)) << 16 | single_to_half(low);
  });
  add_each(t, "cvt.rn.bf16x2.f32", k, [](float high, float low) {
    return u32(single_to_bfloat(high)) << 16 | single_to_bfloat(low);
  });
  add_each(t, "cvt.rni.f16.f16", k, [](u16 x) { return whole_half(x, Rounding::near); });
  add_each(t, "cvt.rzi.f16.f16", k, [](u16 x) { return whole_half(x, Rounding::zero); });
  add_each(t, "cvt.rmi.f16.f16", k, [](u16 x) { return whole_half(x, Rounding::down); });
  add_each(t, "cvt.rpi.f16.f16", k, [](u16 x) { return whole_half(x, Rounding::up); });
}

inline void add_conversion_forms(FormTable& t) {
  add_integer_conversions(t);
  add_float_conversions(t);
#define SIMT_FROM(i, f) \
  {"cvt.rni." i "." f, "cvt.rzi." i "." f, "cvt.rmi." i "." f, "cvt.rpi." i "." f}
#define SIMT_ALL(i) SIMT_FROM(i, "f32"), SIMT_FROM(i, "f64"), SIMT_FROM(i, "f16")
  add_to_integer<s16>(t, SIMT_ALL("s16"));
  add_to_integer<u16>(t, SIMT_ALL("u16"));
  add_to_integer<s32>(t, SIMT_ALL("s32"));
  add_to_integer<u32>(t, SIMT_ALL("u32"));
  add_to_integer<s64>(t, SIMT_ALL("s64"));
  add_to_integer<u64>(t, SIMT_ALL("u64"));
#undef SIMT_ALL
#undef SIMT_FROM
#define SIMT_TO(i) {"cvt.rn.f32." i, "cvt.rz.f32." i, "cvt.rn.f64." i, "cvt.rn.f16." i}
  add_from_small_integer<s16>(t, SIMT_TO("s16"));
  add_from_small_integer<u16>(t, SIMT_TO("u16"));
  add_from_small_integer<s32>(t, SIMT_TO("s32"));
  add_from_small_integer<u32>(t, SIMT_TO("u32"));
#undef SIMT_TO
  const Class k = Class::conversion;
  add_each(t, "cvt.rn.f32.s64", k, [](s64 x) { return float(x); });
  add_each(t, "cvt.rn.f32.u64", k, [](u64 x) { return float(x); });
  add_each(t, "cvt.rn.f64.s64", k, [](s64 x) { return double(x); });
  add_each(t, "cvt.rn.f64.u64", k, [](u64 x) { return double(x); });
}

}  // namespace gauntlet::simt::SIMT_LANES
