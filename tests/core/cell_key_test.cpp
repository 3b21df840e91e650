// SPDX-License-Identifier: Apache-2.0
#include "harness/core/cell_key.h"

#include <doctest/doctest.h>
#include <set>
#include <vector>

#include "harness/core/error.h"

using namespace gauntlet;

namespace {

std::vector<CellKey> keys() {
  std::vector<CellKey> keys;
  for (const char* submission : {"bravo", "bravo-2"})
    for (const char* size : {"", "small"})
      for (const Device device : {Device::cpu, Device::cuda})
        for (const int attempt : {1, 2, 12, 999})
          keys.push_back({submission, "first", size, device, attempt});
  return keys;
}

}  // namespace

TEST_CASE("a cell's name says what is not usual, and nothing else") {
  CHECK(CellKey{"bravo", "first"}.text() == "bravo/first");
  CHECK(CellKey{"bravo", "first", "small", Device::cuda, 2}.text() == "bravo/first.small@cuda#2");
  CHECK(CellKey{"bravo", "first", "small", Device::cuda, 2}.row() == "bravo@cuda#2");
  CHECK(CellKey{"bravo", "first", "small", Device::cuda, 2}.column() == "first.small");
  CHECK(CellKey{"bravo", "first", "small", Device::cuda, 2}.generation() == "bravo#2");
  CHECK(CellKey{"bravo", "first", "small", Device::cuda, 2}.submission_row() == "bravo@cuda");
  CHECK(CellKey{"bravo", "first", "", Device::cuda, 1}.attempt_row() == "bravo@cuda#1");
  CHECK(CellKey::of("bravo@cuda#1") == CellKey{"bravo", "", "", Device::cuda, 1});
}

TEST_CASE("row and column name one cell, and are read back; so are the parts of its text") {
  std::set<std::string> texts;
  std::set<std::string> files;
  for (const CellKey& key : keys()) {
    CAPTURE(key.text());
    CHECK(CellKey::of(key.row(), key.column()) == key);
    const std::string text = key.text();
    const std::size_t slash = text.find('/');
    CHECK(CellKey::of(text.substr(0, slash), text.substr(slash + 1)) == key);
    CHECK(texts.insert(text).second);
    files.insert(file_word(key.row()));
    CHECK(file_word(key.row()).find('#') == std::string::npos);
  }
  CHECK(files.size() == 2 * 2 * 4);  // submissions, devices, attempts
}

TEST_CASE("words that name no cell are refused with what is wrong") {
  const auto refused = [](const char* row, const char* column, const char* why) {
    CAPTURE(row);
    CAPTURE(column);
    CHECK_THROWS_WITH_AS(CellKey::of(row, column), doctest::Contains(why), UserError);
  };
  for (const char* attempt : {"bravo#", "bravo#0", "bravo#01", "bravo#1000", "bravo#-1", "bravo#2x",
                              "bravo#2#3", "bravo#99999999999999999999"})
    refused(attempt, "first", "behind '#' stands the number of an attempt, 1 to 999");
  refused("bravo@gpu", "first", "is no device; known: cpu, cuda");
  refused("bravo@", "first", "is no device; known: cpu, cuda");
  refused("bravo#2@cuda", "first", "behind '#' stands the number");
  refused("bravo@cuda", "first@cuda", "the device is named twice");
  refused("bravo#2", "first#3", "the attempt is named twice");
}
