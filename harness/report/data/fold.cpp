// SPDX-License-Identifier: Apache-2.0
#include "harness/report/data/fold.h"

#include <algorithm>
#include <string>

namespace gauntlet {
namespace {

constexpr const char* kEach = "each";
constexpr const char* kSome = "some";
constexpr const char* kHave = "have";
constexpr const char* kKinds = "kinds";
constexpr const char* kWhich = "which";

bool is_list_of_objects(const Json& value) {
  return value.is_array() && !value.empty() &&
         std::all_of(value.begin(), value.end(), [](const Json& one) { return one.is_object(); });
}

Json by_number(const Json& list) {
  Json object = Json::object();
  for (std::size_t i = 0; i < list.size(); ++i) object[std::to_string(i)] = list[i];
  return object;
}

bool is_by_number(const Json& object) {
  std::size_t next = 0;
  for (const auto& item : object.items())
    if (item.key() != std::to_string(next++)) return false;
  return next > 0;
}

Json fold_objects(const std::vector<const Json*>& objects) {
  Json folded = Json::object();
  for (const Json* object : objects)
    for (const auto& item : object->items()) {
      if (folded.contains(item.key())) continue;
      std::vector<const Json*> values;
      for (const Json* other : objects)
        values.push_back(other->contains(item.key()) ? &other->at(item.key()) : nullptr);
      folded[item.key()] = fold(values);
    }
  return folded;
}

Json fold_lists(const std::vector<const Json*>& lists) {
  std::vector<Json> numbered;
  std::vector<const Json*> objects;
  for (const Json* list : lists) numbered.push_back(by_number(*list));
  for (const Json& object : numbered) objects.push_back(&object);
  return fold_objects(objects);
}

/// All values, or each one once with the numbers of those that are meant.
Json shorter_of_both(const std::vector<const Json*>& values) {
  Json each = Json::array();
  Json kinds = Json::array();
  Json which = Json::array();
  for (const Json* value : values) {
    const auto known = std::find(kinds.begin(), kinds.end(), *value);
    which.push_back(known - kinds.begin());
    if (known == kinds.end()) kinds.push_back(*value);
    each.push_back(*value);
  }
  const Json all{{kEach, each}};
  const Json numbered{{kKinds, kinds}, {kWhich, which}};
  return numbered.dump().size() < all.dump().size() ? numbered : all;
}

/// Of those that have something to be folded.
Json fold_present(const std::vector<const Json*>& values) {
  const auto all = [&](const auto& holds) {
    return std::all_of(values.begin(), values.end(),
                       [&](const Json* value) { return holds(*value); });
  };
  if (all(is_list_of_objects)) return fold_lists(values);
  if (all([](const Json& value) { return value.is_object() && !value.empty(); }))
    return fold_objects(values);
  if (all([&](const Json& value) { return value == *values.front(); })) return *values.front();
  return shorter_of_both(values);
}

}  // namespace

Json fold(const std::vector<const Json*>& values) {
  Json some = Json::array();
  std::vector<const Json*> present;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i]) {
      present.push_back(values[i]);
      some.push_back(i);
    }
  if (present.size() == values.size()) return fold_present(values);
  return {{kSome, some}, {kHave, fold_present(present)}};
}

std::optional<Json> unfold(const Json& folded, std::size_t place) {
  if (!folded.is_object()) return folded;
  if (folded.size() == 1 && folded.contains(kEach)) return folded.at(kEach).at(place);
  if (folded.size() == 2 && folded.contains(kKinds))
    return folded.at(kKinds).at(folded.at(kWhich).at(place).get<std::size_t>());
  if (folded.size() == 2 && folded.contains(kSome)) {
    const Json& some = folded.at(kSome);
    const auto at = std::find(some.begin(), some.end(), Json(place));
    if (at == some.end()) return std::nullopt;
    return unfold(folded.at(kHave), static_cast<std::size_t>(at - some.begin()));
  }
  Json object = Json::object();
  for (const auto& item : folded.items())
    if (auto value = unfold(item.value(), place)) object[item.key()] = *std::move(value);
  if (!is_by_number(object)) return object;
  Json list = Json::array();
  for (auto& item : object) list.push_back(std::move(item));
  return list;
}

}  // namespace gauntlet
