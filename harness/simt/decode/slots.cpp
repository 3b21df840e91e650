// SPDX-License-Identifier: Apache-2.0
// Which registers share a slot. A kernel has thousands of registers, of which a hundred are live at
// a time: with a slot of 128 bytes for each, a warp would run out of the processor's first cache.
//
// A register is live from its first to its last mention in the order of blocks. That covers every
// path but those around a loop; so where it is mentioned in more than one block, or written more
// than once or in part, it lives throughout each loop that holds one of its mentions.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <queue>
#include <tuple>

#include "harness/simt/decode/draft.h"

namespace gauntlet::simt {
namespace {

constexpr std::uint32_t kMostFrame = 1u << 20;
constexpr std::array<std::uint32_t, 4> kSlotBytes{4, 64, 128, 256};  // predicates, 16, 32, 64 bits

std::size_t kind_of(std::uint8_t bytes) {
  return bytes == 0 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
}

struct Life {
  std::uint32_t first = ~0u, last = 0;  // instructions
  std::uint32_t first_block = ~0u, last_block = 0;
  std::uint32_t writes = 0;
  bool local = true;  // one block, written once and before it is read

  bool is_mentioned() const { return first != ~0u; }
};

class Slots {
 public:
  Slots(Draft& draft, Kernel& kernel) : draft_(draft), kernel_(kernel) {}

  void run() {
    find_lives();
    span_loops();
    place_constants();
    place_registers();
    if (end_ > kMostFrame)
      throw PtxError(fmt::format("{} has {} KiB of live registers in a warp, and {} are the most",
                                 kernel_.name, end_ >> 10, kMostFrame >> 10),
                     draft_.function.place);
    kernel_.frame_bytes = (end_ + 63) / 64 * 64;
    write_code();
  }

 private:
  void mention(OperandId id, std::uint32_t at, std::uint32_t block, bool write, bool partly) {
    if ((id & kConstantBit) != 0) return;
    Life& life = lives_[id];
    if (!life.is_mentioned() && (!write || partly)) life.local = false;
    life.first = std::min(life.first, at);
    life.last = std::max(life.last, at);
    life.first_block = std::min(life.first_block, block);
    life.last_block = std::max(life.last_block, block);
    life.writes += write ? 1 : 0;
  }

  void find_lives() {
    lives_.resize(draft_.registers.size());
    for (std::uint32_t block = 0; block < kernel_.blocks.size(); ++block) {
      const Block& range = kernel_.blocks[block];
      const std::uint32_t end = range.closing == Block::kNone ? range.last : range.closing + 1;
      for (std::uint32_t at = range.first; at < end; ++at) {
        const DraftInstr& code = draft_.code[at];
        if (code.guarded) mention(code.instr.guard, at, block, false, false);
        for (std::uint32_t n = code.destinations; n < code.operands; ++n)
          mention(code.instr.slots[n], at, block, false, false);
        for (std::uint32_t n = 0; n < code.destinations; ++n)
          mention(code.instr.slots[n], at, block, true, code.guarded);
      }
    }
    for (Life& life : lives_)
      if (life.writes != 1 || life.first_block != life.last_block) life.local = false;
  }

  /// Inner loops come before the loops around them, so that one pass is enough.
  void span_loops() {
    const auto size = static_cast<std::uint32_t>(kernel_.blocks.size());
    // For each block the smallest loop that holds it, and the next larger one of each loop.
    constexpr std::uint32_t kNone = ~0u;
    std::vector<std::uint32_t> inner(size, kNone), outer(draft_.loops.size(), kNone);
    for (std::uint32_t n = 0; n < draft_.loops.size(); ++n)
      for (std::uint32_t block = draft_.loops[n].first; block <= draft_.loops[n].last; ++block) {
        std::uint32_t& known = inner[block];
        if (known == kNone) {
          known = n;
          continue;
        }
        std::uint32_t top = known;
        while (outer[top] != kNone && outer[top] != n) top = outer[top];
        if (top != n) outer[top] = n;
        const Draft::Loop& inside = draft_.loops[top];
        block = std::max(block, inside.last);
      }
    for (Life& life : lives_) {
      if (!life.is_mentioned() || life.local) continue;
      for (const std::uint32_t block : {life.first_block, life.last_block})
        for (std::uint32_t n = inner[block]; n != kNone; n = outer[n]) {
          const Draft::Loop& loop = draft_.loops[n];
          life.first_block = std::min(life.first_block, loop.first);
          life.last_block = std::max(life.last_block, loop.last);
          // Once a loop holds all of it, what is outside does not matter any more.
          if (loop.first <= life.first_block && life.last_block <= loop.last) break;
        }
      const Block& last = kernel_.blocks[life.last_block];
      life.first = std::min(life.first, kernel_.blocks[life.first_block].first);
      life.last = std::max(life.last, last.closing == Block::kNone ? last.last : last.closing);
    }
  }

  std::uint32_t new_slot(std::size_t kind) {
    const std::uint32_t bytes = kSlotBytes[kind];
    end_ = (end_ + bytes - 1) / bytes * bytes;
    const std::uint32_t slot = end_;
    end_ = end_ > kMostFrame ? end_ : end_ + bytes;
    return slot;
  }

  void place_constants() {
    std::map<std::tuple<std::uint8_t, Constant::From, std::uint64_t>, std::uint32_t> known;
    always_ = new_slot(0);
    kernel_.constants.push_back({always_, 0, Constant::From::number, ~0ull});
    for (const Constant& constant : draft_.constants) {
      const auto [found, is_new] =
          known.try_emplace({constant.bytes, constant.from, constant.value}, 0);
      if (is_new) {
        found->second = new_slot(kind_of(constant.bytes));
        kernel_.constants.push_back(constant);
        kernel_.constants.back().slot = found->second;
      }
      constant_slots_.push_back(found->second);
    }
    kernel_.constant_bytes = end_;
  }

  void place_registers() {
    std::vector<std::uint32_t> by_start;
    for (std::uint32_t id = 0; id < lives_.size(); ++id)
      if (lives_[id].is_mentioned()) by_start.push_back(id);
    std::stable_sort(by_start.begin(), by_start.end(), [&](std::uint32_t a, std::uint32_t b) {
      return lives_[a].first < lives_[b].first;
    });
    struct Ending {
      std::uint32_t last, slot;
      bool operator>(const Ending& other) const {
        return std::tie(last, slot) > std::tie(other.last, other.slot);
      }
    };
    std::array<std::priority_queue<Ending, std::vector<Ending>, std::greater<>>, 4> busy;
    register_slots_.assign(lives_.size(), 0);
    for (const std::uint32_t id : by_start) {
      const std::size_t kind = kind_of(draft_.registers[id].type.bytes);
      auto& slots = busy[kind];
      std::uint32_t slot = 0;
      if (!slots.empty() && slots.top().last < lives_[id].first) {
        slot = slots.top().slot;
        slots.pop();
      } else {
        slot = new_slot(kind);
      }
      register_slots_[id] = slot;
      slots.push({lives_[id].last, slot});
    }
  }

  std::uint32_t slot_of(OperandId id) const {
    return (id & kConstantBit) != 0 ? constant_slots_[id & ~kConstantBit] : register_slots_[id];
  }

  void write_code() {
    for (DraftInstr& code : draft_.code) {
      Instr instr = code.instr;
      for (std::uint32_t n = 0; n < code.operands; ++n) instr.slots[n] = slot_of(instr.slots[n]);
      instr.guard = code.guarded ? slot_of(instr.guard) : always_;
      instr.index = static_cast<std::uint32_t>(kernel_.code.size());
      kernel_.code.push_back(instr);
      kernel_.places.push_back(code.place);
      kernel_.classes.push_back(code.form->kind);
    }
  }

  Draft& draft_;
  Kernel& kernel_;
  std::vector<Life> lives_;
  std::vector<std::uint32_t> constant_slots_, register_slots_;
  std::uint32_t always_ = 0;
  std::uint32_t end_ = 0;
};

}  // namespace

void allocate_slots(Draft& draft, Kernel& kernel) {
  Slots(draft, kernel).run();
}

}  // namespace gauntlet::simt
