// SPDX-License-Identifier: Apache-2.0
#include "graders/kit/hidings.h"

#include <utility>

#include "graders/kit/inputs.h"

namespace gauntlet::kit {
namespace {

// Assignments tried where neither the simplest of all others nor one other class makes one valid.
constexpr int kTries = 150;

/// Gives the arguments that hide one of `kept` other classes.
Assignment unhidden(const Domain& domain, const Hidings& hidings, Rng& rng, std::uint64_t kept,
                    Assignment assignment) {
  if (hidings.shows(assignment, kept)) return assignment;
  for (std::size_t k = 0; k < domain.arguments.size(); ++k) {
    if ((kept & bit(k)) != 0 || (hidings.hidden(k, assignment.chosen(k)) & kept) == 0) continue;
    assignment = assignment.with(
        k, static_cast<std::size_t>(rng.integer(0, std::ssize(domain.arguments[k].classes) - 1)));
  }
  return assignment;
}

}  // namespace

std::uint64_t bits(std::initializer_list<std::size_t> arguments) {
  std::uint64_t all = 0;
  for (const std::size_t one : arguments) all |= bit(one);
  return all;
}

Hidings::Hidings(const std::vector<Argument>& arguments) {
  if (arguments.size() > 64) throw Broken(OwnFault::bug, "a domain of more than 64 arguments");
  for (const Argument& argument : arguments) {
    std::vector<std::uint64_t>& of_classes = hidden_.emplace_back();
    for (const ValueClass& one : argument.classes) {
      std::uint64_t& hidden = of_classes.emplace_back(one.hides_all ? ~std::uint64_t{0} : 0);
      for (const std::string& other : one.hides) hidden |= bit(place_of(arguments, other));
      hidden &= ~bit(hidden_.size() - 1);
    }
  }
}

Hiders Hidings::hiders(const Assignment& assignment) const {
  Hiders all(hidden_.size());
  for (std::size_t k = 0; k < hidden_.size(); ++k)
    if (const std::uint64_t hides = hidden(k, assignment.chosen(k)); hides != 0)
      for (std::size_t i = 0; i < all.size(); ++i)
        if ((hides & bit(i)) != 0) all[i] |= bit(k);
  return all;
}

bool Hidings::shows(const Assignment& assignment, std::uint64_t these) const {
  for (std::size_t k = 0; k < hidden_.size(); ++k)
    if ((these & bit(k)) == 0 && (hidden(k, assignment.chosen(k)) & these) != 0) return false;
  return true;
}

std::optional<Assignment> made_valid(const Domain& domain, const Hidings& hidings, Rng& rng,
                                     const Assignment& wanted, std::uint64_t kept) {
  const auto good = [&](const Assignment& tried) {
    return hidings.shows(tried, kept) && domain.valid(tried);
  };
  if (good(wanted)) return wanted;
  // What makes a class valid is mostly one other: each is tried.
  std::vector<std::pair<std::size_t, std::size_t>> others;
  for (std::size_t k = 0; k < domain.arguments.size(); ++k)
    for (std::size_t c = 0; c < domain.arguments[k].classes.size(); ++c)
      if ((kept & bit(k)) == 0 && !domain.arguments[k].classes[c].hides_all)
        others.emplace_back(k, c);
  rng.shuffle(others);
  for (const auto& [k, c] : others)
    if (Assignment tried = unhidden(domain, hidings, rng, kept, wanted).with(k, c); good(tried))
      return tried;
  for (int turn = 0; turn < kTries && !others.empty(); ++turn) {
    Assignment tried = unhidden(domain, hidings, rng, kept, wanted);
    for (int changes = 0; changes < 2 + turn * 3 / kTries; ++changes) {
      const auto& [k, c] = one_of(rng, others);
      tried = tried.with(k, c);
    }
    if (good(tried)) return tried;
  }
  return std::nullopt;
}

double drawn_share(Rng& rng) {
  return one_of(rng, {0.15, 0.4, 0.8});
}

Assignment varied(const Domain& domain, const Hidings& hidings, Rng& rng, Assignment made,
                  double share, std::uint64_t kept) {
  // Of the classes that hide all, for they ask little, and of those that are costly.
  constexpr double kSeldom = 0.2;
  for (const std::int64_t drawn : random_order(rng, std::ssize(domain.arguments))) {
    const auto k = static_cast<std::size_t>(drawn);
    const std::vector<ValueClass>& classes = domain.arguments[k].classes;
    const auto c = static_cast<std::size_t>(rng.integer(0, std::ssize(classes) - 1));
    const bool seldom = classes[c].hides_all || classes[c].costly;
    if (!rng.chance(seldom ? share * kSeldom : share)) continue;
    if ((kept & bit(k)) != 0 || (hidings.hidden(k, c) & kept) != 0) continue;
    if (Assignment tried = made.with(k, c); domain.valid(tried)) made = std::move(tried);
  }
  return made;
}

}  // namespace gauntlet::kit
