#include "lap_trees.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gauntlet::GAUNTLET_CHALLENGE {

LapTrees::LapTrees(const Sizes& sizes, Rng& rng) : sizes_(sizes) {
  for (std::int64_t t = 1; t <= sizes.trees; ++t) node_start_.push_back(t * sizes.nodes);
  noise_.resize(static_cast<std::size_t>(2 * sizes.vocab));
  for (std::int64_t j = 0; j < sizes.vocab; ++j)
    noise_[static_cast<std::size_t>(j)] = static_cast<float>(rng.normal());
  std::copy_n(noise_.begin(), sizes.vocab, noise_.begin() + sizes.vocab);  // rotations are windows
  logits_.resize(static_cast<std::size_t>(sizes.trees * (sizes.nodes + 1) * sizes.vocab));
}

void LapTrees::renew(Rng& rng) {
  parent_.clear();
  token_.clear();
  winners_.clear();
  walks_.clear();
  for (std::int64_t t = 0; t < sizes_.trees; ++t) draw_tree(rng);
  for (std::size_t row = 0; row < winners_.size(); ++row)
    write_row(static_cast<std::int64_t>(row), winners_[row], rng);
}

/// Accepted nodes lie anywhere among rejected ones, which are right by their own parents.
void LapTrees::draw_tree(Rng& rng) {
  const std::size_t first_row = winners_.size();
  for (std::int64_t row = 0; row <= sizes_.nodes; ++row)
    winners_.push_back(static_cast<std::int32_t>(rng.integer(0, sizes_.vocab - 1)));
  const auto winner = [&](std::int64_t node) {
    return winners_[first_row + static_cast<std::size_t>(node + 1)];
  };
  std::vector<std::int64_t> chosen;  // nodes of the accepted path, ascending
  while (std::ssize(chosen) < sizes_.correct)
    if (const std::int64_t node = rng.integer(0, sizes_.nodes - 1);
        std::ranges::find(chosen, node) == chosen.end())
      chosen.push_back(node);
  std::ranges::sort(chosen);
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
    const auto above = static_cast<std::int32_t>(rng.integer(-1, node - 1));
    const bool on_path = above < 0 || std::ranges::find(chosen, above) != chosen.end();
    parent_.push_back(above);
    token_.push_back(
        on_path ? static_cast<std::int32_t>((winner(above) + rng.integer(1, 9)) % sizes_.vocab)
                : winner(above));
  }
  walk.emit.push_back(winner(tip));
  walks_.push_back(std::move(walk));
}

void LapTrees::write_row(std::int64_t row, std::int32_t winner, Rng& rng) {
  float* logits = logits_.data() + row * sizes_.vocab;
  const float* noise = noise_.data() + rng.integer(0, sizes_.vocab);
  const auto scale = static_cast<float>(rng.uniform(0.5, 2));
  const auto offset = static_cast<float>(rng.uniform(-20, 20));
  for (std::int64_t j = 0; j < sizes_.vocab; ++j) logits[j] = offset + scale * noise[j];
  const float top = *std::max_element(logits, logits + sizes_.vocab);
  logits[winner] = std::nextafter(top, std::numeric_limits<float>::infinity());
}

double LapTrees::bytes_on_path() const {
  return 4.0 * static_cast<double>(sizes_.vocab * sizes_.trees * (sizes_.correct + 1));
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
