// SPDX-License-Identifier: Apache-2.0
// Files that a stranger left where ours are expected, and folders that a killed process left.
#include "harness/core/files.h"

#include <csignal>
#include <cstdlib>
#include <doctest/doctest.h>
#include <functional>
#include <string>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/core/error.h"
#include "tests/support/text.h"

using namespace gauntlet;
namespace fs = std::filesystem;

namespace {

constexpr unsigned kPatience = 60;  // seconds; a reader that waits for ever is then killed

std::string complaint_about(const fs::path& file, const ReadRule& rule = kAnyFile) {
  alarm(kPatience);
  std::string said = "no complaint";
  try {
    read_file(file, rule);
  } catch (const UserError& error) {
    said = error.what();
  }
  alarm(0);
  return said;
}

/// Another temporary folder, so that no other program's scratch folders are touched.
class OwnTemporaries {
 public:
  OwnTemporaries() : before_(fs::temp_directory_path()), folder_("files-test") {
    setenv("TMPDIR", folder_.path().c_str(), 1);
  }
  ~OwnTemporaries() { setenv("TMPDIR", before_.c_str(), 1); }

  const fs::path& path() const { return folder_.path(); }

 private:
  fs::path before_;
  ScratchFolder folder_;
};

/// Runs `act` in a process that is then killed, and says which folder it had made.
fs::path left_by_a_killed(const std::function<fs::path()>& act) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    const std::string made = act().string();
    if (write(ends[1], made.data(), made.size()) < 0) _exit(1);
    raise(SIGKILL);
  }
  close(ends[1]);
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));
  char made[4096];
  const ssize_t size = read(ends[0], made, sizeof made);
  close(ends[0]);
  REQUIRE(size > 0);
  return std::string(made, static_cast<std::size_t>(size));
}

}  // namespace

TEST_CASE("what is no regular file is refused at once, and said to be what it is") {
  const ScratchFolder folder("test");
  const fs::path pipe = folder.path() / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(contains(complaint_about(pipe), "it is a pipe, not a regular file; put a file"));
  CHECK(contains(complaint_about("/dev/null"), "it is a device"));
  CHECK(contains(complaint_about(folder.path()), "it is a folder"));
  fs::create_symlink("/dev/null", folder.path() / "device");
  fs::create_symlink(pipe, folder.path() / "to_pipe");
  CHECK(contains(complaint_about(folder.path() / "device"), "it is a device"));
  CHECK(contains(complaint_about(folder.path() / "to_pipe"), "it is a pipe"));
}

TEST_CASE("links are followed where a rule says so, and loops are named") {
  const ScratchFolder folder("test");
  write_file(folder.path() / "file", "content");
  fs::create_symlink("file", folder.path() / "link");
  fs::create_symlink("loop", folder.path() / "loop");
  CHECK(read_file(folder.path() / "link") == "content");
  CHECK(contains(complaint_about(folder.path() / "link", kModelCardFile),
                 "it is a symbolic link, which is not followed here"));
  CHECK(contains(complaint_about(folder.path() / "loop"), "Too many levels of symbolic links"));
}

TEST_CASE("no more is read than a rule allows, whatever size a file says it has") {
  const ScratchFolder folder("test");
  const fs::path file = folder.path() / "file";
  const std::string most(kModelCardFile.most_bytes, 'x');
  write_file(file, most);
  CHECK(read_file(file, kModelCardFile) == most);
  write_file(file, most + "x");
  CHECK(contains(complaint_about(file, kModelCardFile),
                 "it holds 16385 bytes, at most 16384 are read"));
  // Files of the kernel say that they are empty.
  CHECK(contains(read_file("/proc/self/status"), "Pid:"));
  CHECK(contains(complaint_about("/proc/self/status", {16}), "it holds more bytes, at most 16"));
  fs::resize_file(file, std::uintmax_t{1} << 40);
  CHECK(contains(complaint_about(file), "it holds 1099511627776 bytes"));
}

TEST_CASE("the scratch folder of a killed process is removed by the next sweep, no other is") {
  const OwnTemporaries temporaries;
  const fs::path outside = temporaries.path() / "outside";
  write_file(outside / "kept", "x");
  const fs::path left = left_by_a_killed([&] {
    const auto* folder = new ScratchFolder("build");  // never destroyed
    write_file(folder->path() / "deep/file", "x");
    fs::create_symlink(outside, folder->path() / "link");
    return folder->path();
  });
  const ScratchFolder in_use("build");
  const fs::path foreign = temporaries.path() / "gauntlet-build-notes";
  const fs::path file = temporaries.path() / ".gauntlet-scratch.build.abcdef";
  const fs::path link = temporaries.path() / ".gauntlet-scratch.link.abcdef";
  write_file(foreign / "file", "x");
  write_file(file, "x");
  fs::create_directory_symlink(outside, link);
  REQUIRE(fs::exists(left));

  sweep_scratch_folders();
  CHECK_FALSE(fs::exists(left));
  CHECK(fs::exists(in_use.path()));
  CHECK(fs::exists(foreign / "file"));
  CHECK(fs::exists(file));
  CHECK(fs::is_symlink(link));
  CHECK(fs::exists(outside / "kept"));
}

TEST_CASE("a sweep leaves alone what another user made, and takes what root gave to nobody") {
  if (geteuid() != 0) return;
  const OwnTemporaries temporaries;
  const fs::path of_user = temporaries.path() / ".gauntlet-scratch.build.aaaaaa";
  const fs::path of_nobody = temporaries.path() / ".gauntlet-scratch.build.bbbbbb";
  for (const fs::path& folder : {of_user, of_nobody}) fs::create_directory(folder);
  REQUIRE(chown(of_user.c_str(), 1, 1) == 0);  // daemon: an account of every system
  REQUIRE(chown(of_nobody.c_str(), 60998, 60998) == 0);
  sweep_scratch_folders();
  CHECK(fs::exists(of_user));
  CHECK_FALSE(fs::exists(of_nobody));
}

TEST_CASE("a folder that a sweep took before it was claimed is not used") {
  // Between its making and its claim any new folder looks like a leftover. Another process sweeps
  // all the time: without the second look some of these folders are gone when they are written to.
  const OwnTemporaries temporaries;
  const pid_t sweeper = fork();
  if (sweeper == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // a failed test would leave it behind
    for (;;) sweep_scratch_folders();
  }
  for (int i = 0; i < 500; ++i) {
    const ScratchFolder folder("race");
    write_file(folder.path() / "file", "x");
    CHECK(read_file(folder.path() / "file") == "x");
  }
  kill(sweeper, SIGKILL);
  waitpid(sweeper, nullptr, 0);
}
