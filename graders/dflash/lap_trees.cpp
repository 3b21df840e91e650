#include "lap_trees.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "graders/kit/inputs.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

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
    top = std::nextafter(top, std::numeric_limits<float>::infinity());
    logits[static_cast<std::size_t>(place)] = top;
  }
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
