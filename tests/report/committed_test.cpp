// SPDX-License-Identifier: Apache-2.0
// The reports that git keeps: few, small, and true.
#include "tests/report/committed.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "harness/core/files.h"
#include "harness/report/report.h"
#include "tests/report/claim_check.h"

using namespace gauntlet;
namespace fs = std::filesystem;

namespace {

// What a reader of the repository clones with it; who wants everything writes it.
constexpr std::size_t kMostFiles = 60;
constexpr std::size_t kMostBytes = 400 << 10;

/// What is too much of a folder; "" when it is small enough.
std::string excess(const fs::path& folder) {
  std::size_t files = 0;
  std::size_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) {
      ++files;
      bytes += entry.file_size();
    }
  if (files <= kMostFiles && bytes <= kMostBytes) return "";
  return fmt::format("{} has {} files of {} bytes, wanted at most {} of {}", folder.string(), files,
                     bytes, kMostFiles, kMostBytes);
}

}  // namespace

TEST_CASE("the committed reports are small") {
  CHECK(excess(committed_folder()) == "");
}

TEST_CASE("too many files, and too many bytes, are seen") {
  const ScratchFolder folder("excess");
  for (std::size_t i = 0; i < kMostFiles; ++i)
    write_file(folder.path() / "part" / std::to_string(i), "x");
  CHECK(excess(folder.path()) == "");
  write_file(folder.path() / "one more", "x");
  CHECK(excess(folder.path()).find("61 files") != std::string::npos);
  fs::remove_all(folder.path() / "part");
  write_file(folder.path() / "one more", std::string(kMostBytes + 1, 'x'));
  CHECK(excess(folder.path()).find("409601 bytes") != std::string::npos);
}

TEST_CASE("what the committed reports' data give stands a second judgement") {
  const auto report = render_report(committed_input());
  for (const auto& complaint : untruths(report)) FAIL_CHECK(complaint);
  CHECK(Json::parse(report.at("claims.json")).at("claims").size() > 10);
}
