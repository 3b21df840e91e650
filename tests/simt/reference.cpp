// SPDX-License-Identifier: Apache-2.0
#include "tests/simt/reference.h"

#include <algorithm>
#include <bitset>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

namespace gauntlet::simt {
namespace {

using u64 = std::uint64_t;
using Wide = __int128;

std::vector<std::string> split(const std::string& opcode) {
  std::vector<std::string> parts;
  std::istringstream text(opcode);
  for (std::string part; std::getline(text, part, '.');) parts.push_back(part);
  return parts;
}

struct Kind {
  char letter = 0;  // s u b f, h for bf16
  int bits = 0;
  bool pair = false;
};

Kind kind_of(std::string name) {
  Kind kind;
  kind.pair = name.size() > 2 && name.ends_with("x2");
  if (kind.pair) name.resize(name.size() - 2);
  if (name == "bf16") return {'h', 16, kind.pair};
  if (name.size() < 2 || std::string("subf").find(name[0]) == std::string::npos) return {};
  for (const int bits : {8, 16, 32, 64})
    if (name.substr(1) == std::to_string(bits)) return {name[0], bits, kind.pair};
  return {};
}

u64 low_bits(u64 value, int bits) {
  return bits >= 64 ? value : value & ((u64(1) << bits) - 1);
}
Wide integer(u64 value, Kind kind) {
  value = low_bits(value, kind.bits);
  const bool negative = kind.letter == 's' && (value >> (kind.bits - 1) & 1) != 0;
  return negative ? Wide(value) - (Wide(1) << kind.bits) : Wide(value);
}

struct Layout {
  int fraction, least;  // bits of the fraction; exponent of the smallest normal number
};
Layout layout_of(Kind kind) {
  if (kind.letter == 'h') return {7, -126};
  return kind.bits == 16 ? Layout{10, -14} : kind.bits == 32 ? Layout{23, -126} : Layout{52, -1022};
}

double real(u64 value, Kind kind) {
  const Layout layout = layout_of(kind);
  const int exponent_bits = kind.bits - 1 - layout.fraction;
  const u64 fraction = low_bits(value, layout.fraction);
  const u64 exponent = low_bits(value >> layout.fraction, exponent_bits);
  const double sign = (value >> (kind.bits - 1) & 1) != 0 ? -1 : 1;
  if (exponent == (u64(1) << exponent_bits) - 1)
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  const double one = std::ldexp(1.0, layout.fraction);
  return exponent == 0 ? sign * std::ldexp(double(fraction), layout.least - layout.fraction)
                       : sign * std::ldexp(one + double(fraction),
                                           layout.least - layout.fraction + int(exponent) - 1);
}

/// 'n' nearest and even, 'z' to zero, 'm' down, 'p' up.
long double rounded(long double x, char how) {
  switch (how) {
    case 'z':
      return std::trunc(x);
    case 'm':
      return std::floor(x);
    case 'p':
      return std::ceil(x);
    default:
      return std::nearbyint(x);
  }
}

u64 bits_of(long double x, Kind kind, char how = 'n') {
  const Layout layout = layout_of(kind);
  const u64 sign = std::signbit(x) ? u64(1) << (kind.bits - 1) : 0;
  const int exponent_bits = kind.bits - 1 - layout.fraction;
  const u64 infinity = ((u64(1) << exponent_bits) - 1) << layout.fraction;
  if (std::isnan(x)) return low_bits(~u64(0), kind.bits - 1);
  if (std::isinf(x)) return sign | infinity;
  if (x == 0) return sign;
  int exponent = 0;
  std::frexp(std::fabs(x), &exponent);  // in [1/2, 1) * 2^exponent
  exponent = std::max(exponent - 1, layout.least);
  const long double unit = std::ldexp(1.0L, exponent - layout.fraction);
  const long double units = std::fabs(rounded(x / unit, how));  // exact: a power of two
  // A carry into the next power of two is one more in the exponent's field.
  const u64 below = u64(exponent - layout.least) << layout.fraction;
  const u64 all = below + u64(units);
  if (all >= infinity) {
    const bool inward = how == 'z' || (how == 'm' && sign == 0) || (how == 'p' && sign != 0);
    return sign | (inward ? infinity - 1 : infinity);
  }
  return sign | all;
}

std::optional<bool> compared(const std::string& how, double a, double b) {
  const bool unordered = std::isnan(a) || std::isnan(b);
  if (how == "num") return !unordered;
  if (how == "nan") return unordered;
  const bool or_unordered = how.size() == 3 && how[2] == 'u';
  const std::string plain = how.substr(0, 2);
  if (unordered) return or_unordered;
  if (plain == "eq") return a == b;
  if (plain == "ne") return a != b;
  if (plain == "lt") return a < b;
  if (plain == "le") return a <= b;
  if (plain == "gt") return a > b;
  if (plain == "ge") return a >= b;
  return std::nullopt;
}

std::optional<u64> integer_result(const std::vector<std::string>& parts, Kind kind,
                                  const std::vector<u64>& in) {
  const std::string& base = parts[0];
  const auto at = [&](std::size_t n) { return integer(in.at(n), kind); };
  const Wide ones = (Wide(1) << kind.bits) - 1;
  const Wide amount = in.size() > 1 ? Wide(low_bits(in[1], 32)) : 0;
  if (base == "add") return u64(at(0) + at(1));
  if (base == "sub") return u64(at(0) - at(1));
  if (base == "mul" && parts[1] == "lo") return u64(at(0) * at(1));
  if (base == "mul" && parts[1] == "hi") return u64((at(0) * at(1)) >> kind.bits);
  if (base == "mul" && parts[1] == "wide") return u64(at(0) * at(1));
  if (base == "mad" && parts[1] == "lo") return u64(at(0) * at(1)) + in[2];
  if (base == "mad" && parts[1] == "hi") return u64((at(0) * at(1)) >> kind.bits) + in[2];
  if (base == "mad" && parts[1] == "wide") return u64(at(0) * at(1)) + in[2];
  if (base == "div") return at(1) == 0 ? u64(ones) : u64(at(0) / at(1));
  if (base == "rem") return at(1) == 0 ? u64(ones) : u64(at(0) % at(1));
  if (base == "min") return u64(std::min(at(0), at(1)));
  if (base == "max") return u64(std::max(at(0), at(1)));
  if (base == "neg") return u64(-at(0));
  if (base == "abs") return u64(at(0) < 0 ? -at(0) : at(0));
  if (base == "and") return in[0] & in[1];
  if (base == "or") return in[0] | in[1];
  if (base == "xor") return in[0] ^ in[1];
  if (base == "not") return ~in[0];
  if (base == "shl") return amount >= kind.bits ? 0 : u64(at(0) << int(amount));
  if (base == "shr") return u64(at(0) >> int(std::min<Wide>(amount, kind.bits)));
  if (base == "popc") return std::bitset<64>(low_bits(in[0], kind.bits)).count();
  if (base == "sad") return u64(at(0) > at(1) ? at(0) - at(1) : at(1) - at(0)) + in[2];
  if (base == "clz" || base == "bfind") {
    int zeros = 0;
    while (zeros < kind.bits && (in[0] >> (kind.bits - 1 - zeros) & 1) == 0) ++zeros;
    return base == "clz" ? u64(zeros) : u64(kind.bits - 1 - zeros);
  }
  if (base == "brev") {
    u64 out = 0;
    for (int n = 0; n < kind.bits; ++n) out |= (in[0] >> n & 1) << (kind.bits - 1 - n);
    return out;
  }
  return std::nullopt;
}

/// Bit fields and bytes, bit by bit as PTX defines them.
std::optional<u64> field_result(const std::vector<std::string>& parts, Kind kind,
                                const std::vector<u64>& in) {
  const std::string& base = parts[0];
  const auto bit = [](u64 value, u64 n) { return n < 64 ? value >> n & 1 : 0; };
  u64 out = 0;
  if (base == "bfe") {
    const u64 at = in[1] & 255, length = in[2] & 255;
    const u64 top = std::min<u64>(at + length - 1, u64(kind.bits) - 1);
    const u64 sign = kind.letter == 'u' || length == 0 ? 0 : bit(in[0], top);
    for (u64 n = 0; n < u64(kind.bits); ++n)
      out |= (n < length && at + n < u64(kind.bits) ? bit(in[0], at + n) : sign) << n;
    return out;
  }
  if (base == "bfi") {
    const u64 at = in[2] & 255, length = in[3] & 255;
    out = in[1];
    for (u64 n = 0; n < length && at + n < u64(kind.bits); ++n)
      out = (out & ~(u64(1) << (at + n))) | bit(in[0], n) << (at + n);
    return out;
  }
  if (base == "prmt") {
    for (u64 n = 0; n < 4; ++n) {
      const u64 pick = in[2] >> (4 * n);
      const u64 from = (pick & 7) < 4 ? in[0] >> (8 * (pick & 7)) : in[1] >> (8 * (pick & 7) - 32);
      const u64 byte = from & 255;
      out |= ((pick & 8) == 0 ? byte : byte >= 128 ? 255 : 0) << (8 * n);
    }
    return out;
  }
  if (base == "lop3") {
    for (u64 n = 0; n < 32; ++n)
      out |= bit(in[3] & 255, bit(in[0], n) * 4 + bit(in[1], n) * 2 + bit(in[2], n)) << n;
    return out;
  }
  if (base == "shf") {
    const u64 by = parts[2] == "wrap" ? in[2] % 32 : std::min<u64>(in[2], 32);
    for (u64 n = 0; n < 32; ++n) {
      const u64 from = parts[1] == "l" ? n + 32 - by : n + by;
      out |= (from < 32 ? bit(in[0], from) : bit(in[1], from - 32)) << n;
    }
    return out;
  }
  if (base == "dp4a") {
    Wide sum = integer(in[2], {'u', 32, false});
    for (int n = 0; n < 32; n += 8)
      sum += integer(in[0] >> n, {kind.letter, 8, false}) *
             integer(in[1] >> n, {kind.letter, 8, false});
    return u64(sum);
  }
  return std::nullopt;
}

std::optional<u64> float_result(const std::vector<std::string>& parts, Kind kind,
                                const std::vector<u64>& in) {
  const std::string& base = parts[0];
  const auto at = [&](std::size_t n) { return real(in.at(n), kind); };
  const u64 sign = u64(1) << (kind.bits - 1);
  const bool saturates = std::find(parts.begin(), parts.end(), "sat") != parts.end();
  const bool keeps_nan = std::find(parts.begin(), parts.end(), "NaN") != parts.end();
  const auto made = [&](long double x) {
    if (saturates) return bits_of(x > 0 ? std::min(x, 1.0L) : 0.0L, kind);
    return bits_of(x, kind);
  };
  if (base == "abs") return in[0] & ~sign;
  if (base == "neg") return in[0] ^ sign;
  if (base == "copysign") return (in[1] & ~sign) | (in[0] & sign);
  if (base == "testp") return parts[1] == "infinite" ? std::isinf(at(0)) : std::isnan(at(0));
  // Sums of two doubles need their own rounding: they do not fit a long double.
  if (kind.bits == 64) {
    if (base == "add") return made(at(0) + at(1));
    if (base == "sub") return made(at(0) - at(1));
    if (base == "mul") return made(at(0) * at(1));
    if (base == "fma") return made(std::fma(at(0), at(1), at(2)));
    if (base == "div") return made(at(0) / at(1));
    if (base == "rcp") return made(1.0 / at(0));
    if (base == "sqrt") return made(std::sqrt(at(0)));
  }
  if (base == "add") return made(at(0) + at(1));
  if (base == "sub") return made(at(0) - at(1));
  if (base == "mul") return made(at(0) * at(1));
  if (base == "fma" && kind.bits == 32)
    return made(std::fma(float(at(0)), float(at(1)), float(at(2))));
  if (base == "fma") {
    // Where the sum is rounded, it is moved to the side of the true one, so that no tie is left.
    const long double product = (long double)at(0) * at(1), third = at(2);
    const long double sum = product + third, part = sum - product;
    const long double rest = (product - (sum - part)) + (third - part);
    const long double far = rest < 0 ? -INFINITY : INFINITY;
    return made(rest < 0 || rest > 0 ? std::nextafter(sum, far) : sum);
  }
  if (base == "div") return made(at(0) / at(1));
  if (base == "rcp") return made(1.0 / at(0));
  if (base == "sqrt") return made(std::sqrt(at(0)));
  if (base == "min" || base == "max") {
    if (keeps_nan && (std::isnan(at(0)) || std::isnan(at(1)))) return made(std::nan(""));
    if (at(0) == 0 && at(1) == 0)
      return base == "min" ? (in[0] | in[1]) & sign : (in[0] & in[1]) & sign;
    return made(base == "min" ? std::fmin(at(0), at(1)) : std::fmax(at(0), at(1)));
  }
  return std::nullopt;
}

std::optional<Expected> approximation(const std::vector<std::string>& parts, Kind kind,
                                      const std::vector<u64>& in) {
  const bool flushes = std::find(parts.begin(), parts.end(), "ftz") != parts.end();
  const auto flushed = [&](double x) {
    return flushes && std::fabs(x) < 0x1p-126 ? std::copysign(0.0, x) : x;
  };
  const double x = flushed(real(in[0], kind));
  const std::string& base = parts[0];
  const auto near = [&](double y, double tolerance) { return Expected{{}, flushed(y), tolerance}; };
  const double ulp = kind.bits == 64 ? 0x1p-52 : 0x1p-23;
  if (base == "ex2") return near(std::exp2(x), 2 * ulp);
  if (base == "lg2") return near(std::log2(x), 2 * ulp);
  if (base == "rcp") return near(1 / x, ulp);
  if (base == "sqrt") return near(std::sqrt(x), ulp);
  if (base == "rsqrt") return near(1 / std::sqrt(x), ulp);
  if (base == "tanh") return near(std::tanh(x), 8 * ulp);
  if (base == "div") {
    // PTX: by a finite divisor above 2^126, div.approx gives 0, or NaN where x is infinite.
    const double y = real(in[1], kind), size = std::fabs(y);
    const bool is_zero = parts[1] == "approx" && size > 0x1p126 && std::isfinite(size);
    return near(is_zero ? x * std::copysign(0.0, y) : x / y, ulp);
  }
  const bool known = std::fabs(x) < 0x1p30;
  // The sine of a float near a multiple of pi is as small as 2^-30, with an absolute error.
  if (base == "sin") return near(known ? std::sin(x) : std::nan(""), 4 * ulp);
  if (base == "cos") return near(known ? std::cos(x) : std::nan(""), 4 * ulp);
  return std::nullopt;
}

std::optional<u64> converted(const std::vector<std::string>& parts, const std::vector<u64>& in) {
  const Kind to = kind_of(parts[parts.size() - 2]);
  const Kind from = kind_of(parts.back());
  const char how = parts.size() > 3 ? parts[1][1] : 'n';
  const bool to_float = to.letter == 'f' || to.letter == 'h';
  const bool from_float = from.letter == 'f' || from.letter == 'h';
  if (to.pair)
    return bits_of(real(in[0], from), {to.letter, 16, false}) << 16 |
           bits_of(real(in[1], from), {to.letter, 16, false});
  if (!from_float && !to_float) {
    const Wide value = integer(in[0], from);
    return u64(integer(u64(value), to));  // kept in its register with its sign, or zeros
  }
  if (!from_float) return bits_of((long double)integer(in[0], from), to, how);
  const double x = real(in[0], from);
  if (parts[1] == "sat") return bits_of(x > 0 ? std::min(x, 1.0) : 0.0, to);
  if (to_float && parts.size() > 3 && parts[1].size() == 3) return bits_of(rounded(x, how), to);
  if (to_float) return bits_of(x, to, how);
  const Wide most = (Wide(1) << (to.bits - (to.letter == 's' ? 1 : 0))) - 1;
  const Wide least = to.letter == 's' ? -most - 1 : 0;
  if (std::isnan(x)) return to.bits == 64 || from.bits == 64 ? u64(1) << (to.bits - 1) : 0;
  const long double whole = rounded(x, how);
  return u64(whole >= (long double)most ? most : whole <= (long double)least ? least : Wide(whole));
}

}  // namespace

std::optional<Expected> expected(const std::string& opcode, const std::string& operands,
                                 const std::vector<u64>& in) {
  const std::vector<std::string> parts = split(opcode);
  const std::string& base = parts[0];
  const Kind kind = kind_of(parts.back());
  const auto exactly = [](std::optional<u64> value) -> std::optional<Expected> {
    if (!value) return std::nullopt;
    return Expected{{*value}, 0, 0};
  };
  if (base == "mov" && operands.find('{') != std::string::npos) {
    const bool packs = operands[0] != '{';
    const int parts_bits = operands.find("HH") != std::string::npos ? 16 : 32;
    if (packs) {
      u64 whole = 0;
      for (std::size_t n = 0; n < in.size(); ++n)
        whole |= low_bits(in[n], parts_bits) << (n * std::size_t(parts_bits));
      return exactly(whole);
    }
    Expected made;
    for (int n = 0; n < kind.bits; n += parts_bits)
      made.results.push_back(low_bits(in[0] >> n, parts_bits));
    return made;
  }
  if (base == "mov" || base == "cvta") return exactly(in[0]);
  if (base == "selp") return exactly(in[2] != 0 ? in[0] : in[1]);
  if (parts.back() == "pred") {
    if (base == "and") return exactly(in[0] & in[1]);
    if (base == "or") return exactly(in[0] | in[1]);
    if (base == "xor") return exactly(in[0] ^ in[1]);
    if (base == "not") return exactly(in[0] ^ 1);
    return std::nullopt;
  }
  if (base == "cvt") return exactly(converted(parts, in));
  const bool is_float = kind.letter == 'f' || kind.letter == 'h';
  if (base == "setp") {
    if (is_float) {
      const auto result = compared(parts[1], real(in[0], kind), real(in[1], kind));
      return result ? exactly(*result) : std::nullopt;
    }
    std::string how = parts[1];
    how = how == "lo" ? "lt" : how == "ls" ? "le" : how == "hi" ? "gt" : how == "hs" ? "ge" : how;
    const Wide a = integer(in[0], kind), b = integer(in[1], kind);
    return exactly(how == "eq"   ? a == b
                   : how == "ne" ? a != b
                   : how == "lt" ? a < b
                   : how == "le" ? a <= b
                   : how == "gt" ? a > b
                                 : a >= b);
  }
  if (!is_float) {
    const auto field = field_result(parts, kind, in);
    return exactly(field ? field : integer_result(parts, kind, in));
  }
  const bool approximate = std::find(parts.begin(), parts.end(), "approx") != parts.end() ||
                           std::find(parts.begin(), parts.end(), "full") != parts.end();
  if (approximate) return approximation(parts, kind, in);
  if (!kind.pair) return exactly(float_result(parts, kind, in));
  std::vector<u64> low, high;
  for (const u64 value : in) {
    low.push_back(value & 0xffff);
    high.push_back(value >> 16 & 0xffff);
  }
  const Kind one{kind.letter, 16, false};
  const auto a = float_result(parts, one, low), b = float_result(parts, one, high);
  return a && b ? exactly(*b << 16 | *a) : std::nullopt;
}

}  // namespace gauntlet::simt
