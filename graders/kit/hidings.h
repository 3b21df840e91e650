// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "graders/kit/domain.h"
#include "harness/core/error.h"

/// What the classes of a domain hide of each other, and how an assignment is made of wanted classes
/// so that none of them is hidden. Arguments are bits of a number here; a domain has 64 at most.
namespace gauntlet::kit {

inline std::uint64_t bit(std::size_t argument) {
  return std::uint64_t{1} << argument;
}
std::uint64_t bits(std::initializer_list<std::size_t> arguments);

/// Of an argument among others, or of a class. Unknown names throw Broken.
template <class Named>
std::size_t place_of(const std::vector<Named>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &Named::name);
  if (found == all.end()) throw Broken(OwnFault::bug, "the domain has no `" + name + "`");
  return static_cast<std::size_t>(found - all.begin());
}

/// For each argument of an assignment, the arguments whose class hides it.
using Hiders = std::vector<std::uint64_t>;

/// What the classes of a domain hide; made of nothing, they hide nothing.
class Hidings {
 public:
  Hidings() = default;
  explicit Hidings(const std::vector<Argument>& arguments);

  /// The arguments that class c of argument k hides.
  std::uint64_t hidden(std::size_t k, std::size_t c) const { return hidden_[k][c]; }

  Hiders hiders(const Assignment& assignment) const;

  /// No other argument hides one of these.
  bool shows(const Assignment& assignment, std::uint64_t these) const;

 private:
  std::vector<std::vector<std::uint64_t>> hidden_;
};

/// The assignment, or one that is valid, agrees with it in the arguments `kept`, and hides none of
/// them.
std::optional<Assignment> made_valid(const Domain& domain, const Hidings& hidings, Rng& rng,
                                     const Assignment& wanted, std::uint64_t kept);

/// Of the arguments whose class is drawn: in some assignments few, in some many.
double drawn_share(Rng& rng);

/// Classes drawn for some arguments, each with the chance `share`; those `kept` stay, unhidden.
Assignment varied(const Domain& domain, const Hidings& hidings, Rng& rng, Assignment made,
                  double share, std::uint64_t kept);

}  // namespace gauntlet::kit
