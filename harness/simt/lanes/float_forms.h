// SPDX-License-Identifier: Apache-2.0
namespace gauntlet::simt::SIMT_LANES {

template <class T>
inline T root(T x) {
  if constexpr (sizeof(T) == 4)
    return __builtin_sqrtf(x);
  else
    return __builtin_sqrt(x);
}
template <class T>
inline T fused(T a, T b, T c) {
  if constexpr (sizeof(T) == 4)
    return __builtin_fmaf(a, b, c);
  else
    return __builtin_fma(a, b, c);
}
template <class T>
inline T saturated(T x) {
  return x > T(1) ? T(1) : x > T(0) ? x : T(0);  // NaN and -0 are 0
}

template <class T, class U>
void add_float_arithmetic(FormTable& t, Class k, const char* const (&add)[14]) {
  constexpr U kSign = U(1) << (8 * sizeof(U) - 1);
  add_each(t, add[0], k, [](T a, T b) { return one_nan(a + b); });
  add_each(t, add[1], k, [](T a, T b) { return one_nan(a - b); });
  add_each(t, add[2], k, [](T a, T b) { return one_nan(a * b); });
  add_each(t, add[3], k, [](T a, T b, T c) { return one_nan(fused(a, b, c)); });
  add_each(t, add[4], k, [](T a, T b) { return one_nan(a / b); });
  add_each(t, add[5], k, [](T a) { return one_nan(T(1) / a); });
  add_each(t, add[6], k, [](T a) { return one_nan(root(a)); });
  add_each(t, add[7], k, [](T a, T b) { return lesser(a, b, U()); });
  add_each(t, add[8], k, [](T a, T b) { return greater(a, b, U()); });
  add_each(t, add[9], k, [](U a) { return U(a & ~kSign); });
  add_each(t, add[10], k, [](U a) { return U(a ^ kSign); });
  add_each(t, add[11], k, [](U a, U b) { return U((b & ~kSign) | (a & kSign)); });
  add_each(t, add[12], k, [](T a) { return a == __builtin_inf() || a == -__builtin_inf(); });
  add_each(t, add[13], k, [](T a) { return a != a; });
}

/// Comparisons: eq ... are false for a NaN, equ ... true.
template <class T>
void add_float_tests(FormTable& t, Class k, const char* const (&add)[14]) {
  add_each(t, add[0], k, [](T a, T b) { return a == b; });
  add_each(t, add[1], k, [](T a, T b) { return a < b || a > b; });
  add_each(t, add[2], k, [](T a, T b) { return a < b; });
  add_each(t, add[3], k, [](T a, T b) { return a <= b; });
  add_each(t, add[4], k, [](T a, T b) { return a > b; });
  add_each(t, add[5], k, [](T a, T b) { return a >= b; });
  add_each(t, add[6], k, [](T a, T b) { return !(a < b || a > b); });
  add_each(t, add[7], k, [](T a, T b) { return a != b; });
  add_each(t, add[8], k, [](T a, T b) { return !(a >= b); });
  add_each(t, add[9], k, [](T a, T b) { return !(a > b); });
  add_each(t, add[10], k, [](T a, T b) { return !(a <= b); });
  add_each(t, add[11], k, [](T a, T b) { return !(a < b); });
  add_each(t, add[12], k, [](T a, T b) { return a == a && b == b; });
  add_each(t, add[13], k, [](T a, T b) { return a != a || b != b; });
}

inline void add_approximations(FormTable& t) {
  const Class k = Class::special;
  add_each(t, "ex2.approx.f32", k, [](float a) { return exp2_of(a); });
  add_each(t, "lg2.approx.f32", k, [](float a) { return log2_of(a); });
  add_each(t, "sin.approx.f32", k, [](float a) { return turned(a, 0.0); });
  add_each(t, "cos.approx.f32", k, [](float a) { return turned(a, 1.0); });
  add_each(t, "tanh.approx.f32", k, [](float a) { return tanh_of(a); });
  add_each(t, "rcp.approx.f32", k, [](float a) { return one_nan(1.0f / a); });
  add_each(t, "sqrt.approx.f32", k, [](float a) { return one_nan(__builtin_sqrtf(a)); });
  add_each(t, "rsqrt.approx.f32", k,
           [](float a) { return one_nan(float(1.0 / __builtin_sqrt(double(a)))); });
  add_each(t, "rsqrt.approx.f64", k, [](double a) { return one_nan(1.0 / __builtin_sqrt(a)); });
  add_each(t, "div.full.f32", k, [](float a, float b) { return one_nan(a / b); });
  add_each(t, "div.approx.f32", k, [](float a, float b) {
    // A product with 1/b, which is 0 where it would be subnormal.
    const float size = b < 0.0f ? -b : b;
    return one_nan(size > 0x1p126f ? a * (b < 0.0f ? -0.0f : 0.0f) : a / b);
  });
  // Inline PTX often asks for these with .ftz: what is subnormal counts and comes back as zero.
  add_each(t, "ex2.approx.ftz.f32", k, [](float a) { return flushed(exp2_of(flushed(a))); });
  add_each(t, "lg2.approx.ftz.f32", k, [](float a) { return flushed(log2_of(flushed(a))); });
  add_each(t, "sin.approx.ftz.f32", k, [](float a) { return flushed(turned(flushed(a), 0.0)); });
  add_each(t, "cos.approx.ftz.f32", k, [](float a) { return flushed(turned(flushed(a), 1.0)); });
  add_each(t, "rcp.approx.ftz.f32", k, [](float a) { return flushed(one_nan(1.0f / flushed(a))); });
  add_each(t, "rsqrt.approx.ftz.f32", k, [](float a) {
    return flushed(one_nan(float(1.0 / __builtin_sqrt(double(flushed(a))))));
  });
}

inline void add_float_forms(FormTable& t) {
#define SIMT_FLOAT(n, plain) \
  {"add{" plain ",.rn}.f" n, \
   "sub{" plain ",.rn}.f" n, \
   "mul{" plain ",.rn}.f" n, \
   "fma.rn.f" n,             \
   "div.rn.f" n,             \
   "rcp.rn.f" n,             \
   "sqrt.rn.f" n,            \
   "min.f" n,                \
   "max.f" n,                \
   "abs.f" n,                \
   "neg.f" n,                \
   "copysign.f" n,           \
   "testp.infinite.f" n,     \
   "testp.notanumber.f" n}
  add_float_arithmetic<float, u32>(t, Class::single, SIMT_FLOAT("32", ""));
  add_float_arithmetic<double, u64>(t, Class::real, SIMT_FLOAT("64", ""));
#undef SIMT_FLOAT
#define SIMT_TESTS(n)                                                              \
  {"setp.eq.f" n,  "setp.ne.f" n,  "setp.lt.f" n,  "setp.le.f" n,  "setp.gt.f" n,  \
   "setp.ge.f" n,  "setp.equ.f" n, "setp.neu.f" n, "setp.ltu.f" n, "setp.leu.f" n, \
   "setp.gtu.f" n, "setp.geu.f" n, "setp.num.f" n, "setp.nan.f" n}
  add_float_tests<float>(t, Class::single, SIMT_TESTS("32"));
  add_float_tests<double>(t, Class::real, SIMT_TESTS("64"));
#undef SIMT_TESTS
  const Class k = Class::single;
  add_each(t, "add.sat.f32", k, [](float a, float b) { return saturated(a + b); });
  add_each(t, "mul.sat.f32", k, [](float a, float b) { return saturated(a * b); });
  add_each(t, "fma.rn.sat.f32", k,
           [](float a, float b, float c) { return saturated(__builtin_fmaf(a, b, c)); });
  add_each(t, "min.NaN.f32", k, [](float a, float b) {
    return a != a || b != b ? bits_of<float>(0x7fffffffu) : lesser(a, b, u32());
  });
  add_each(t, "max.NaN.f32", k, [](float a, float b) {
    return a != a || b != b ? bits_of<float>(0x7fffffffu) : greater(a, b, u32());
  });
  add_approximations(t);
}

}  // namespace gauntlet::simt::SIMT_LANES
