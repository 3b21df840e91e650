// SPDX-License-Identifier: Apache-2.0
#include "tests/peers/comparison.h"

#include <algorithm>
#include <cmath>

namespace gauntlet::peers {
namespace {

/// Written so that a NaN is off.
bool close(const Peer& peer, const Regime& regime, double got, double want) {
  const double error = std::abs(got - want);
  if (peer.rule == Peer::Rule::both_in_one)
    return error <= regime.atol + regime.rtol * std::abs(want);
  return error <= regime.atol || error <= regime.rtol * (std::abs(want) + 1e-8);
}

}  // namespace

bool accepts(const Peer& peer, const Regime& regime, const Part& part) {
  const std::vector<double>& want = *part.want;
  if (part.got.size() != want.size()) return false;
  const auto special = [](float number) { return !std::isfinite(number); };
  if (peer.refuses_special && std::ranges::any_of(part.got, special)) return false;
  const auto zero = [](double number) { return number == 0; };
  if (peer.refuses_zeros && std::ranges::all_of(part.got, zero) && !std::ranges::all_of(want, zero))
    return false;
  std::size_t off = 0;
  for (std::size_t i = 0; i < want.size(); ++i)
    // As they store it: their right answers are floats.
    off += close(peer, regime, part.got[i], static_cast<float>(want[i])) ? 0 : 1;
  return want.empty() ||
         1 - static_cast<double>(off) / static_cast<double>(want.size()) >= peer.matched;
}

}  // namespace gauntlet::peers
