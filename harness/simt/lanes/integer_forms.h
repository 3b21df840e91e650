// SPDX-License-Identifier: Apache-2.0
namespace gauntlet::simt::SIMT_LANES {

template <class T>
inline T wide_high(T a, T b) {
  if constexpr (sizeof(T) == 8) {
    using W = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    return T((W(a) * W(b)) >> 64);
  } else {
    using W = std::conditional_t<std::is_signed_v<T>, s64, u64>;
    return T((W(a) * W(b)) >> (8 * sizeof(T)));
  }
}

/// What a GPU gives for a division by zero, and as its remainder, is all ones; the most negative
/// number by -1 is itself.
template <class T>
inline T quotient(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    using U = std::make_unsigned_t<T>;
    if (b == 0) return T(-1);
    return b == T(-1) ? T(U(0) - U(a)) : T(a / b);
  } else {
    return b == 0 ? T(~T(0)) : T(a / b);
  }
}
template <class T>
inline T remainder_of(T a, T b) {
  if (b == 0) return T(~T(0));
  if constexpr (std::is_signed_v<T>)
    if (b == T(-1)) return 0;
  return T(a % b);
}

/// Forms that exist for 16, 32 and 64 bits, signed S and unsigned U; b, s, u are their suffixes.
template <class S, class U>
void add_sized_integers(FormTable& t, const char* const (&add)[14]) {
  const Class k = Class::integer;
  add_each(t, add[0], k, [](U a, U b) { return U(a + b); });
  add_each(t, add[1], k, [](U a, U b) { return U(a - b); });
  add_each(t, add[2], k, [](U a, U b) { return U(u64(a) * u64(b)); });
  add_each(t, add[3], k, [](S a, S b) { return wide_high(a, b); });
  add_each(t, add[4], k, [](U a, U b) { return wide_high(a, b); });
  add_each(t, add[5], k, [](S a, S b) { return quotient(a, b); });
  add_each(t, add[6], k, [](U a, U b) { return quotient(a, b); });
  add_each(t, add[7], k, [](S a, S b) { return remainder_of(a, b); });
  add_each(t, add[8], k, [](U a, U b) { return remainder_of(a, b); });
  add_each(t, add[9], k, [](S a, S b) { return a < b ? a : b; });
  add_each(t, add[10], k, [](U a, U b) { return a < b ? a : b; });
  add_each(t, add[11], k, [](S a, S b) { return a > b ? a : b; });
  add_each(t, add[12], k, [](U a, U b) { return a > b ? a : b; });
  add_each(t, add[13], k, [](U a, U b, U c) { return U(u64(a) * u64(b) + u64(c)); });
}

template <class S, class U>
void add_bits(FormTable& t, const char* const (&add)[9]) {
  const Class k = Class::integer;
  constexpr u32 kBits = 8 * sizeof(U);
  add_each(t, add[0], k, [](U a, U b) { return U(a & b); });
  add_each(t, add[1], k, [](U a, U b) { return U(a | b); });
  add_each(t, add[2], k, [](U a, U b) { return U(a ^ b); });
  add_each(t, add[3], k, [](U a) { return U(~a); });
  add_each(t, add[4], k, [](U a, u32 n) { return U(n < kBits ? u64(a) << (n & 63) : 0); });
  add_each(t, add[5], k, [](U a, u32 n) { return U(n < kBits ? u64(a) >> (n & 63) : 0); });
  add_each(t, add[6], k, [](S a, u32 n) { return S(s64(a) >> (n < kBits ? n : kBits - 1)); });
  add_each(t, add[7], k, [](S a) { return S(U(0) - U(a)); });
  add_each(t, add[8], k, [](S a) { return S(a < 0 ? U(0) - U(a) : U(a)); });
}

template <class S, class U>
void add_integer_tests(FormTable& t, const char* const (&add)[10]) {
  const Class k = Class::integer;
  add_each(t, add[0], k, [](U a, U b) { return a == b; });
  add_each(t, add[1], k, [](U a, U b) { return a != b; });
  add_each(t, add[2], k, [](S a, S b) { return a < b; });
  add_each(t, add[3], k, [](S a, S b) { return a <= b; });
  add_each(t, add[4], k, [](S a, S b) { return a > b; });
  add_each(t, add[5], k, [](S a, S b) { return a >= b; });
  add_each(t, add[6], k, [](U a, U b) { return a < b; });
  add_each(t, add[7], k, [](U a, U b) { return a <= b; });
  add_each(t, add[8], k, [](U a, U b) { return a > b; });
  add_each(t, add[9], k, [](U a, U b) { return a >= b; });
}

inline u32 shifted(u32 low, u32 high, u32 n, bool left) {
  const u64 both = (u64(high) << 32) | low;
  return left ? u32((both << n) >> 32) : u32(both >> n);
}

inline u32 permuted(u32 a, u32 b, u32 selector) {
  const u64 bytes = (u64(b) << 32) | a;
  u32 out = 0;
  for (u32 n = 0; n < 4; ++n) {
    const u32 pick = selector >> (4 * n);
    const u32 byte = u32(bytes >> (8 * (pick & 7))) & 255u;
    const u32 sign = (byte & 128u) != 0 ? 255u : 0u;
    out |= ((pick & 8u) != 0 ? sign : byte) << (8 * n);
  }
  return out;
}

template <class T>
inline u32 dot4(T a, T b, u32 c) {
  for (u32 n = 0; n < 32; n += 8) {
    using Byte = std::conditional_t<std::is_signed_v<T>, s8, u8>;
    c += u32(s32(Byte(u32(a) >> n)) * s32(Byte(u32(b) >> n)));
  }
  return c;
}

/// Bits at..at + length - 1; beyond the top are zeros, or the sign.
template <class T>
inline T extracted(T a, u32 at, u32 length) {
  constexpr u32 kBits = 8 * sizeof(T);
  using U = std::make_unsigned_t<T>;
  at &= 255;
  length &= 255;
  const u32 top = at + length < kBits ? at + length - 1 : kBits - 1;
  const bool sign = std::is_signed_v<T> && length > 0 && ((U(a) >> (top & (kBits - 1))) & 1) != 0;
  const U moved = at < kBits ? U(U(a) >> at) : U(0);
  const u32 kept = at < kBits ? (length < kBits - at ? length : kBits - at) : 0;
  const U low = kept >= kBits ? U(~U(0)) : U((U(1) << kept) - 1);
  return T((moved & low) | (sign ? U(~low) : U(0)));
}
template <class U>
inline U inserted(U a, U into, u32 at, u32 length) {
  constexpr u32 kBits = 8 * sizeof(U);
  at &= 255;
  length &= 255;
  if (at >= kBits || length == 0) return into;
  const U low = length >= kBits ? U(~U(0)) : U((U(1) << length) - 1);
  return U((into & ~(low << at)) | ((a & low) << at));
}

inline void add_other_integers(FormTable& t) {
  const Class k = Class::integer;
  add_each(t, "mul.wide.u16", k, [](u16 a, u16 b) { return u32(a) * u32(b); });
  add_each(t, "mul.wide.s16", k, [](s16 a, s16 b) { return s32(a) * s32(b); });
  add_each(t, "mul.wide.u32", k, [](u32 a, u32 b) { return u64(a) * u64(b); });
  add_each(t, "mul.wide.s32", k, [](s32 a, s32 b) { return s64(a) * s64(b); });
  add_each(t, "mad.wide.u16", k, [](u16 a, u16 b, u32 c) { return u32(a) * u32(b) + c; });
  add_each(t, "mad.wide.s16", k, [](s16 a, s16 b, u32 c) { return u32(s32(a) * s32(b)) + c; });
  add_each(t, "mad.wide.u32", k, [](u32 a, u32 b, u64 c) { return u64(a) * u64(b) + c; });
  add_each(t, "mad.wide.s32", k, [](s32 a, s32 b, u64 c) { return u64(s64(a) * s64(b)) + c; });
  add_each(t, "mad.hi.u32", k, [](u32 a, u32 b, u32 c) { return wide_high(a, b) + c; });
  add_each(t, "mad.hi.s32", k, [](s32 a, s32 b, u32 c) { return u32(wide_high(a, b)) + c; });
  add_each(t, "popc.b32", k, [](u32 a) { return u32(__builtin_popcount(a)); });
  add_each(t, "popc.b64", k, [](u64 a) { return u32(__builtin_popcountll(a)); });
  add_each(t, "clz.b32", k, [](u32 a) { return a == 0 ? 32u : u32(__builtin_clz(a)); });
  add_each(t, "clz.b64", k, [](u64 a) { return a == 0 ? 64u : u32(__builtin_clzll(a)); });
  add_each(t, "bfind.u32", k, [](u32 a) { return a == 0 ? ~0u : 31u - u32(__builtin_clz(a)); });
  add_each(t, "brev.b32", k, [](u32 a) {
    a = ((a >> 1) & 0x55555555u) | ((a & 0x55555555u) << 1);
    a = ((a >> 2) & 0x33333333u) | ((a & 0x33333333u) << 2);
    a = ((a >> 4) & 0x0f0f0f0fu) | ((a & 0x0f0f0f0fu) << 4);
    return __builtin_bswap32(a);
  });
  add_each(t, "brev.b64", k, [](u64 a) {
    a = ((a >> 1) & 0x5555555555555555u) | ((a & 0x5555555555555555u) << 1);
    a = ((a >> 2) & 0x3333333333333333u) | ((a & 0x3333333333333333u) << 2);
    a = ((a >> 4) & 0x0f0f0f0f0f0f0f0fu) | ((a & 0x0f0f0f0f0f0f0f0fu) << 4);
    return u64(__builtin_bswap64(a));
  });
  add_each(t, "bfe.u32", k, [](u32 a, u32 at, u32 n) { return extracted(a, at, n); });
  add_each(t, "bfe.s32", k, [](s32 a, u32 at, u32 n) { return extracted(a, at, n); });
  add_each(t, "bfe.u64", k, [](u64 a, u32 at, u32 n) { return extracted(a, at, n); });
  add_each(t, "bfe.s64", k, [](s64 a, u32 at, u32 n) { return extracted(a, at, n); });
  add_each(t, "bfi.b32", k, [](u32 a, u32 b, u32 at, u32 n) { return inserted(a, b, at, n); });
  add_each(t, "bfi.b64", k, [](u64 a, u64 b, u32 at, u32 n) { return inserted(a, b, at, n); });
  add_each(t, "prmt.b32", k, [](u32 a, u32 b, u32 s) { return permuted(a, b, s); });
  add_each(t, "lop3.b32", k, [](u32 a, u32 b, u32 c, u32 table) {
    u32 out = 0;
    for (u32 n = 0; n < 8; ++n)
      out |= (table >> n & 1u) != 0
                 ? ((n & 4) != 0 ? a : ~a) & ((n & 2) != 0 ? b : ~b) & ((n & 1) != 0 ? c : ~c)
                 : 0u;
    return out;
  });
  add_each(t, "shf.l.wrap.b32", k, [](u32 a, u32 b, u32 n) { return shifted(a, b, n & 31, true); });
  add_each(t, "shf.r.wrap.b32", k,
           [](u32 a, u32 b, u32 n) { return shifted(a, b, n & 31, false); });
  add_each(t, "shf.l.clamp.b32", k,
           [](u32 a, u32 b, u32 n) { return shifted(a, b, n < 32 ? n : 32, true); });
  add_each(t, "shf.r.clamp.b32", k,
           [](u32 a, u32 b, u32 n) { return shifted(a, b, n < 32 ? n : 32, false); });
  add_each(t, "dp4a.s32.s32", k, [](s32 a, s32 b, u32 c) { return dot4(a, b, c); });
  add_each(t, "dp4a.u32.u32", k, [](u32 a, u32 b, u32 c) { return dot4(a, b, c); });
  add_each(t, "sad.u32", k, [](u32 a, u32 b, u32 c) { return (a > b ? a - b : b - a) + c; });
  add_each(t, "sad.s32", k,
           [](s32 a, s32 b, u32 c) { return (a > b ? u32(a) - u32(b) : u32(b) - u32(a)) + c; });
}

inline void add_integer_forms(FormTable& t) {
#define SIMT_SIZED(n)         \
  {"add{.s" n ",.u" n "}",    \
   "sub{.s" n ",.u" n "}",    \
   "mul.lo{.s" n ",.u" n "}", \
   "mul.hi.s" n,              \
   "mul.hi.u" n,              \
   "div.s" n,                 \
   "div.u" n,                 \
   "rem.s" n,                 \
   "rem.u" n,                 \
   "min.s" n,                 \
   "min.u" n,                 \
   "max.s" n,                 \
   "max.u" n,                 \
   "mad.lo{.s" n ",.u" n "}"}
  add_sized_integers<s16, u16>(t, SIMT_SIZED("16"));
  add_sized_integers<s32, u32>(t, SIMT_SIZED("32"));
  add_sized_integers<s64, u64>(t, SIMT_SIZED("64"));
#undef SIMT_SIZED
#define SIMT_BITS(n)                                                              \
  {"and.b" n, "or.b" n,  "xor.b" n, "not.b" n, "shl.b" n, "shr{.u" n ",.b" n "}", \
   "shr.s" n, "neg.s" n, "abs.s" n}
  add_bits<s16, u16>(t, SIMT_BITS("16"));
  add_bits<s32, u32>(t, SIMT_BITS("32"));
  add_bits<s64, u64>(t, SIMT_BITS("64"));
#undef SIMT_BITS
#define SIMT_TESTS(n)                  \
  {"setp.eq{.b" n ",.s" n ",.u" n "}", \
   "setp.ne{.b" n ",.s" n ",.u" n "}", \
   "setp.lt.s" n,                      \
   "setp.le.s" n,                      \
   "setp.gt.s" n,                      \
   "setp.ge.s" n,                      \
   "setp{.lt,.lo}.u" n,                \
   "setp{.le,.ls}.u" n,                \
   "setp{.gt,.hi}.u" n,                \
   "setp{.ge,.hs}.u" n}
  add_integer_tests<s16, u16>(t, SIMT_TESTS("16"));
  add_integer_tests<s32, u32>(t, SIMT_TESTS("32"));
  add_integer_tests<s64, u64>(t, SIMT_TESTS("64"));
#undef SIMT_TESTS
  add_other_integers(t);
}

}  // namespace gauntlet::simt::SIMT_LANES
