// SPDX-License-Identifier: Apache-2.0
#include "harness/core/cell_key.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <stdexcept>

#include "harness/core/error.h"
#include "harness/core/text.h"

namespace gauntlet {
namespace {

std::string device_suffix(Device device) {
  return device == Device::cpu ? "" : fmt::format("@{}", name_of(device));
}

std::string attempt_suffix(int attempt) {
  return attempt == 1 ? "" : fmt::format("#{}", attempt);
}

int attempt_in(std::string_view written, std::string_view word) {
  int attempt = 0;
  const auto parsed = std::from_chars(written.data(), written.data() + written.size(), attempt);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == written.data() + written.size();
  if (!whole || written.front() == '0' || attempt < 1 || attempt > CellKey::kMostAttempts)
    throw UserError(fmt::format("'{}': behind '#' stands the number of an attempt, 1 to {}",
                                printable(word, 80), CellKey::kMostAttempts));
  return attempt;
}

/// Takes "@DEVICE" and "#ATTEMPT" off the end of a word; what the other word said already must not
/// be said again.
std::string_view without_suffixes(std::string_view word, CellKey& key) {
  const auto said_twice = [&](const char* what) {
    return UserError(
        fmt::format("'{}': the {} is named twice; name it once", printable(word, 80), what));
  };
  std::string_view rest = word;
  if (const auto mark = rest.find('#'); mark != std::string_view::npos) {
    if (key.attempt != 1) throw said_twice("attempt");
    key.attempt = attempt_in(rest.substr(mark + 1), word);
    rest = rest.substr(0, mark);
  }
  if (const auto mark = rest.find('@'); mark != std::string_view::npos) {
    if (key.device != Device::cpu) throw said_twice("device");
    try {
      key.device = device_named(rest.substr(mark + 1));
    } catch (const std::invalid_argument& error) {
      throw UserError(fmt::format("'{}': {}", printable(word, 80), printable(error.what(), 200)));
    }
    rest = rest.substr(0, mark);
  }
  return rest;
}

}  // namespace

std::string CellKey::text() const {
  return fmt::format("{}/{}{}", submission, entry(), attempt_suffix(attempt));
}

std::string CellKey::entry() const {
  return column() + device_suffix(device);
}

std::string CellKey::row() const {
  return submission_row() + attempt_suffix(attempt);
}

std::string CellKey::submission_row() const {
  return submission + device_suffix(device);
}

std::string CellKey::attempt_row() const {
  return fmt::format("{}#{}", submission_row(), attempt);
}

std::string CellKey::column() const {
  return is_standard() ? challenge : challenge + "." + size;
}

std::string CellKey::generation() const {
  return submission + attempt_suffix(attempt);
}

CellKey CellKey::of(std::string_view row, std::string_view column) {
  CellKey key;
  key.submission = without_suffixes(row, key);
  const std::string_view asked = without_suffixes(column, key);
  const std::size_t dot = asked.find('.');
  key.challenge = asked.substr(0, dot);
  if (dot != std::string_view::npos) key.size = asked.substr(dot + 1);
  return key;
}

std::string file_word(std::string_view row) {
  std::string word(row);
  std::replace(word.begin(), word.end(), '#', '@');  // which a link would take for its end
  return word;
}

}  // namespace gauntlet
