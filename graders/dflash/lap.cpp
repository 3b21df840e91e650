// SPDX-License-Identifier: Apache-2.0
#include "lap.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <span>

#include "call.h"
#include "graders/kit/laps.h"
#include "harness/core/machine.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

template <class Args>
void set_lap_header(Args& args) {
  CallOptions options;
  options.threads = this_machine().cores;
  kit::set_header(args, DFLASH_ABI_VERSION, DFLASH_HOST, options);
}

/// The first of these numbers that is not the wanted one; what follows them is scratch.
template <class T>
std::optional<Miss> list_miss(const char* name, std::size_t first, std::span<const T> got,
                              const std::vector<T>& want) {
  for (std::size_t i = 0; i < want.size(); ++i)
    if (got[i] != want[i])
      return Miss{fmt::format("{}[{}]", name, first + i), static_cast<double>(got[i]),
                  static_cast<double>(want[i])};
  return std::nullopt;
}

/// The first wrong bit of a mask: whole words of it are too big for the numbers of a miss.
std::optional<Miss> mask_miss(std::span<const std::uint64_t> got,
                              const std::vector<std::uint64_t>& want) {
  for (std::size_t i = 0; i < want.size(); ++i)
    if (const std::uint64_t wrong = got[i] ^ want[i]; wrong != 0) {
      const int bit = std::countr_zero(wrong);
      return Miss{fmt::format("mask[{}] bit {}", i, bit), static_cast<double>(got[i] >> bit & 1),
                  static_cast<double>(want[i] >> bit & 1)};
    }
  return std::nullopt;
}

}  // namespace

LapTrees::LapTrees(const Sizes& sizes) : sizes_(sizes) {
  for (std::int64_t t = 1; t <= sizes.trees; ++t) node_start_.push_back(t * sizes.nodes);
  logits_.resize(static_cast<std::size_t>(sizes.trees * (sizes.nodes + 1) * sizes.vocab));
}

void LapTrees::renew(Rng& rng) {
  parent_.clear();
  token_.clear();
  ladders_.clear();
  walks_.clear();
  for (const std::int64_t correct : draw_ends(rng)) draw_tree(rng, correct);
  for (std::size_t row = 0; row < ladders_.size(); ++row) write_row(row, rng);
}

std::vector<std::int32_t> LapTrees::draw_ladder(Rng& rng) const {
  std::vector<std::int32_t> places;
  const std::int64_t steps = rng.integer(2, 9);
  while (std::ssize(places) < steps)
    if (const auto place = static_cast<std::int32_t>(rng.integer(0, sizes_.vocab - 1));
        std::ranges::find(places, place) == places.end())
      places.push_back(place);
  return places;
}

/// How many nodes of each tree are accepted.
std::vector<std::int64_t> LapTrees::draw_ends(Rng& rng) const {
  if (!sizes_.chains)
    return std::vector<std::int64_t>(static_cast<std::size_t>(sizes_.trees), sizes_.correct);
  const std::int64_t both = 2 * sizes_.correct;
  std::vector<std::int64_t> ends{0, both};
  while (std::ssize(ends) < sizes_.trees) {
    ends.push_back(rng.integer(0, both));
    ends.push_back(both - ends.back());
  }
  rng.shuffle(ends);
  return ends;
}

/// Nodes of the accepted path, ascending.
std::vector<std::int64_t> LapTrees::draw_path(Rng& rng, std::int64_t correct) const {
  std::vector<std::int64_t> chosen;
  while (std::ssize(chosen) < correct)
    if (const std::int64_t node =
            sizes_.chains ? std::ssize(chosen) : rng.integer(0, sizes_.nodes - 1);
        std::ranges::find(chosen, node) == chosen.end())
      chosen.push_back(node);
  std::ranges::sort(chosen);
  return chosen;
}

/// Accepted nodes lie anywhere among rejected ones, in chains before them. Rejected ones are right
/// by their own parents.
void LapTrees::draw_tree(Rng& rng, std::int64_t correct) {
  const std::size_t first_row = ladders_.size();
  for (std::int64_t row = 0; row <= sizes_.nodes; ++row) ladders_.push_back(draw_ladder(rng));
  const auto ladder = [&](std::int64_t node) -> const std::vector<std::int32_t>& {
    return ladders_[first_row + static_cast<std::size_t>(node + 1)];
  };
  const auto winner = [&](std::int64_t node) { return ladder(node).back(); };
  const std::vector<std::int64_t> chosen = draw_path(rng, correct);
  Walk walk;
  std::int32_t tip = -1;
  for (std::int64_t node = 0; node < sizes_.nodes; ++node) {
    if (walk.path.size() < chosen.size() && chosen[walk.path.size()] == node) {
      parent_.push_back(tip);
      token_.push_back(winner(tip));
      walk.emit.push_back(winner(tip));
      walk.path.push_back(tip = static_cast<std::int32_t>(node));
      continue;
    }
    const auto above =
        static_cast<std::int32_t>(sizes_.chains ? node - 1 : rng.integer(-1, node - 1));
    const bool on_path = above < 0 || std::ranges::find(chosen, above) != chosen.end();
    parent_.push_back(above);
    const auto& rungs = ladder(above);
    token_.push_back(on_path
                         ? rungs[static_cast<std::size_t>(rng.integer(0, std::ssize(rungs) - 2))]
                         : rungs.back());
  }
  walk.emit.push_back(winner(tip));
  walks_.push_back(std::move(walk));
}

void LapTrees::write_row(std::size_t row, Rng& rng) {
  const auto vocab = static_cast<std::size_t>(sizes_.vocab);
  const std::span logits(logits_.data() + row * vocab, vocab);
  const double offset = rng.uniform(-20, 20);
  kit::fill_uniform(rng, logits, offset, rng.uniform(0.5, 2));
  float top = *std::ranges::max_element(logits);
  for (const std::int32_t place : ladders_[row]) {
    top = std::nextafter(top, kit::kInfinity);
    logits[static_cast<std::size_t>(place)] = top;
  }
}

Lap LapTrees::run(Session& session) const {
  Call<DflashVerifyArgs> call("dflash_verify");
  DflashVerifyArgs& args = call.args;
  set_lap_header(args);
  const std::size_t trees = walks_.size();
  const std::vector<std::int64_t> max_emit(trees, 1 << 20);
  args.num_trees = sizes_.trees;
  args.vocab = args.logits_stride = sizes_.vocab;
  call.in("node_start", args.node_start, node_start_);
  call.in("parent", args.parent, parent_);
  call.in("token", args.token, token_);
  call.in("max_emit", args.max_emit, max_emit);
  call.in("logits", args.logits, logits_);
  const std::size_t rows = token_.size() + trees;
  const auto emit = call.out<std::int32_t>("emit", args.emit, rows);
  const auto path = call.out<std::int32_t>("path", args.path, rows);
  const auto num_emit = call.out<std::int64_t>("num_emit", args.num_emit, trees);
  const auto num_path = call.out<std::int64_t>("num_path", args.num_path, trees);
  return kit::verified_lap(session, call, [&]() -> std::optional<Miss> {
    std::vector<std::int64_t> emits, paths;
    for (const Walk& walk : walks_) {
      emits.push_back(std::ssize(walk.emit));
      paths.push_back(std::ssize(walk.path));
    }
    if (auto miss = list_miss("num_emit", 0, num_emit.view(), emits)) return miss;
    if (auto miss = list_miss("num_path", 0, num_path.view(), paths)) return miss;
    for (std::size_t t = 0; t < trees; ++t) {
      const std::size_t row = static_cast<std::size_t>(node_start_[t]) + t;
      if (auto miss = list_miss("emit", row, emit.view().subspan(row), walks_[t].emit)) return miss;
      if (auto miss = list_miss("path", row, path.view().subspan(row), walks_[t].path)) return miss;
    }
    return std::nullopt;
  });
}

LapMasks::LapMasks(Rng& rng) {
  for (std::int64_t t = 0; t < kTrees; ++t) {
    context_length_.push_back(rng.integer(0, 1 << 20));
    node_start_.push_back((t + 1) * kNodes);
    add_row(t, -1);
    for (std::int64_t node = 0; node < kNodes; ++node) {
      parent_.push_back(static_cast<std::int32_t>(rng.integer(-1, node - 1)));
      add_row(t, node);
    }
  }
}

void LapMasks::add_row(std::int64_t t, std::int64_t node) {
  const std::size_t root = static_cast<std::size_t>(t * (kNodes + 1));
  const std::size_t row = root + static_cast<std::size_t>(node + 1);
  mask_.resize((row + 1) * kWords);
  std::uint64_t* words = mask_.data() + row * kWords;
  std::int64_t depth = 0;
  if (node >= 0) {
    const std::size_t above = root + static_cast<std::size_t>(parent_.back() + 1);
    std::copy_n(mask_.data() + above * kWords, kWords, words);
    depth = position_[above] - context_length_.back() + 1;
  }
  words[(node + 1) / 64] |= std::uint64_t{1} << ((node + 1) % 64);
  position_.push_back(context_length_.back() + depth);
}

Lap LapMasks::run(Session& session) const {
  Call<DflashBuildArgs> call("dflash_build");
  DflashBuildArgs& args = call.args;
  set_lap_header(args);
  args.num_trees = kTrees;
  args.mask_words = kWords;
  call.in("node_start", args.node_start, node_start_);
  call.in("parent", args.parent, parent_);
  call.in("context_length", args.context_length, context_length_);
  const auto mask = call.out<std::uint64_t>("mask", args.mask, mask_.size());
  const auto position = call.out<std::int64_t>("position", args.position, position_.size());
  return kit::verified_lap(session, call, [&] {
    auto miss = mask_miss(mask.view(), mask_);
    return miss ? miss : list_miss("position", 0, position.view(), position_);
  });
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
