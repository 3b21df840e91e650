// SPDX-License-Identifier: Apache-2.0
// Blocks, and the order in which lanes that went apart run: always those at the lowest block.
//
// The order is topological but for the branches back to the heads of loops, and the blocks of a
// loop lie together. So whoever is behind catches up before anybody goes on, lanes meet again at
// the first block that all of them reach, and those that left a loop wait for those still in it.
// For structured code this is reconvergence at the immediate post-dominator, without a stack: any
// set of lanes can be run next, which threads that wait for each other (a spin lock within a warp)
// need, and which compute capability 7.0 and later promises. The order of the text does not do:
// clang puts rarely taken parts of a loop behind what follows it, and lanes would then meet again
// too late, which is right but costs many times the memory transactions.
#include <algorithm>
#include <fmt/format.h>

#include "harness/simt/decode/draft.h"

namespace gauntlet::simt {
namespace {

constexpr std::uint32_t kNone = Block::kNone;
constexpr int kDeepestLoop = 64;

struct Graph {
  std::vector<Block> blocks;
  std::vector<std::vector<std::uint32_t>> next;  // of each block
};

bool ends_block(Role role) {
  return role == Role::branch || role == Role::table_branch || role == Role::leave ||
         role == Role::trap || role == Role::barrier;
}

std::vector<std::uint32_t> block_starts(const Draft& draft) {
  const auto size = static_cast<std::uint32_t>(draft.code.size());
  std::vector<bool> starts(size + 1, false);
  starts[0] = true;
  for (std::uint32_t at = 0; at < size; ++at) {
    const DraftInstr& code = draft.code[at];
    if (code.form->role == Role::branch) starts[code.label] = true;
    for (const std::uint32_t label : code.table) starts[label] = true;
    if (ends_block(code.form->role)) starts[at + 1] = true;
    if (code.form->role == Role::converge) starts[at] = true;
  }
  std::vector<std::uint32_t> found;
  for (std::uint32_t at = 0; at < size; ++at)
    if (starts[at]) found.push_back(at);
  return found;
}

/// Blocks in the order of the text. Their `next` and `target` are numbers in it.
Graph split(Draft& draft, Kernel& kernel) {
  const std::vector<std::uint32_t> starts = block_starts(draft);
  const auto size = static_cast<std::uint32_t>(draft.code.size());
  const auto block_at = [&](std::uint32_t index, const Place& place) {
    const auto found = std::lower_bound(starts.begin(), starts.end(), index);
    if (found == starts.end() || *found != index)
      throw PtxError("the kernel goes on where it has no instruction", place);
    return static_cast<std::uint32_t>(found - starts.begin());
  };
  Graph graph;
  for (std::size_t n = 0; n < starts.size(); ++n) {
    Block block;
    block.first = starts[n];
    block.last = n + 1 < starts.size() ? starts[n + 1] : size;
    block.counted = block.last - block.first;
    const DraftInstr& end = draft.code[block.last - 1];
    const Role role = end.form->role;
    block.converges = draft.code[block.first].form->role == Role::converge;
    std::vector<std::uint32_t> next;
    if (ends_block(role)) block.closing = --block.last;
    const bool goes_on = !ends_block(role) || role == Role::barrier || end.guarded;
    if (role == Role::table_branch && end.guarded)
      throw PtxError("brx.idx with a guard is not supported", end.place);
    if (goes_on)
      next.push_back(block.next =
                         block_at(block.closing == kNone ? block.last : block.last + 1, end.place));
    switch (role) {
      case Role::branch:
        block.end = end.guarded ? Block::End::branch : Block::End::jump;
        next.push_back(block.target = block_at(end.label, end.place));
        break;
      case Role::table_branch: {
        block.end = Block::End::table;
        std::vector<std::uint32_t> table;
        for (const std::uint32_t label : end.table) table.push_back(block_at(label, end.place));
        next.insert(next.end(), table.begin(), table.end());
        draft.code[block.closing].instr.immediate = static_cast<std::int64_t>(kernel.tables.size());
        kernel.tables.push_back(std::move(table));
        break;
      }
      case Role::leave:
        block.end = Block::End::leave;
        break;
      case Role::trap:
        block.end = Block::End::trap;
        break;
      case Role::barrier:
        block.end = Block::End::barrier;
        if (end.guarded) throw PtxError("a barrier with a guard is not supported", end.place);
        break;
      default:
        block.end = Block::End::next;
        break;
    }
    graph.blocks.push_back(block);
    graph.next.push_back(std::move(next));
  }
  return graph;
}

/// Strongly connected components, by Tarjan, without recursion over blocks.
class Ordering {
 public:
  Ordering(const Graph& graph, std::vector<Draft::Loop>& loops, const Place& place)
      : graph_(graph),
        loops_(loops),
        place_(place),
        member_(graph.blocks.size(), 0),
        head_(graph.blocks.size(), 0),
        number_(graph.blocks.size(), 0),
        low_(graph.blocks.size(), 0),
        done_(graph.blocks.size(), 0) {}

  std::vector<std::uint32_t> run() {
    member_.assign(member_.size(), 1);
    order(0, 1, 0);
    return std::move(ordered_);
  }

 private:
  struct Visit {
    std::uint32_t block;
    std::size_t edge;
  };

  /// Appends the blocks of part `part` that `entry` reaches, without going back to a head.
  void order(std::uint32_t entry, std::uint32_t part, int depth) {
    if (depth > kDeepestLoop)
      throw PtxError(fmt::format("loops are nested more than {} deep", kDeepestLoop), place_);
    std::vector<std::vector<std::uint32_t>> components = components_from(entry, part);
    std::reverse(components.begin(), components.end());
    for (const std::vector<std::uint32_t>& component : components) {
      const std::uint32_t head = component.back();  // the first that was met
      const bool is_loop = component.size() > 1 || goes_to(head, head);
      const auto first = static_cast<std::uint32_t>(ordered_.size());
      if (component.size() == 1) {
        ordered_.push_back(head);
      } else {
        const std::uint32_t inner = ++parts_;
        for (const std::uint32_t block : component) member_[block] = inner;
        head_[head] = 1;
        order(head, inner, depth + 1);
      }
      if (is_loop) loops_.push_back({first, static_cast<std::uint32_t>(ordered_.size() - 1)});
    }
  }

  bool goes_to(std::uint32_t from, std::uint32_t to) const {
    const auto& next = graph_.next[from];
    return std::find(next.begin(), next.end(), to) != next.end();
  }

  /// In the order in which Tarjan's algorithm ends them: the last first.
  std::vector<std::vector<std::uint32_t>> components_from(std::uint32_t entry, std::uint32_t part) {
    std::vector<std::vector<std::uint32_t>> found;
    std::vector<std::uint32_t> open;
    std::vector<Visit> visits;
    const std::uint32_t base = count_;  // numbers of earlier calls are below
    const auto enter = [&](std::uint32_t block) {
      number_[block] = low_[block] = ++count_;
      done_[block] = 0;
      open.push_back(block);
      visits.push_back({block, 0});
    };
    enter(entry);
    while (!visits.empty()) {
      const std::uint32_t at = visits.back().block;
      if (visits.back().edge < graph_.next[at].size()) {
        const std::uint32_t to = graph_.next[at][visits.back().edge++];
        if (member_[to] != part || head_[to] != 0) continue;
        if (number_[to] <= base) {
          enter(to);
        } else if (done_[to] == 0) {
          low_[at] = std::min(low_[at], number_[to]);
        }
        continue;
      }
      visits.pop_back();
      if (!visits.empty())
        low_[visits.back().block] = std::min(low_[visits.back().block], low_[at]);
      if (low_[at] != number_[at]) continue;
      found.emplace_back();
      while (true) {
        const std::uint32_t block = open.back();
        open.pop_back();
        done_[block] = 1;
        found.back().push_back(block);
        if (block == at) break;
      }
    }
    return found;
  }

  const Graph& graph_;
  std::vector<Draft::Loop>& loops_;
  const Place place_;
  std::vector<std::uint32_t> member_;  // which part a block belongs to
  std::vector<char> head_;             // heads of loops that are being ordered, or were
  std::vector<std::uint32_t> number_, low_;
  std::vector<char> done_;
  std::uint32_t count_ = 0, parts_ = 1;
  std::vector<std::uint32_t> ordered_;
};

}  // namespace

void order_blocks(Draft& draft, Kernel& kernel) {
  const Graph graph = split(draft, kernel);
  const std::vector<std::uint32_t> order = Ordering(graph, draft.loops, draft.function.place).run();
  std::vector<std::uint32_t> position(graph.blocks.size(), kNone);
  for (std::uint32_t n = 0; n < order.size(); ++n) position[order[n]] = n;

  std::vector<DraftInstr> code;
  for (const std::uint32_t number : order) {
    Block block = graph.blocks[number];
    const std::uint32_t first = block.first;
    const std::uint32_t last = block.closing == kNone ? block.last : block.closing + 1;
    block.first = static_cast<std::uint32_t>(code.size());
    for (std::uint32_t at = first; at < last; ++at) code.push_back(std::move(draft.code[at]));
    const auto end = static_cast<std::uint32_t>(code.size());
    block.last = block.closing == kNone ? end : end - 1;
    if (block.closing != kNone) block.closing = end - 1;
    const auto& next = graph.next[number];
    if (!next.empty()) block.next = position[block.next];
    if (block.end == Block::End::jump || block.end == Block::End::branch)
      block.target = position[block.target];
    kernel.blocks.push_back(block);
  }
  for (auto& table : kernel.tables)
    for (std::uint32_t& target : table)
      target = position[target] == kNone ? 0 : position[target];  // of a table nobody reaches
  draft.code = std::move(code);
}

}  // namespace gauntlet::simt
