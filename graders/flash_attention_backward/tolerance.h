#pragma once

#include <vector>

namespace gauntlet::GAUNTLET_CHALLENGE {

/// Unit roundoff of float32.
constexpr double kUnit = 0x1p-24;

/// How many roundings of its own terms an element may be off: see ACCURACY in the contract. A
/// score is off by some u M, so its weight by that share of itself; dP and delta by some u of the
/// sizes of their terms. The worst case of a float32 sum grows with its length, its actual error
/// hardly does. Honest variants, the textbook and the reference use up to 0.2 of it where 2400
/// queries are summed one after the other, up to 0.13 elsewhere and mostly 0.05.
constexpr double kRoundings = 32;

/// Sums over whole tensors: relative to the sum of the sizes of their terms, most of whose errors
/// cancel. Honest variants use up to 0.03 of it.
constexpr double kIdentity = 2e-6;

/// What a weight may lose to underflow: exp(s - lse) below the normal range of float32 may be 0.
constexpr double kUnderflow = 1e-30;

/// What any element that is not plainly 0 may be off besides: products of small numbers underflow
/// too.
constexpr double kSmallest = 1e-36;

/// How far each element may be off, from the oracle's bounds. A bound of 0 asks for 0.
inline std::vector<double> allowed_for(std::vector<double> bounds) {
  for (double& bound : bounds) bound = bound > 0 ? kRoundings * kUnit * bound + kSmallest : 0;
  return bounds;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
