// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <doctest/doctest.h>
#include <filesystem>
#include <limits>

#include "harness/core/check.h"
#include "harness/core/digest.h"
#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/finding.h"
#include "harness/core/verdict.h"

using namespace gauntlet;
namespace fs = std::filesystem;

TEST_CASE("every verdict has a word, and the word finds it again") {
  for (int i = 0; i <= static_cast<int>(Verdict::broken); ++i) {
    const auto verdict = static_cast<Verdict>(i);
    CHECK(verdict_named(name_of(verdict)) == verdict);
  }
  CHECK_THROWS_WITH(verdict_named("fine"), doctest::Contains("'fine' is no verdict"));
}

TEST_CASE("only what the submission did counts against it") {
  CHECK_FALSE(blames_submission(Verdict::passed));
  CHECK(blames_submission(Verdict::wrong));
  CHECK(blames_submission(Verdict::cheated));
  CHECK_FALSE(blames_submission(Verdict::unmeasured));
  CHECK_FALSE(blames_submission(Verdict::broken));
  CHECK(worse(Verdict::crashed, Verdict::wrong) == Verdict::crashed);
}

TEST_CASE("sections, severities and devices round-trip by name") {
  CHECK(section_named(name_of(Section::robustness)) == Section::robustness);
  CHECK(severity_named(name_of(Severity::fatal)) == Severity::fatal);
  CHECK(device_named("cuda") == Device::cuda);
  CHECK_THROWS(section_named("speed"));
}

TEST_CASE("a miss is told with place, numbers, allowance and extent") {
  const Miss miss{"dx[6]", 0.5, 1, 0.25, 12, 4096};
  CHECK(describe(miss) == "dx[6]: got 0.5, want 1 +- 0.25 (12 of 4096 are off)");
  CHECK(describe({"sum", -std::numeric_limits<double>::quiet_NaN(), 0, 0, 1, 1}) ==
        "sum: got nan, want 0 +- 0");
}

TEST_CASE("SHA-256 is SHA-256") {
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("moving a byte between fields changes a digest") {
  CHECK(Digest().add("a", "xy").add("b", "z").hex() != Digest().add("a", "x").add("b", "yz").hex());
  CHECK(Digest().add("a", "1").hex() != Digest().add("a", "2").hex());
}

TEST_CASE("a folder's digest depends on names and contents, not on where it lies") {
  const ScratchFolder one("test");
  const ScratchFolder two("test");
  write_file(one.path() / "sub/file.txt", "hello");
  write_file(two.path() / "sub/file.txt", "hello");
  const auto digest = [](const ScratchFolder& folder) {
    return Digest().add_folder("f", folder.path()).hex();
  };
  CHECK(digest(one) == digest(two));
  write_file(two.path() / "sub/file.txt", "hellp");
  CHECK(digest(one) != digest(two));
}

TEST_CASE("a file is replaced whole, and nothing is left beside it") {
  const ScratchFolder folder("test");
  const fs::path file = folder.path() / "deep/down/file";
  write_file(file, "first");
  write_file(file, "second");
  CHECK(read_file(file) == "second");
  CHECK(std::distance(fs::directory_iterator(file.parent_path()), fs::directory_iterator()) == 1);
}

TEST_CASE("a file that cannot be read or written is named") {
  CHECK_THROWS_WITH_AS(read_file("/nowhere/at/all"), doctest::Contains("/nowhere/at/all"),
                       UserError);
  CHECK_THROWS_WITH_AS(write_file("/proc/nothing/file", "x"),
                       doctest::Contains("cannot write /proc/nothing/file"), UserError);
}

TEST_CASE("a scratch folder is gone with its content") {
  fs::path path;
  {
    const ScratchFolder folder("test");
    path = folder.path();
    write_file(path / "a/b", "c");
  }
  CHECK_FALSE(fs::exists(path));
}
