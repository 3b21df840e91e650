// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gauntlet {

/// All that something which is kept was made of, as named fields. Two keys with the same fields
/// stand for the same thing; where they differ, the fields say why it was made anew. Which fields
/// each layer has: docs/caches.md.
class CacheKey {
 public:
  /// Raised when a field is added, is dropped or means something else. What was kept under another
  /// format is not used; whoever counts it says so, instead of making it anew in silence.
  static constexpr int kFormat = 2;

  struct Field {
    std::string name;   // "compiler", "file solution.cpp"
    std::string value;  // a digest where it would be long

    bool operator==(const Field&) const = default;
  };

  /// `layer` is what is kept: "solution", "observation".
  explicit CacheKey(std::string_view layer) : layer_(layer) {}

  CacheKey& add(std::string_view name, std::string_view value);
  /// The same for a long text, of which the SHA-256 becomes the value.
  CacheKey& add_text(std::string_view name, std::string_view text);

  const std::string& layer() const { return layer_; }
  const std::vector<Field>& fields() const { return fields_; }

  /// SHA-256 over format, layer and fields.
  std::string digest() const;

 private:
  std::string layer_;
  std::vector<Field> fields_;
};

/// A field in which two keys differ; "" on the side that does not have it.
struct KeyChange {
  std::string field;
  std::string before;
  std::string after;
};

/// In the order of `after`'s fields, then those that only `before` has.
std::vector<KeyChange> changes(const CacheKey& before, const CacheKey& after);

/// "9c1e0f22" for a SHA-256, "(none)" for no value, others as they are on one line: to look at, not
/// to compare.
std::string short_value(const std::string& value);

/// "the grader changed: 9c1e0f22 -> 77b04d10"; `what` is what people call the field.
std::string sentence_of(const KeyChange& change, std::string_view what);

}  // namespace gauntlet
