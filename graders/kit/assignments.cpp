// SPDX-License-Identifier: Apache-2.0
#include "graders/kit/assignments.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "graders/kit/inputs.h"
#include "harness/core/error.h"

namespace gauntlet::kit {
namespace {

// Assignments that are tried for classes that are not valid beside the simplest of all others.
constexpr int kTries = 200;

/// The pairs of classes that no assignment contains yet.
class OpenPairs {
 public:
  explicit OpenPairs(const std::vector<Argument>& arguments) : arguments_(arguments) {
    for (const Argument& argument : arguments) {
      first_.push_back(classes_);
      classes_ += argument.classes.size();
    }
    open_.assign(classes_ * classes_, 1);
  }

  bool is_open(std::size_t i, std::size_t a, std::size_t j, std::size_t b) const {
    return open_[(first_[std::min(i, j)] + (i < j ? a : b)) * classes_ + first_[std::max(i, j)] +
                 (i < j ? b : a)] != 0;
  }
  void close(std::size_t i, std::size_t a, std::size_t j, std::size_t b) {
    open_[(first_[i] + a) * classes_ + first_[j] + b] = 0;
  }

  /// What an assignment asks is asked, but for what it hides.
  void close_all(const Assignment& assignment) {
    std::vector<std::size_t> hiding;
    for (std::size_t i = 0; i < arguments_.size(); ++i)
      if (assignment.hides(i)) hiding.push_back(i);
    for (std::size_t i = 0; i < arguments_.size(); ++i)
      for (std::size_t j = i + 1; j < arguments_.size(); ++j)
        if (std::ranges::all_of(hiding, [&](std::size_t k) { return k == i || k == j; }))
          close(i, assignment.chosen(i), j, assignment.chosen(j));
  }

 private:
  const std::vector<Argument>& arguments_;
  std::vector<std::size_t> first_;  // class of an argument, counted through all of them
  std::size_t classes_ = 0;
  std::vector<char> open_;
};

/// The assignment, or one that is valid and agrees with it in the arguments `kept`, and hides none
/// of them.
std::optional<Assignment> made_valid(const Domain& domain, Rng& rng, const Assignment& wanted,
                                     std::initializer_list<std::size_t> kept) {
  if (domain.valid(wanted)) return wanted;
  for (int turn = 0; turn < kTries; ++turn) {
    Assignment tried = wanted;
    // Few others are changed at first: what makes a class valid is mostly one other.
    for (int changes = 0; changes <= turn * 4 / kTries; ++changes) {
      const auto k = static_cast<std::size_t>(rng.integer(0, std::ssize(domain.arguments) - 1));
      const auto& classes = domain.arguments[k].classes;
      const auto c = static_cast<std::size_t>(rng.integer(0, std::ssize(classes) - 1));
      if (std::ranges::find(kept, k) == kept.end() && !classes[c].hides) tried = tried.with(k, c);
    }
    if (domain.valid(tried)) return tried;
  }
  return std::nullopt;
}

struct Pair {
  std::size_t i, a, j, b;
};

/// The domain's assignments, one after the other: a pair that is still open, and whatever else can
/// stand beside it and leaves the fewest pairs open.
class Covering {
 public:
  Covering(const Domain& domain, Rng& rng)
      : domain_(domain), rng_(rng), open_(domain.arguments), made_{Assignment(domain.arguments)} {
    if (!domain.valid(made_[0])) throw Broken(OwnFault::bug, "the simplest case is not valid");
    open_.close_all(made_[0]);
  }

  std::vector<Assignment> all() {
    for (const Pair& pair : pairs()) {
      if (!open_.is_open(pair.i, pair.a, pair.j, pair.b)) continue;
      std::optional<Assignment> assignment = holding(pair);
      if (!assignment) continue;  // these two do not go together
      fill(*assignment, pair);
      open_.close_all(*assignment);
      made_.push_back(*std::move(assignment));
    }
    return std::move(made_);
  }

 private:
  std::vector<Pair> pairs() {
    std::vector<Pair> all;
    const auto& arguments = domain_.arguments;
    for (std::size_t i = 0; i < arguments.size(); ++i)
      for (std::size_t j = i + 1; j < arguments.size(); ++j)
        for (std::size_t a = 0; a < arguments[i].classes.size(); ++a)
          for (std::size_t b = 0; b < arguments[j].classes.size(); ++b) all.push_back({i, a, j, b});
    rng_.shuffle(all);
    return all;
  }

  /// A valid assignment with the pair, which hides none of it.
  std::optional<Assignment> holding(const Pair& pair) {
    const Assignment simple(domain_.arguments);
    return made_valid(domain_, rng_, simple.with(pair.i, pair.a).with(pair.j, pair.b),
                      {pair.i, pair.j});
  }

  void fill(Assignment& assignment, const Pair& pair) {
    std::vector<std::size_t> decided{pair.i, pair.j};
    for (const std::int64_t drawn : random_order(rng_, std::ssize(domain_.arguments))) {
      const auto k = static_cast<std::size_t>(drawn);
      if (k == pair.i || k == pair.j) continue;
      choose(assignment, k, decided);
      decided.push_back(k);
    }
  }

  /// Gives argument k the class that closes most pairs with those that are decided.
  void choose(Assignment& assignment, std::size_t k, const std::vector<std::size_t>& decided) {
    const std::vector<ValueClass>& classes = domain_.arguments[k].classes;
    std::vector<std::pair<std::size_t, std::size_t>> gains;  // with the class
    for (const std::int64_t drawn : random_order(rng_, std::ssize(classes))) {
      const auto c = static_cast<std::size_t>(drawn);
      std::size_t gain = 0;
      for (const std::size_t i : decided)
        if (open_.is_open(k, c, i, assignment.chosen(i))) ++gain;
      if (gain > 0 && !classes[c].hides) gains.emplace_back(gain, c);
    }
    std::ranges::stable_sort(gains, std::greater(), &std::pair<std::size_t, std::size_t>::first);
    for (const auto& [gain, c] : gains)
      if (Assignment tried = assignment.with(k, c); domain_.valid(tried)) {
        assignment = std::move(tried);
        return;
      }
  }

  const Domain& domain_;
  Rng& rng_;
  OpenPairs open_;
  std::vector<Assignment> made_;
};

/// The simplest assignment with classes drawn for some arguments, each with the chance `share`.
Assignment random_assignment(const Domain& domain, Rng& rng, double share) {
  constexpr double kHiding = 0.2;  // of the classes that hide: they ask little
  Assignment made(domain.arguments);
  for (const std::int64_t drawn : random_order(rng, std::ssize(domain.arguments))) {
    const auto k = static_cast<std::size_t>(drawn);
    const auto c =
        static_cast<std::size_t>(rng.integer(0, std::ssize(domain.arguments[k].classes) - 1));
    const bool rare = domain.arguments[k].classes[c].hides;
    if (!rng.chance(rare ? share * kHiding : share)) continue;
    if (Assignment tried = made.with(k, c); domain.valid(tried)) made = std::move(tried);
  }
  return made;
}

/// The simplest assignment that is valid, but for one argument where it has to be.
Assignment simplest(const Domain& domain) {
  const Assignment simple(domain.arguments);
  if (domain.valid(simple)) return simple;
  for (std::size_t k = 0; k < domain.arguments.size(); ++k)
    for (std::size_t c = 1; c < domain.arguments[k].classes.size(); ++c)
      if (domain.valid(simple.with(k, c))) return simple.with(k, c);
  throw Broken(OwnFault::bug, "the domain has no simple assignment that is valid");
}

}  // namespace

std::vector<Assignment> covering_assignments(const Domain& domain, Rng& rng) {
  return Covering(domain, rng).all();
}

std::vector<Assignment> random_assignments(const Domain& domain, Rng& rng, std::size_t count) {
  std::vector<Assignment> made;
  for (std::size_t turn = 0; turn < 4 * count && made.size() < count; ++turn) {
    Assignment next = random_assignment(domain, rng, one_of(rng, {0.15, 0.4, 0.8}));
    if (std::ranges::find(made, next) == made.end()) made.push_back(std::move(next));
  }
  return made;
}

std::vector<Assignment> each_class_once(const Domain& domain, Rng& rng) {
  const Assignment simple = simplest(domain);
  std::vector<std::pair<std::size_t, std::size_t>> todo;  // an argument and its class
  for (std::size_t k = 0; k < domain.arguments.size(); ++k)
    for (std::size_t c = 0; c < domain.arguments[k].classes.size(); ++c)
      if (c != simple.chosen(k)) todo.emplace_back(k, c);
  rng.shuffle(todo);
  std::vector<Assignment> made{simple};
  while (!todo.empty()) {
    const auto [first, its_class] = todo.back();
    todo.pop_back();
    auto next = made_valid(domain, rng, simple.with(first, its_class), {first});
    if (!next) continue;  // it goes beside nothing
    std::vector<bool> taken(domain.arguments.size());
    taken[first] = true;
    std::erase_if(todo, [&](const auto& one) {
      const auto& [k, c] = one;
      if (taken[k]) return false;
      const Assignment tried = next->with(k, c);
      if (!domain.valid(tried)) return false;
      next = tried;
      taken[k] = true;
      return true;
    });
    made.push_back(*std::move(next));
  }
  return made;
}

}  // namespace gauntlet::kit
