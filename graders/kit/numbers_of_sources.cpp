// SPDX-License-Identifier: Apache-2.0
#include "graders/kit/numbers_of_sources.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "graders/kit/hidings.h"
#include "graders/kit/inputs.h"
#include "harness/worker/session.h"

namespace gauntlet::kit {
namespace {

constexpr double kNeighbours = 3;  // in a class that asks each of its integers often
// Smaller ones are classes of their own, of which a domain may say that they need something: no
// class of ours holds both 1 and 2.
constexpr std::int64_t kLeastNumber = 8;
// Of any size of call: a worker has no room for many more, and teams may be offered.
constexpr double kMostThreads = 200;
static_assert(kMostThreads < kOfferedTeam);
constexpr std::int64_t kLeastProduct = 256;  // smaller ones are met in most cases

bool is_numeric(const ValueClass& one) {
  return one.name ==
         sized(static_cast<std::int64_t>(one.least), static_cast<std::int64_t>(one.most)).name;
}

/// Adds classes to one argument of a domain.
class Sizes {
 public:
  Sizes(Domain& domain, std::size_t argument) : argument_(domain.arguments[argument]) {
    if (std::ranges::find(domain.any_integer, argument_.name) == domain.any_integer.end()) return;
    for (const ValueClass& one : argument_.classes) {
      if (!is_numeric(one)) continue;
      least_ = most_ ? std::min(least_, one.least) : one.least;
      most_ = std::max(most_.value_or(one.most), one.most);
      if (one.costly) costly_ = std::min(costly_.value_or(one.least), one.least);
    }
    if (most_ && argument_.name.ends_with("threads")) most_ = std::min(*most_, kMostThreads);
  }

  /// The place of a class of these integers, as far as they may be asked; a new one where there is
  /// none that is as small. None where none of them may be asked.
  std::optional<std::size_t> place_of(std::int64_t least, std::int64_t most) {
    if (!most_) return std::nullopt;
    least = std::max(least, static_cast<std::int64_t>(least_));
    most = std::min(most, static_cast<std::int64_t>(*most_));
    if (least > most) return std::nullopt;
    const ValueClass wanted = sized(least, most);
    std::vector<ValueClass>& classes = argument_.classes;
    const auto known = std::ranges::find_if(classes, [&](const ValueClass& one) {
      return is_numeric(one) && one.least <= wanted.least && wanted.most <= one.most &&
             one.most - one.least < kNeighbours;
    });
    if (known != classes.end()) return static_cast<std::size_t>(known - classes.begin());
    classes.push_back(wanted);
    classes.back().costly = costly_ && wanted.most >= *costly_;
    return classes.size() - 1;
  }

  /// One of the integers of its classes, but for 0 and 1, which make no product.
  std::optional<std::int64_t> factor(Rng& rng) const {
    if (!most_) return std::nullopt;
    std::vector<std::int64_t> all;
    for (const ValueClass& one : argument_.classes)
      if (is_numeric(one) && one.least >= 2) all.push_back(static_cast<std::int64_t>(one.least));
    return all.empty() ? std::nullopt : std::optional(one_of(rng, all));
  }

 private:
  Argument& argument_;
  double least_ = 0;
  std::optional<double> most_;
  std::optional<double> costly_;
};

void add_sizes(NumberedDomain& numbered, std::span<const std::int64_t> numbers) {
  for (std::size_t k = 0; k < numbered.domain.arguments.size(); ++k) {
    Sizes sizes(numbered.domain, k);
    const std::vector<ValueClass>& classes = numbered.domain.arguments[k].classes;
    const std::size_t old_classes = classes.size();
    for (const std::int64_t number : numbers) {
      if (number < kLeastNumber) continue;
      sizes.place_of(number - 1, number + 1);
      sizes.place_of(2 * number, 2 * number + 1);
    }
    for (std::size_t c = old_classes; c < classes.size(); ++c) numbered.sizes.push_back({{k, c}});
  }
}

void add_products(NumberedDomain& numbered, std::span<const std::int64_t> numbers, Rng& rng) {
  const std::size_t arguments = numbered.domain.arguments.size();
  for (std::size_t i = 0; i < arguments; ++i)
    for (std::size_t j = i + 1; j < arguments; ++j) {
      const bool turned = rng.chance(0.5);
      const std::size_t first = turned ? j : i, second = turned ? i : j;
      Sizes of_first(numbered.domain, first), of_second(numbered.domain, second);
      for (const std::int64_t number : numbers) {
        const auto factor = of_first.factor(rng);
        if (number < kLeastProduct || !factor) continue;
        const std::int64_t other = number / *factor;
        if (other < kLeastNumber) continue;
        const auto a = of_first.place_of(*factor, *factor);
        const auto b = of_second.place_of(other, other + 1);
        if (a && b) numbered.products.push_back({{first, *a}, {second, *b}});
      }
    }
}

}  // namespace

NumberedDomain with_numbers(Domain domain, std::span<const std::int64_t> numbers, Rng& rng) {
  for (const std::string& name : domain.any_integer) place_of(domain.arguments, name);
  NumberedDomain numbered{std::move(domain), {}, {}};
  add_sizes(numbered, numbers);
  add_products(numbered, numbers, rng);
  return numbered;
}

std::vector<Assignment> assignments_of_numbers(const NumberedDomain& numbered, Rng& rng,
                                               std::size_t count) {
  std::vector<Assignment> all =
      assignments_with(numbered.domain, rng, numbered.products, count / 4);
  for (Assignment& one : assignments_with(numbered.domain, rng, numbered.sizes, count - all.size()))
    if (std::ranges::find(all, one) == all.end()) all.push_back(std::move(one));
  return all;
}

}  // namespace gauntlet::kit
