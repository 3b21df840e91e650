// SPDX-License-Identifier: Apache-2.0
// A machine that cannot build is no reason for a grade, and what a source does to itself is one.
#include <atomic>
#include <cstdlib>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <thread>
#include <unistd.h>

#include "harness/build/build_folder.h"
#include "tests/build/bench.h"
#include "tests/support/text.h"

using namespace gauntlet;
using gauntlet::test::Bench;

namespace {

namespace fs = std::filesystem;

/// A file system of this size, where everything temporary goes meanwhile.
class SmallDisk {
 public:
  explicit SmallDisk(int mib) {
    fs::create_directory(path());
    fs::permissions(place_.path(), fs::perms::others_exec, fs::perm_options::add);
    mounted_ = mount("small", path().c_str(), "tmpfs", 0,
                     fmt::format("size={}m,mode=0777", mib).c_str()) == 0;
    if (mounted_) setenv("TMPDIR", path().c_str(), 1);
  }
  ~SmallDisk() {
    unsetenv("TMPDIR");
    if (mounted_) umount2(path().c_str(), MNT_DETACH);
  }

  bool mounted() const { return mounted_; }
  /// Within the scratch folder: mounted over it, it would hide the lock that keeps it, and another
  /// process's sweep would take all that lies here for left over.
  fs::path path() const { return place_.path() / "disk"; }

  void fill() const {
    struct statvfs disk {};
    statvfs(path().c_str(), &disk);
    const int fd = open((path() / "filler").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
    CHECK(fallocate(fd, 0, 0, static_cast<off_t>(disk.f_bavail * disk.f_frsize)) == 0);
    close(fd);
  }

 private:
  ScratchFolder place_{"small-disk"};
  bool mounted_ = false;
};

const char* const kHonest = "extern \"C\" long answer() { return 1; }\n";

void skipped() {
  MESSAGE("skipped: nothing can be mounted here");
}

constexpr int kEnoughMib = 640;  // a build's room, and what the file system takes besides

}  // namespace

TEST_CASE("where there is too little room nothing is built, kept or blamed") {
  const Bench bench;
  bench.file("solution.cpp", kHonest);
  const SolutionSource source = read_solution(bench.solution.path());
  {
    const SmallDisk disk(64);
    if (!disk.mounted()) return skipped();
    CHECK_THROWS_WITH_AS(build_solution(source, bench.challenge, bench.cache.path()),
                         doctest::Contains("64 MiB are free and a build needs 576"), Broken);
  }
  CHECK(build_solution(source, bench.challenge, bench.cache.path()).record.ok);
}

TEST_CASE("a disk that others fill while the compiler works is nobody's failure") {
  const Bench bench;
  // Some seconds of work before the first byte is written.
  bench.file("solution.cpp",
             "template <int n, unsigned m> struct T {\n  static constexpr unsigned v = "
             "T<n - 1, 2 * m>::v + T<n - 1, 2 * m + 1>::v;\n};\n"
             "template <unsigned m> struct T<0, m> { static constexpr unsigned v = m; };\n"
             "char big[20000000] = {1};\n"
             "extern \"C\" long answer() { return T<14, 1>::v + big[3]; }\n");
  const SolutionSource source = read_solution(bench.solution.path());
  {
    const SmallDisk disk(kEnoughMib);
    if (!disk.mounted()) return skipped();
    std::thread others([&] {
      const auto begun = [&] {
        for (const auto& entry : fs::recursive_directory_iterator(
                 disk.path(), fs::directory_options::skip_permission_denied))
          if (entry.path().filename() == "contract.h") return true;
        return false;
      };
      while (true) try {
          if (begun()) break;
        } catch (const fs::filesystem_error&) {  // it changed while we looked
        }
      disk.fill();
    });
    CHECK_THROWS_WITH_AS(build_solution(source, bench.challenge, bench.cache.path()),
                         doctest::Contains("nothing can be built in"), Broken);
    others.join();
  }
  CHECK_FALSE(fs::exists(bench.cache.path() / "builds"));
  CHECK(build_solution(source, bench.challenge, bench.cache.path()).record.ok);
}

TEST_CASE("what a source does to its own build is its own failure, whatever it prints") {
  const SmallDisk disk(kEnoughMib);
  if (!disk.mounted()) return skipped();
  for (const char* source : {"#error No space left on device\n",
                             "static_assert(false, \"Disk quota exceeded, Input/output error\");\n",
                             "asm(\".error \\\"fatal: No space left on device\\\"\");\n",
                             "asm(\".print \\\"g++: fatal error: fork: Resource temporarily "
                             "unavailable\\\"\\n.error\");\n",
                             "char big[300000000] = {1};\nchar* answer_of() { return big; }\n",
                             "asm(\".data\\n.fill 250000000, 1, 1\\n.text\");\nint f(;\n"}) {
    const BuiltSolution built = Bench().build(source + std::string(kHonest));
    CHECK_MESSAGE(!built.record.ok, source);
    CHECK_MESSAGE(!contains(built.record.messages, "nothing can be built"), source);
  }
}

TEST_CASE("no sweep takes what lies on the disk for left over") {
  const SmallDisk disk(1);
  if (!disk.mounted()) return skipped();
  write_file(disk.path() / "kept", "");
  unsetenv("TMPDIR");  // as other processes sweep
  sweep_scratch_folders();
  CHECK(fs::exists(disk.path() / "kept"));
}

TEST_CASE("many files together write no more than one build may") {
  const SmallDisk disk(kEnoughMib);
  if (!disk.mounted()) return skipped();
  const Bench bench;
  for (int i = 0; i < 4; ++i)  // 800 MB together, each below the limit on files
    bench.file(fmt::format("f{}.cpp", i), "asm(\".data\\n.fill 200000000, 1, 1\\n.text\");\n");
  const BuiltSolution built = bench.build(kHonest);
  CHECK_FALSE(built.record.ok);
  CHECK(contains(built.record.messages, "limit on file size"));
}
