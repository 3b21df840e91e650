#pragma once

namespace gauntlet::GAUNTLET_CHALLENGE {

/// Unit roundoff of float32.
constexpr double kUnit = 0x1p-24;

/// How many roundings of its own terms an element may be off: see ACCURACY in the contract. The
/// worst case of a float32 sum grows with its length, its actual error hardly does.
constexpr double kRoundings = 32;

/// Sums over whole tensors: relative to the sum of the absolute values of their terms.
constexpr double kIdentity = 1e-5;

/// What a weight may lose to underflow: exp(s - lse) below the normal range of float32 may be 0.
constexpr double kUnderflow = 1e-30;

/// What any element that is not plainly 0 may be off besides: products of small numbers underflow
/// too.
constexpr double kSmallest = 1e-36;

}  // namespace gauntlet::GAUNTLET_CHALLENGE
