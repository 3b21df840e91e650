// SPDX-License-Identifier: Apache-2.0
#include "graders/kit/assignments.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "graders/kit/hidings.h"
#include "graders/kit/inputs.h"
#include "harness/core/error.h"

namespace gauntlet::kit {
namespace {

/// No third argument hides one of the two.
bool shown(const Hiders& hiders, std::size_t i, std::size_t j) {
  return ((hiders[i] & ~bit(j)) | (hiders[j] & ~bit(i))) == 0;
}

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
  void close_all(const Assignment& assignment, const Hiders& hiders) {
    for (std::size_t i = 0; i < arguments_.size(); ++i)
      for (std::size_t j = i + 1; j < arguments_.size(); ++j)
        if (shown(hiders, i, j)) close(i, assignment.chosen(i), j, assignment.chosen(j));
  }

 private:
  const std::vector<Argument>& arguments_;
  std::vector<std::size_t> first_;  // class of an argument, counted through all of them
  std::size_t classes_ = 0;
  std::vector<char> open_;
};

struct Pair {
  std::size_t i, a, j, b;
};

/// The domain's assignments, one after the other: a pair that is still open, and whatever else can
/// stand beside it and leaves the fewest pairs open.
class Covering {
 public:
  Covering(const Domain& domain, Rng& rng)
      : domain_(domain),
        rng_(rng),
        hidings_(domain.arguments),
        open_(domain.arguments),
        made_{Assignment(domain.arguments)} {
    if (!domain.valid(made_[0])) throw Broken(OwnFault::bug, "the simplest case is not valid");
    add_corners(domain, domain.corners, made_);
    for (const Assignment& one : made_) open_.close_all(one, hidings_.hiders(one));
  }

  std::vector<Assignment> all() {
    for (const Pair& pair : pairs()) {
      if (!open_.is_open(pair.i, pair.a, pair.j, pair.b)) continue;
      std::optional<Assignment> assignment = holding(pair);
      if (!assignment) continue;  // these two do not go together
      fill(*assignment, pair);
      open_.close_all(*assignment, hidings_.hiders(*assignment));
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
    return made_valid(domain_, hidings_, rng_, simple.with(pair.i, pair.a).with(pair.j, pair.b),
                      bits({pair.i, pair.j}));
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

  /// Gives argument k the class that closes most pairs with those that are decided, and does not
  /// hide the first two of them.
  void choose(Assignment& assignment, std::size_t k, const std::vector<std::size_t>& decided) {
    const Hiders hiders = hidings_.hiders(assignment);
    const std::vector<ValueClass>& classes = domain_.arguments[k].classes;
    std::vector<std::pair<std::int64_t, std::size_t>> gains;  // with the class
    for (const std::int64_t drawn : random_order(rng_, std::ssize(classes))) {
      const auto c = static_cast<std::size_t>(drawn);
      const std::uint64_t hidden = hidings_.hidden(k, c);
      if (classes[c].hides_all || (hidden & bits({decided[0], decided[1]})) != 0) continue;
      std::int64_t gain = 0;
      for (const std::size_t i : decided) {
        if (shown(hiders, k, i) && open_.is_open(k, c, i, assignment.chosen(i))) ++gain;
        if ((hidden & bit(i)) != 0) gain -= open_pairs(assignment, hiders, i, decided);
      }
      // The last of its pairs begin assignments of their own.
      if (classes[c].costly && gain < std::ssize(decided) * 3 / 4) continue;
      if (gain > 0) gains.emplace_back(gain, c);
    }
    std::ranges::stable_sort(gains, std::greater(), &std::pair<std::int64_t, std::size_t>::first);
    for (const auto& [gain, c] : gains)
      if (Assignment tried = assignment.with(k, c); domain_.valid(tried)) {
        assignment = std::move(tried);
        return;
      }
  }

  /// Those of argument i that the decided ones would close as they are.
  std::int64_t open_pairs(const Assignment& assignment, const Hiders& hiders, std::size_t i,
                          const std::vector<std::size_t>& decided) const {
    return std::ranges::count_if(decided, [&](std::size_t j) {
      return j != i && shown(hiders, i, j) &&
             open_.is_open(i, assignment.chosen(i), j, assignment.chosen(j));
    });
  }

  const Domain& domain_;
  Rng& rng_;
  Hidings hidings_;
  OpenPairs open_;
  std::vector<Assignment> made_;
};

/// Assignments drawn one after the other, so that no class is left to chance.
class Drawn {
 public:
  Drawn(const Domain& domain, Rng& rng) : domain_(domain), rng_(rng), hidings_(domain.arguments) {
    for (std::size_t k = 0; k < domain.arguments.size(); ++k)
      for (std::size_t c = 0; c < domain.arguments[k].classes.size(); ++c)
        classes_.push_back({k, c, domain.arguments[k].classes[c].hides_all ? kEnough - 1 : 0});
    rng.shuffle(classes_);
  }

  Assignment next() {
    const double share = drawn_share(rng_);
    const Assignment simple(domain_.arguments);
    Seen& rarest = *std::ranges::min_element(classes_, {}, &Seen::times);
    if (rarest.times >= kEnough) return varied(domain_, hidings_, rng_, simple, share, 0);
    const auto made =
        made_valid(domain_, hidings_, rng_, simple.with(rarest.argument, rarest.value_class),
                   bit(rarest.argument));
    if (!made) rarest.times = kEnough;  // it goes beside nothing
    return made ? varied(domain_, hidings_, rng_, *made, share, bit(rarest.argument))
                : varied(domain_, hidings_, rng_, simple, share, 0);
  }

  /// What is asked of it.
  void count(const Assignment& made) {
    const Hiders hiders = hidings_.hiders(made);
    for (Seen& one : classes_)
      if (made.chosen(one.argument) == one.value_class && hiders[one.argument] == 0) ++one.times;
  }

 private:
  static constexpr int kEnough = 5;  // of each class, where there are hundreds of assignments

  struct Seen {
    std::size_t argument, value_class;
    int times;
  };

  const Domain& domain_;
  Rng& rng_;
  Hidings hidings_;
  std::vector<Seen> classes_;
};

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
  Drawn drawn(domain, rng);
  std::vector<Assignment> made;
  for (std::size_t turn = 0; turn < 4 * count && made.size() < count; ++turn) {
    Assignment next = drawn.next();
    drawn.count(next);
    if (std::ranges::find(made, next) == made.end()) made.push_back(std::move(next));
  }
  return made;
}

std::vector<Assignment> assignments_with(const Domain& domain, Rng& rng,
                                         const std::vector<Together>& wanted, std::size_t count) {
  const Hidings hidings(domain.arguments);
  std::vector<Together> left = wanted;
  rng.shuffle(left);
  std::vector<Assignment> made;
  constexpr int kTurns = 12;
  for (int turn = 0; turn < kTurns && !left.empty(); ++turn)
    std::erase_if(left, [&](const Together& together) {
      if (made.size() >= count) return true;
      Assignment next(domain.arguments);
      std::uint64_t kept = 0;
      for (const auto& [argument, value_class] : together) {
        next = next.with(argument, value_class);
        kept |= bit(argument);
      }
      const auto valid = made_valid(domain, hidings, rng, next, kept);
      if (!valid) return true;  // it goes beside nothing
      next = varied(domain, hidings, rng, *valid, drawn_share(rng), kept);
      if (std::ranges::find(made, next) == made.end()) made.push_back(std::move(next));
      return false;
    });
  return made;
}

std::vector<Assignment> combinations(const Domain& domain, const Corner& corner) {
  std::vector<Assignment> all{Assignment(domain.arguments)};
  for (const Classes& some : corner) {
    const std::size_t k = place_of(domain.arguments, some.argument);
    const std::vector<ValueClass>& classes = domain.arguments[k].classes;
    std::vector<std::size_t> places;
    for (const std::string& name : some.names) places.push_back(place_of(classes, name));
    for (std::size_t c = 0; some.names.empty() && c < classes.size(); ++c) places.push_back(c);
    std::vector<Assignment> longer;
    for (const Assignment& one : all)
      for (const std::size_t c : places) longer.push_back(one.with(k, c));
    all = std::move(longer);
  }
  std::erase_if(all, [&](const Assignment& one) { return !domain.valid(one); });
  return all;
}

void add_corners(const Domain& domain, const std::vector<Corner>& corners,
                 std::vector<Assignment>& all) {
  for (const Corner& corner : corners)
    for (Assignment& one : combinations(domain, corner))
      if (std::ranges::find(all, one) == all.end()) all.push_back(std::move(one));
}

std::vector<Assignment> each_class_once(const Domain& domain, Rng& rng) {
  const Assignment simple = simplest(domain);
  std::vector<std::pair<std::size_t, std::size_t>> todo;  // an argument and its class
  for (std::size_t k = 0; k < domain.arguments.size(); ++k)
    for (std::size_t c = 0; c < domain.arguments[k].classes.size(); ++c)
      if (c != simple.chosen(k)) todo.emplace_back(k, c);
  rng.shuffle(todo);
  // Those that hide all begin: what is valid beside nothing else joins them.
  std::stable_partition(todo.begin(), todo.end(), [&](auto one) {
    return !domain.arguments[one.first].classes[one.second].hides_all;
  });
  std::vector<Assignment> made{simple};
  while (!todo.empty()) {
    const auto [first, its_class] = todo.back();
    todo.pop_back();
    auto next = made_valid(domain, {}, rng, simple.with(first, its_class), bit(first));
    if (!next) continue;  // it goes beside nothing
    std::vector<bool> taken(domain.arguments.size());
    taken[first] = true;
    std::erase_if(todo, [&](const auto& one) {
      const auto& [k, c] = one;
      if (taken[k] || !domain.valid(next->with(k, c))) return false;
      next = next->with(k, c);
      taken[k] = true;
      return true;
    });
    made.push_back(*std::move(next));
  }
  return made;
}

}  // namespace gauntlet::kit
