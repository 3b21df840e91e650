// SPDX-License-Identifier: Apache-2.0
#include "tests/simt/instructions.h"

#include <bit>
#include <cmath>
#include <iterator>
#include <set>

namespace gauntlet::simt {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

Operands::Operands(const std::string& text) {
  for (const char c : text) {
    if (c == '=') written = codes.size();
    if (c == 'H' || c == 'W' || c == 'D' || c == 'P') codes += c;
  }
}

std::size_t bytes_of(char code) {
  return code == 'H' ? 2 : code == 'W' ? 4 : 8;
}

bool computes(const std::string& opcode, const Form& form) {
  if (form.role != Role::plain) return false;
  static const std::set<std::string> kOthers{"bar",        "barrier",   "membar", "fence",
                                             "activemask", "nanosleep", "call",   "isspacep"};
  if (kOthers.contains(opcode.substr(0, opcode.find('.')))) return false;
  return opcode.find("cvta") == std::string::npos || (opcode.find(".shared") == std::string::npos &&
                                                      opcode.find(".local") == std::string::npos);
}

namespace {

u64 any_value(Rng& rng, char code, const std::string& opcode) {
  static const u64 kBorders[] = {0,
                                 1,
                                 2,
                                 0x7f,
                                 0x80,
                                 0xff,
                                 0x7fff,
                                 0x8000,
                                 0xffff,
                                 0x7fffffff,
                                 0x80000000,
                                 0xffffffff,
                                 0x7fffffffffffffff,
                                 0x8000000000000000,
                                 0xffffffffffffffff,
                                 31,
                                 32,
                                 33,
                                 63,
                                 64};
  static const double kReals[] = {
      0.0,          -0.0,   1,      -1,       0.5,         1.5,   2.5,          -2.5,
      0.1,          1e-3,   3e38,   -3e38,    1e-40,       65504, 65519.9,      65520,
      6e-8,         1e300,  5e-324, INFINITY, -INFINITY,   NAN,   2147483647.5, -2147483648.5,
      4294967295.5, 9.3e18, 1.9e19, 16777217, 0.49999997f, 100,   -87.5,        3.14159265};
  const int kind = int(rng.integer(0, 5));
  const bool is_float =
      opcode.find(".f") != std::string::npos || opcode.find("bf16") != std::string::npos;
  if (code == 'P') return rng() & 1;
  if (kind == 0) return kBorders[rng.integer(0, std::int64_t(std::size(kBorders)) - 1)];
  if (kind == 1) return rng() & 63;
  if (is_float && kind >= 3) {
    const double x = kind == 3 ? kReals[rng.integer(0, std::int64_t(std::size(kReals)) - 1)]
                               : rng.normal() * std::exp2(double(rng.integer(-12, 12)));
    if (code == 'D') return std::bit_cast<u64>(x);
    if (code == 'W') return std::bit_cast<u32>(float(x));
    return std::bit_cast<u32>(float(x)) >> 16;  // a bfloat, or some half
  }
  return rng();
}

}  // namespace

u64 drawn_value(Rng& rng, char code, const std::string& opcode) {
  const u64 drawn = any_value(rng, code, opcode);
  return code == 'P' || code == 'D' ? drawn : drawn & ((u64(1) << (8 * bytes_of(code))) - 1);
}

bool agrees(const Expected& wanted, std::size_t n, char code, u64 got) {
  const u64 kept =
      code == 'P' || bytes_of(code) == 8 ? ~u64(0) : (u64(1) << (8 * bytes_of(code))) - 1;
  if (wanted.tolerance == 0) return got == (wanted.results.at(n) & kept);
  const double x =
      code == 'D' ? std::bit_cast<double>(got) : double(std::bit_cast<float>(std::uint32_t(got)));
  const double y = code == 'D' ? wanted.near : double(float(wanted.near));
  if (std::isnan(y) || std::isinf(y) || std::isnan(x) || std::isinf(x))
    return std::isnan(y) ? std::isnan(x) : x == y;
  return std::fabs(x - wanted.near) <= wanted.tolerance * std::fabs(wanted.near) + 0x1p-149;
}

}  // namespace gauntlet::simt
