// SPDX-License-Identifier: Apache-2.0
// Every form that computes in its lanes, against a reference that knows only its name; for every
// vector unit of this machine, with all lanes and with some.
#include <cmath>
#include <cstring>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <set>

#include "harness/core/rng.h"
#include "harness/simt/decode/form_table.h"
#include "tests/simt/reference.h"

using namespace gauntlet;
using namespace gauntlet::simt;

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr std::size_t kSlot = 256;  // room for any register

/// The registers of one instruction: "D=W,W" are three; those before '=' are written.
struct Operands {
  std::string codes;
  std::size_t written = 0;

  explicit Operands(const std::string& text) {
    for (const char c : text) {
      if (c == '=') written = codes.size();
      if (c == 'H' || c == 'W' || c == 'D' || c == 'P') codes += c;
    }
  }
};

std::size_t bytes_of(char code) {
  return code == 'H' ? 2 : code == 'W' ? 4 : 8;
}

/// Whether a form is one of lanes: nothing but registers, and its effect is on them alone.
bool computes(const std::string& opcode, const Form& form) {
  if (form.role != Role::plain) return false;
  static const std::set<std::string> kOthers{"bar",        "barrier",   "membar", "fence",
                                             "activemask", "nanosleep", "call",   "isspacep"};
  if (kOthers.contains(opcode.substr(0, opcode.find('.')))) return false;
  return opcode.find("cvta") == std::string::npos || (opcode.find(".shared") == std::string::npos &&
                                                      opcode.find(".local") == std::string::npos);
}

class Bench {
 public:
  explicit Bench(Rng& rng) : rng_(rng) {}

  /// Random bits, and the numbers at the borders.
  u64 value(char code, const std::string& opcode) {
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
    const int kind = int(rng_.integer(0, 5));
    const bool is_float =
        opcode.find(".f") != std::string::npos || opcode.find("bf16") != std::string::npos;
    if (code == 'P') return rng_() & 1;
    if (kind == 0) return kBorders[rng_.integer(0, std::int64_t(std::size(kBorders)) - 1)];
    if (kind == 1) return rng_() & 63;
    if (is_float && kind >= 3) {
      const double x = kind == 3 ? kReals[rng_.integer(0, std::int64_t(std::size(kReals)) - 1)]
                                 : rng_.normal() * std::exp2(double(rng_.integer(-12, 12)));
      if (code == 'D') return std::bit_cast<u64>(x);
      if (code == 'W') return std::bit_cast<u32>(float(x));
      return std::bit_cast<u32>(float(x)) >> 16;  // a bfloat, or some half
    }
    return rng_();
  }

  /// Runs one form on drawn values; complains about the first lane that is wrong.
  std::string fault(const std::string& opcode, const Form& form) {
    const Operands operands(form.operands);
    std::vector<std::byte> slots(kSlot * (operands.codes.size() + 1) + 64);
    Frame frame{slots.data() + 64 - reinterpret_cast<std::uintptr_t>(slots.data()) % 64};
    Instr instr;
    std::vector<std::vector<u64>> in(kLanes);
    for (std::size_t n = 0; n < operands.codes.size(); ++n) {
      instr.slots[n] = u32(n * kSlot);
      for (u32 lane = 0; lane < kLanes; ++lane) {
        const char code = operands.codes[n];
        u64 drawn = value(code, opcode);
        if (code != 'P' && bytes_of(code) < 8) drawn &= (u64(1) << (8 * bytes_of(code))) - 1;
        write(frame, n, code, lane, drawn);
        if (n >= operands.written) in[lane].push_back(drawn);
      }
    }
    const std::vector<std::byte> before(frame.slots, frame.slots + kSlot * operands.codes.size());
    const u32 mask = rng_.chance(0.5) ? kAllLanes : u32(rng_()) | 1;
    form.run(frame, instr, mask);
    for (u32 lane = 0; lane < kLanes; ++lane) {
      const auto wanted = expected(opcode, form.operands, in[lane]);
      if (!wanted) return "the reference does not know it";
      for (std::size_t n = 0; n < operands.written; ++n) {
        const char code = operands.codes[n];
        const u64 got = read(frame.slots, n, code, lane);
        if ((mask >> lane & 1) == 0) {
          if (got != read(before.data(), n, code, lane))
            return fmt::format("lane {} was idle", lane);
        } else if (!agrees(*wanted, n, code, got)) {
          return fmt::format("lane {}: {:#x} of {:#x} {:#x} {:#x}, wanted {:#x} or {}", lane, got,
                             in[lane][0], in[lane].size() > 1 ? in[lane][1] : 0,
                             in[lane].size() > 2 ? in[lane][2] : 0,
                             wanted->results.empty() ? 0 : wanted->results[n], wanted->near);
        }
      }
    }
    digest_ = digest_ * 31 + std::hash<std::string_view>()(
                                 {reinterpret_cast<char*>(frame.slots), kSlot * operands.written});
    return "";
  }

  std::size_t digest() const { return digest_; }

 private:
  static void write(const Frame& frame, std::size_t n, char code, u32 lane, u64 value) {
    std::byte* const slot = frame.slots + n * kSlot;
    if (code != 'P') {
      std::memcpy(slot + lane * bytes_of(code), &value, bytes_of(code));
      return;
    }
    u32 bits = 0;
    std::memcpy(&bits, slot, 4);
    bits = (bits & ~(1u << lane)) | u32(value) << lane;
    std::memcpy(slot, &bits, 4);
  }
  static u64 read(const std::byte* slots, std::size_t n, char code, u32 lane) {
    u64 value = 0;
    if (code != 'P') {
      std::memcpy(&value, slots + n * kSlot + lane * bytes_of(code), bytes_of(code));
      return value;
    }
    std::memcpy(&value, slots + n * kSlot, 4);
    return value >> lane & 1;
  }
  static bool agrees(const Expected& wanted, std::size_t n, char code, u64 got) {
    const u64 kept =
        code == 'P' || bytes_of(code) == 8 ? ~u64(0) : (u64(1) << (8 * bytes_of(code))) - 1;
    if (wanted.tolerance == 0) return got == (wanted.results.at(n) & kept);
    const double x =
        code == 'D' ? std::bit_cast<double>(got) : double(std::bit_cast<float>(u32(got)));
    const double y = code == 'D' ? wanted.near : double(float(wanted.near));
    if (std::isnan(y) || std::isinf(y) || std::isnan(x) || std::isinf(x))
      return std::isnan(y) ? std::isnan(x) : x == y;
    return std::fabs(x - wanted.near) <= wanted.tolerance * std::fabs(wanted.near) + 0x1p-149;
  }

  Rng& rng_;
  std::size_t digest_ = 0;
};

std::vector<VectorUnit> units_of_this_machine() {
  std::vector<VectorUnit> units;
  for (int n = 0; n <= int(best_vector_unit()); ++n) units.push_back(static_cast<VectorUnit>(n));
  return units;
}

}  // namespace

TEST_CASE("every form that computes in lanes gives what its name says, on every vector unit") {
  std::set<std::size_t> digests;
  for (const VectorUnit unit : units_of_this_machine()) {
    Rng rng(7);
    Bench bench(rng);
    int seen = 0;
    for (const auto& [opcode, forms] : form_table(unit).all())
      for (const Form& form : forms) {
        if (!computes(opcode, form)) continue;
        ++seen;
        for (int round = 0; round < 12; ++round)
          if (const std::string fault = bench.fault(opcode, form); !fault.empty()) {
            FAIL_CHECK(opcode, " ", form.operands, " on unit ", int(unit), ": ", fault);
            break;
          }
      }
    CHECK(seen > 500);
    digests.insert(bench.digest());
  }
  CHECK(digests.size() == 1);  // equal to the bit
}

TEST_CASE("patterns of forms are spelled out, and none is there twice") {
  CHECK(spellings("add{.s32,.u32}") == std::vector<std::string>{"add.s32", "add.u32"});
  CHECK(spellings("{a,b}c{,.d}").size() == 4);
  FormTable table;
  table.add("a{.b,.c}", {"W=W"});
  CHECK_THROWS(table.add("a.c", {"W=W"}));
  table.add("a.c", {"D=D"});
  CHECK(table.find("a.c").size() == 2);
  CHECK(table.find("a").empty());
}
