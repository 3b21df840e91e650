// SPDX-License-Identifier: Apache-2.0
#include "harness/store/cache_key.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/core/digest.h"
#include "harness/core/text.h"

namespace gauntlet {
namespace {

const CacheKey::Field* find_field(const CacheKey& key, const std::string& name) {
  const auto& fields = key.fields();
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const CacheKey::Field& field) { return field.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

bool is_sha256(const std::string& value) {
  return value.size() == 64 && value.find_first_not_of("0123456789abcdef") == value.npos;
}

}  // namespace

CacheKey& CacheKey::add(std::string_view name, std::string_view value) {
  fields_.push_back({std::string(name), std::string(value)});
  return *this;
}

CacheKey& CacheKey::add_text(std::string_view name, std::string_view text) {
  return add(name, sha256(text));
}

std::string CacheKey::digest() const {
  Digest digest;
  digest.add("format", std::to_string(kFormat)).add("layer", layer_);
  for (const Field& field : fields_) digest.add(field.name, field.value);
  return digest.hex();
}

std::vector<KeyChange> changes(const CacheKey& before, const CacheKey& after) {
  std::vector<KeyChange> found;
  for (const CacheKey::Field& field : after.fields()) {
    const CacheKey::Field* old = find_field(before, field.name);
    if (!old || old->value != field.value)
      found.push_back({field.name, old ? old->value : "", field.value});
  }
  for (const CacheKey::Field& field : before.fields())
    if (!find_field(after, field.name)) found.push_back({field.name, field.value, ""});
  return found;
}

std::string short_value(const std::string& value) {
  constexpr std::size_t kShownDigest = 8;
  if (value.empty()) return "(none)";
  return is_sha256(value) ? value.substr(0, kShownDigest) : one_line(value, 200);
}

std::string sentence_of(const KeyChange& change, std::string_view what) {
  return fmt::format("{} changed: {} -> {}", what, short_value(change.before),
                     short_value(change.after));
}

}  // namespace gauntlet
