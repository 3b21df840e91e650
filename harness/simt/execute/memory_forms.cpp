// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <type_traits>

#include "harness/simt/decode/form_table.h"
#include "harness/simt/execute/forms.h"
#include "harness/simt/execute/reach.h"

namespace gauntlet::simt {
namespace {

template <class M>
M value_at(const std::byte* at) {
  M value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// A value in a register that may be wider: signed ones keep their sign.
template <class R, class M>
R widened(M value) {
  if constexpr (std::is_integral_v<M> && std::is_signed_v<M>)
    return static_cast<R>(std::int64_t{value});
  else
    return R(value);
}

/// Part `n` of every lane's vector, where the lanes lie one behind the other.
template <class M, class R, std::uint32_t N>
void spread(R* out, const std::byte* first, std::uint32_t n) {
  if constexpr (N == 1 && sizeof(M) == sizeof(R)) {
    std::memcpy(out, first, sizeof(M) * kLanes);
  } else {
    for (std::uint32_t l = 0; l < kLanes; ++l)
      out[l] = widened<R>(value_at<M>(first + (std::size_t(l) * N + n) * sizeof(M)));
  }
}

/// N values of type M in memory, into registers of type R.
template <class M, class R, std::uint32_t N>
void load(Frame& frame, const Instr& instr, std::uint32_t mask) {
  Warp& warp = static_cast<Warp&>(frame);
  Reaching parts(warp, instr, mask, instr.slots[N], Touch::read);
  // A lane that may not read gets zeros.
  std::uint32_t missing = mask;
  Reach reach;
  R* out[N];
  for (std::uint32_t n = 0; n < N; ++n) out[n] = warp.slot<R>(instr.slots[n]);
  while (parts.next(reach)) {
    check_read(warp, instr, reach);
    missing &= ~reach.mask;
    for (std::uint32_t n = 0; n < N; ++n) {
      if (reach.is_consecutive()) {
        spread<M, R, N>(out[n], reach.first, n);
      } else if (reach.is_uniform()) {
        const R value = widened<R>(value_at<M>(reach.first + n * sizeof(M)));
        for (std::uint32_t l = 0; l < kLanes; ++l)
          out[n][l] = (reach.mask & (1u << l)) != 0 ? value : out[n][l];
      } else {
        for (std::uint32_t lanes = reach.mask; lanes != 0; lanes &= lanes - 1) {
          const auto l = static_cast<std::uint32_t>(std::countr_zero(lanes));
          out[n][l] = widened<R>(value_at<M>(reach.lane(l) + n * sizeof(M)));
        }
      }
    }
  }
  for (; missing != 0; missing &= missing - 1)
    for (std::uint32_t n = 0; n < N; ++n) out[n][std::countr_zero(missing)] = R(0);
}

/// N registers of type R, of which as much as M holds goes to memory.
template <class M, class R, std::uint32_t N>
void store(Frame& frame, const Instr& instr, std::uint32_t mask) {
  Warp& warp = static_cast<Warp&>(frame);
  Reaching parts(warp, instr, mask, instr.slots[0], Touch::write);
  Reach reach;
  const R* in[N];
  for (std::uint32_t n = 0; n < N; ++n) in[n] = warp.slot<const R>(instr.slots[1 + n]);
  while (parts.next(reach)) {
    define(warp, instr, reach);
    const bool races = looks_for_races(warp, reach);
    if (!races && N == 1 && sizeof(M) == sizeof(R) && reach.is_consecutive()) {
      std::memcpy(reach.first, in[0], sizeof(M) * kLanes);
      continue;
    }
    for (std::uint32_t lanes = reach.mask; lanes != 0; lanes &= lanes - 1) {
      const auto l = static_cast<std::uint32_t>(std::countr_zero(lanes));
      M values[N];
      for (std::uint32_t n = 0; n < N; ++n) values[n] = M(in[n][l]);
      std::byte* const at = reach.lane(l);
      if (races) check_write(warp, instr, reach, l, std::memcmp(at, values, sizeof values) != 0);
      std::memcpy(at, values, sizeof values);
    }
  }
}

/// The spellings between ld or st and the type: order, space, cache hint.
struct Spelling {
  const char* text;
  ptx::Space space;
  MemoryForm::Order order;
};
using Order = MemoryForm::Order;
using ptx::Space;

#define SIMT_RELAXED ".relaxed.cta,.relaxed.gpu,.relaxed.sys"
#define SIMT_ACQUIRE "{.acquire.cta,.acquire.gpu,.acquire.sys}"
#define SIMT_RELEASE "{.release.cta,.release.gpu,.release.sys}"
constexpr Spelling kLoads[] = {
    {"{,.weak}{,.ca,.cg,.cs,.lu}", Space::generic, Order::weak},
    {"{,.weak}.global{,.nc,.ca,.cg,.cs,.lu,.ca.nc,.cg.nc,.cs.nc}", Space::global, Order::weak},
    {"{,.weak}{.shared,.shared::cta}", Space::shared, Order::weak},
    {"{,.weak}.local", Space::local, Order::weak},
    {".const", Space::constant, Order::weak},
    {".param", Space::parameter, Order::weak},
    {"{.volatile,.cv," SIMT_RELAXED "}", Space::generic, Order::relaxed},
    {"{.volatile," SIMT_RELAXED "}.global", Space::global, Order::relaxed},
    {".global.cv", Space::global, Order::relaxed},
    {"{.volatile," SIMT_RELAXED "}.shared", Space::shared, Order::relaxed},
    {".volatile.local", Space::local, Order::relaxed},
    {SIMT_ACQUIRE, Space::generic, Order::acquire},
    {SIMT_ACQUIRE ".global", Space::global, Order::acquire},
    {SIMT_ACQUIRE ".shared", Space::shared, Order::acquire},
};
constexpr Spelling kStores[] = {
    {"{,.weak}{,.wb,.cg,.cs,.wt}", Space::generic, Order::weak},
    {"{,.weak}.global{,.wb,.cg,.cs,.wt}", Space::global, Order::weak},
    {"{,.weak}{.shared,.shared::cta}", Space::shared, Order::weak},
    {"{,.weak}.local", Space::local, Order::weak},
    {"{.volatile," SIMT_RELAXED "}", Space::generic, Order::relaxed},
    {"{.volatile," SIMT_RELAXED "}.global", Space::global, Order::relaxed},
    {"{.volatile," SIMT_RELAXED "}.shared", Space::shared, Order::relaxed},
    {".volatile.local", Space::local, Order::relaxed},
    {SIMT_RELEASE, Space::generic, Order::release},
    {SIMT_RELEASE ".global", Space::global, Order::release},
    {SIMT_RELEASE ".shared", Space::shared, Order::release},
};
#undef SIMT_RELAXED
#undef SIMT_ACQUIRE
#undef SIMT_RELEASE

std::string operands(bool is_load, std::uint32_t count, char code) {
  const std::string values =
      count == 1 ? std::string(1, code) : "{" + std::string(count, code) + "}";
  return is_load ? values + "=A" : "A," + values;
}

template <class M, class R, std::uint32_t N>
void add_count(FormTable& t, const char* types) {
  constexpr char kRegister = sizeof(R) == 2 ? 'H' : sizeof(R) == 4 ? 'W' : 'D';
  const char* const vector = N == 1 ? "" : N == 2 ? ".v2" : ".v4";
  const auto add = [&](const Spelling& spelling, bool is_load) {
    Form form;
    form.operands = operands(is_load, N, kRegister);
    form.run = is_load ? &load<M, R, N> : &store<M, R, N>;
    form.kind = spelling.space == Space::parameter ? Class::parameter
                : is_load                          ? Class::load
                                                   : Class::store;
    form.role = Role::memory;
    form.memory = {spelling.space, sizeof(M), N, false, spelling.order};
    t.add(fmt::format("{}{}{}{}", is_load ? "ld" : "st", spelling.text, vector, types), form);
  };
  for (const Spelling& spelling : kLoads) add(spelling, true);
  for (const Spelling& spelling : kStores) add(spelling, false);
}

/// A load extends a value to a wider register, by its sign if it is signed; a store takes what
/// fits.
template <class M, class R>
void add_type(FormTable& t, const char* types) {
  add_count<M, R, 1>(t, types);
  add_count<M, R, 2>(t, types);
  if constexpr (sizeof(M) <= 4) add_count<M, R, 4>(t, types);
}

}  // namespace

void add_memory_forms(FormTable& t) {
  add_type<std::uint8_t, std::uint16_t>(t, "{.u8,.b8}");
  add_type<std::uint8_t, std::uint32_t>(t, "{.u8,.b8}");
  add_type<std::uint8_t, std::uint64_t>(t, "{.u8,.b8}");
  add_type<std::int8_t, std::uint16_t>(t, ".s8");
  add_type<std::int8_t, std::uint32_t>(t, ".s8");
  add_type<std::int8_t, std::uint64_t>(t, ".s8");
  add_type<std::uint16_t, std::uint16_t>(t, "{.u16,.b16,.s16}");
  add_type<std::uint16_t, std::uint32_t>(t, "{.u16,.b16}");
  add_type<std::uint16_t, std::uint64_t>(t, "{.u16,.b16}");
  add_type<std::int16_t, std::uint32_t>(t, ".s16");
  add_type<std::int16_t, std::uint64_t>(t, ".s16");
  add_type<std::uint32_t, std::uint32_t>(t, "{.u32,.b32,.s32,.f32}");
  add_type<std::uint32_t, std::uint64_t>(t, "{.u32,.b32}");
  add_type<std::int32_t, std::uint64_t>(t, ".s32");
  add_type<std::uint64_t, std::uint64_t>(t, "{.u64,.b64,.s64,.f64}");
}

}  // namespace gauntlet::simt
