// strategy: every leaf path is a sequence of its own in the pass, where there is room for it; equal
// siblings merged, trees cropped, no drafts for last tokens
// uses: a forward pass may have other rows than the trees' nodes, as long as what each row sees
// stands at the positions 0, 1, ...; nodes with the same text may share one; drafts of no node need
// not be asked for
// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "rounds.h"
#include "walk.h"

namespace {

/// A tree as its leaf paths. Nodes with the same text are one node here, the first of them.
struct Paths {
  List<List<std::int32_t>> ways;  // nodes from the top; one empty way for a tree without nodes
  bool fit = true;                // all of them into a pass; else there are none here

  Paths(const Draft& draft, std::int64_t longest, std::int64_t room) {
    const List<std::int32_t>& parent = draft.parent;
    const List<std::int32_t>& token = draft.token;
    const auto nodes = static_cast<std::int32_t>(token.size());
    List<std::int32_t> same(nodes);
    List<std::int64_t> depth(nodes, 1);
    List<bool> leaf(nodes, false);
    for (std::int32_t i = 0; i < nodes; ++i) {
      const std::int32_t above = parent[i] < 0 ? -1 : same[parent[i]];
      if (above >= 0) depth[i] = depth[above] + 1;
      same[i] = i;
      for (std::int32_t j = 0; j < i && same[i] == i; ++j)
        if (same[j] == j && up(parent, same, j) == above && token[j] == token[i]) same[i] = j;
      if (same[i] != i || depth[i] > longest) continue;
      leaf[i] = true;
      if (above >= 0) leaf[above] = false;
    }
    for (std::int32_t i = 0; i < nodes; ++i)
      if (leaf[i]) room -= depth[i] + 1;
    fit = room >= 0;
    for (std::int32_t i = 0; i < nodes && fit; ++i) {
      if (!leaf[i]) continue;
      List<std::int32_t> way;
      for (std::int32_t node = i; node >= 0; node = up(parent, same, node)) way.push_back(node);
      ways.emplace_back(way.rbegin(), way.rend());
    }
    if (ways.empty()) ways.emplace_back();
  }

 private:
  static std::int32_t up(const List<std::int32_t>& parent, const List<std::int32_t>& same,
                         std::int32_t node) {
    return parent[node] < 0 ? -1 : same[parent[node]];
  }
};

/// A pass over ways, one after the other, each with a root of its own.
class WaysPass {
 public:
  WaysPass(const DflashGenerateArgs& a, const List<std::int64_t>& running,
           const List<Request>& requests, const List<Draft>& drafts)
      : a_(a), running_(running), requests_(requests), drafts_(drafts) {
    std::int64_t row = 0;
    for (std::size_t k = 0; k < running.size(); ++k) {
      const std::int64_t longest = a.max_new[running[k]] - requests[running[k]].emitted;
      const Paths paths(drafts[k], longest, DFLASH_MOST_ROWS * (a.draft_budget + 1));
      fit_ = fit_ && paths.fit;
      Layout layout{row, 0, paths.ways, {}};
      for (const List<std::int32_t>& way : layout.ways) {
        layout.first_slot.push_back(layout.rows);
        layout.rows += way.size() + 1;
      }
      row += layout.rows;
      layouts_.push_back(std::move(layout));
    }
  }

  bool fit() const { return fit_; }

  std::int64_t read() {
    Rows rows;
    std::int64_t widest = 0;
    for (const Layout& layout : layouts_) widest = std::max(widest, layout.rows);
    rows.words = (widest + 63) / 64;
    for (std::size_t k = 0; k < running_.size(); ++k) {
      rows.lengths.push_back(requests_[running_[k]].context.size() - 1);
      rows.counts.push_back(layouts_[k].rows);
      add_ways(k, rows);
    }
    return ask_target(a_, running_, rows, logits_);
  }

  /// The way that goes furthest. A way is a chain, which is a tree too.
  Outcome outcome(std::size_t k, std::int64_t max_emit) const {
    const Layout& layout = layouts_[k];
    Outcome best;
    for (std::size_t w = 0; w < layout.ways.size(); ++w) {
      const List<std::int32_t>& way = layout.ways[w];
      List<std::int32_t> parent, token;
      for (const std::int32_t node : way) {
        parent.push_back(static_cast<std::int32_t>(parent.size()) - 1);
        token.push_back(drafts_[k].token[node]);
      }
      const float* logits = logits_.data() + (layout.first_row + layout.first_slot[w]) * a_.vocab;
      const Tree chain{std::ssize(way), parent.data(), token.data(), logits, a_.vocab, a_.vocab};
      Decision decision = decide(chain, a_.eos, a_.num_eos, max_emit);
      if (w > 0 && decision.path.size() <= best.decision.path.size()) continue;
      best.slots.resize(decision.path.size() + 1);
      std::iota(best.slots.begin(), best.slots.end(), layout.first_slot[w]);
      best.decision = std::move(decision);
    }
    return best;
  }

 private:
  /// A request's rows.
  struct Layout {
    std::int64_t first_row;  // in the pass
    std::int64_t rows;
    List<List<std::int32_t>> ways;
    List<std::int64_t> first_slot;  // of each way
  };

  void add_ways(std::size_t k, Rows& rows) const {
    const std::int32_t root = requests_[running_[k]].context.back();
    for (std::size_t w = 0; w < layouts_[k].ways.size(); ++w) {
      List<std::uint64_t> sees(rows.words, 0);
      const List<std::int32_t>& way = layouts_[k].ways[w];
      for (std::size_t i = 0; i <= way.size(); ++i) {
        const std::int64_t slot = layouts_[k].first_slot[w] + i;
        sees[slot / 64] |= std::uint64_t{1} << (slot % 64);
        rows.mask.insert(rows.mask.end(), sees.begin(), sees.end());
        rows.token.push_back(i == 0 ? root : drafts_[k].token[way[i - 1]]);
        rows.position.push_back(rows.lengths.back() + i);
      }
    }
  }

  const DflashGenerateArgs& a_;
  const List<std::int64_t>& running_;
  const List<Request>& requests_;
  const List<Draft>& drafts_;
  bool fit_ = true;
  List<Layout> layouts_;
  List<float> logits_;
};

/// A pass over ways where there is room for them, and over the trees where there is none.
class WaysOrTrees {
 public:
  template <class... All>
  explicit WaysOrTrees(const All&... all) : ways_(all...), trees_(all...) {}

  /// Not for requests that want one token more: no node brings that.
  static bool wants_drafts(const DflashGenerateArgs& a, const List<std::int64_t>& running,
                           const List<Request>& requests) {
    return a.draft_budget > 0 && std::any_of(running.begin(), running.end(), [&](std::int64_t r) {
             return a.max_new[r] - requests[r].emitted > 1;
           });
  }

  std::int64_t read() { return ways_.fit() ? ways_.read() : trees_.read(); }
  Outcome outcome(std::size_t k, std::int64_t max_emit) const {
    return ways_.fit() ? ways_.outcome(k, max_emit) : trees_.outcome(k, max_emit);
  }

 private:
  WaysPass ways_;
  TreePass trees_;
};

}  // namespace

std::int64_t dflash_generate(const DflashGenerateArgs* args) {
  return generate<WaysOrTrees>(args);
}
