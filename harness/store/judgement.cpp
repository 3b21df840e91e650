// SPDX-License-Identifier: Apache-2.0
#include "harness/store/judgement.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "harness/core/error.h"

namespace gauntlet {
namespace {

constexpr std::array<std::pair<std::string_view, double>, 12> kLetterPoints{{{"A", 4.0},
                                                                             {"A-", 3.7},
                                                                             {"B+", 3.3},
                                                                             {"B", 3.0},
                                                                             {"B-", 2.7},
                                                                             {"C+", 2.3},
                                                                             {"C", 2.0},
                                                                             {"C-", 1.7},
                                                                             {"D+", 1.3},
                                                                             {"D", 1.0},
                                                                             {"D-", 0.7},
                                                                             {"F", 0.0}}};

template <class Item>
const Item& with_id(const std::vector<Item>& items, const std::string& id) {
  const auto found =
      std::find_if(items.begin(), items.end(), [&](const Item& item) { return item.id == id; });
  if (found == items.end())
    throw Broken(OwnFault::bug, fmt::format("a judgement was read without its '{}'", id));
  return *found;
}

}  // namespace

int Judgement::Grade::number() const {
  int number = 0;
  for (const char c : place)
    if (c >= '0' && c <= '9') number = number * 10 + (c - '0');
  return number;
}

const Judgement::Document& Judgement::document(const std::string& id) const {
  return with_id(documents, id);
}

const std::string& Judgement::name_of(const std::string& model) const {
  return with_id(models, model).name;
}

const Judgement::Challenge& Judgement::challenge(const std::string& id) const {
  return with_id(challenges, id);
}

const Judgement::Grade* Judgement::find(const std::string& model,
                                        const std::string& challenge) const {
  for (const Grade& grade : grades)
    if (grade.model == model && grade.challenge == challenge) return &grade;
  return nullptr;
}

std::optional<double> letter_points(std::string_view letter) {
  for (const auto& [name, points] : kLetterPoints)
    if (name == letter) return points;
  return std::nullopt;
}

std::vector<std::string> nearest_letters(double points) {
  constexpr double kRounding = 1e-9;  // of a mean of tenths
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [name, value] : kLetterPoints) least = std::min(least, std::abs(value - points));
  std::vector<std::string> letters;
  for (const auto& [name, value] : kLetterPoints)
    if (std::abs(value - points) <= least + kRounding) letters.emplace_back(name);
  return letters;
}

}  // namespace gauntlet
