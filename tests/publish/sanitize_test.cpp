// SPDX-License-Identifier: Apache-2.0
#include "harness/publish/sanitize.h"

#include <csignal>
#include <doctest/doctest.h>
#include <map>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/publish/folder.h"
#include "tests/publish/samples.h"

using namespace gauntlet;
namespace fs = std::filesystem;
using namespace std::string_literals;

namespace {

std::string key() {
  return sample::filled("ghp_{m:36}");
}

/// A model's working folder, and beside it what is not part of it.
struct Work {
  ScratchFolder scratch{"sanitize"};
  fs::path folder = scratch.path() / "model";

  Work() { fs::create_directory(folder); }
  void put(const std::string& file, const std::string& bytes) const {
    write_file(folder / file, bytes);
  }
  std::string read(const std::string& file) const { return read_file(folder / file); }
  SanitizeReport run(bool write = false) const {
    return sanitize(Owner{folder, "", "", {}}, write);
  }
  /// Every path below the folder, with what is in it.
  std::map<std::string, std::string> all() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      files[entry.path().string()] = entry.is_symlink()        ? "link"
                                     : entry.is_regular_file() ? read_file(entry.path())
                                                               : "folder";
    return files;
  }
};

std::vector<std::string> rules(const std::vector<LeftOver>& left) {
  std::vector<std::string> rules;
  for (const LeftOver& one : left) rules.push_back(one.rule);
  return rules;
}

}  // namespace

TEST_CASE("without write nothing changes; with it, what was listed, and then nothing is found") {
  const Work work;
  work.put("log.txt", "one\ntoken " + key() + "\nin " + work.folder.string() + "/x\n");
  work.put("first/solution.cpp", "// /home/alice/x\nint main() {}\n");
  work.put("first/build/CMakeCache.txt", "x");
  work.put("first/build/deep/y.txt", "yy");
  work.put("first/a.out",
           "\x7f"
           "ELF");
  work.put("first/program",
           "\x7f"
           "ELF");
  work.put("build/notes.md", "written by hand\n");
  const auto before = work.all();

  const SanitizeReport planned = work.run();
  CHECK(work.all() == before);
  CHECK(planned.left.empty());
  REQUIRE(planned.removals.size() == 6);
  CHECK(planned.removals[0].file == "first/a.out");
  CHECK(planned.removals[1].file == "first/build/");
  CHECK(planned.removals[1].bytes == 3);
  CHECK(planned.removals[2].rule == "built-program");
  CHECK(planned.removals[3].line == 1);
  CHECK(planned.removals[4].file == "log.txt");
  CHECK(planned.removals[4].line == 2);
  CHECK(planned.removals[4].rule == "github-pat");
  CHECK(planned.removals[4].bytes == 40);
  CHECK(planned.removals[4].begins == "ghp_***");
  CHECK(planned.removals[5].rule == "this-folder");

  const SanitizeReport written = work.run(true);
  CHECK(written.diff == planned.diff);
  CHECK(written.removals.size() == 6);
  CHECK(work.read("log.txt") == "one\ntoken REMOVED\nin ./x\n");
  CHECK(work.read("first/solution.cpp") == "// /home/user/x\nint main() {}\n");
  CHECK(work.read("build/notes.md") == "written by hand\n");
  CHECK(work.all().size() == 5);

  const SanitizeReport again = work.run();
  CHECK(again.removals.empty());
  CHECK(again.left.empty());
  CHECK(again.files == 3);
}

TEST_CASE("links are never followed, whatever they lead to") {
  const Work work;
  const std::string secret = "outside " + key() + "\n";
  write_file(work.scratch.path() / "outside/notes.txt", secret);
  write_file(work.scratch.path() / "outside/x.o", "x");
  work.put("inside.txt", "nothing\n");
  fs::create_directory_symlink("../outside", work.folder / "folder");
  fs::create_symlink(work.scratch.path() / "outside/notes.txt", work.folder / "file");
  fs::create_symlink("inside.txt", work.folder / "own");
  fs::create_directory_symlink("../outside", work.folder / "__pycache__");
  const SanitizeReport report = work.run(true);
  CHECK(report.removals.empty());
  CHECK(rules(report.left) == std::vector<std::string>{"link", "link", "link"});
  CHECK(read_file(work.scratch.path() / "outside/notes.txt") == secret);
  CHECK(fs::exists(work.scratch.path() / "outside/x.o"));
  // A folder that becomes a link between being listed and being read.
  const WorkingFolder folder(work.folder);
  CHECK_THROWS_AS(folder.read("folder/notes.txt", 100), std::system_error);
  CHECK_THROWS_AS(folder.entries("folder"), std::system_error);
  CHECK_THROWS_AS(folder.remove({"folder/x.o", FolderEntry::Kind::file, 0, ""}), std::system_error);
  CHECK(fs::exists(work.scratch.path() / "outside/x.o"));
}

TEST_CASE("a link inside an artefact goes, and what it leads to stays") {
  const Work work;
  write_file(work.scratch.path() / "outside/x", "x");
  fs::create_directories(work.folder / "__pycache__");
  fs::create_directory_symlink(work.scratch.path() / "outside", work.folder / "__pycache__/y");
  CHECK(work.run(true).removals.size() == 1);
  CHECK(!fs::exists(work.folder / "__pycache__"));
  CHECK(fs::exists(work.scratch.path() / "outside/x"));
}

TEST_CASE("binary files are searched for keys and never changed") {
  const Work work;
  std::string weights;
  for (int i = 0; i < 4000; ++i) weights += static_cast<char>(i * 37 % 251 % 9);
  work.put("weights.bin", weights + "\0 /home/alice/x"s);
  work.put("leaky.bin", weights + " " + key() + " ");
  work.put("utf16.log",
           "\xff\xfe"
           "a\0b\0"s);
  const auto before = work.all();
  const SanitizeReport report = work.run(true);
  CHECK(work.all() == before);
  CHECK(report.binaries == 2);
  CHECK(rules(report.left) == std::vector<std::string>{"github-pat", "not-read"});
  CHECK(report.left.front().bytes == 40);
}

TEST_CASE("odd names, odd bytes, pipes and long lines do no harm and are not printed as they are") {
  const Work work;
  const std::string odd = "a\nb\x1b[31m\xff.log";
  work.put(odd, "x\0\xff "s + key() + "\n");
  work.put(key() + ".txt", "nothing\n");
  work.put("long.log", std::string(4 << 20, 'x') + " " + key() + " " + std::string(4 << 20, 'y'));
  work.put("--write", "-\n");
  REQUIRE(mkfifo((work.folder / "pipe").c_str(), 0600) == 0);
  const SanitizeReport report = work.run(true);
  CHECK(work.read(odd) == "x\0\xff REMOVED\n"s);
  CHECK(work.read("long.log").size() == (8 << 20) + 9);
  CHECK(report.removals.size() == 2);
  CHECK(rules(report.left) == std::vector<std::string>{"github-pat", "not-a-file"});
  std::string printed = report.diff;
  for (const Removal& one : report.removals) printed += one.file + one.begins;
  for (const LeftOver& one : report.left) printed += one.file + one.begins + one.why;
  CHECK(printed.find(key().substr(0, 6)) == std::string::npos);
  CHECK(printed.find('\x1b') == std::string::npos);
  CHECK(printed.size() < 3000);
}

TEST_CASE("a history, files of credentials and dumps are named; a history is left to its owner") {
  const Work work;
  work.put(".git/config", "[user]\n");
  work.put(".env", "X=1\n");
  work.put("core.4711", "x");
  work.put(".gauntlet-sanitize-77", "half of a file");
  const SanitizeReport report = work.run(true);
  CHECK(report.removals.size() == 3);
  CHECK(report.left.size() == 1);
  CHECK(work.all().size() == 2);
}

TEST_CASE("mode and owner of a file stay, and a file that changed meanwhile is not written over") {
  const Work work;
  work.put("run.sh", "echo " + key() + "\n");
  fs::permissions(work.folder / "run.sh", fs::perms(0750));
  const WorkingFolder folder(work.folder);
  const FileContent was = folder.read("run.sh", 1000);
  write_file(work.folder / "run.sh", "newer\n");
  CHECK_THROWS_AS(folder.replace("run.sh", was, "old\n"), std::system_error);
  CHECK(work.read("run.sh") == "newer\n");
  CHECK(work.all().size() == 1);

  work.put("run.sh", "echo " + key() + "\n");
  fs::permissions(work.folder / "run.sh", fs::perms(0750));
  work.run(true);
  CHECK((fs::status(work.folder / "run.sh").permissions() & fs::perms(0777)) == fs::perms(0750));
  CHECK_THROWS_AS(folder.read("run.sh", 3), std::system_error);
}

TEST_CASE("on a full disk every file is as it was, and is listed as left") {
  const Work work;
  const std::string text(200'000, 'x');
  work.put("log.txt", text + "\n" + key() + "\n");
  const auto before = work.all();
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit full{100'000, 100'000};
    if (setrlimit(RLIMIT_FSIZE, &full) != 0) _exit(2);
    const SanitizeReport report = work.run(true);
    _exit(report.removals.empty() && rules(report.left) == std::vector<std::string>{"not-written"}
              ? 0
              : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(work.all() == before);
}

TEST_CASE("what is no working folder is refused") {
  CHECK_THROWS_AS(sanitize(Owner{"/", "", "", {}}, false), UserError);
  CHECK_THROWS_AS(sanitize(Owner{"/no/such/folder", "", "", {}}, false), UserError);
  const Work work;
  CHECK_THROWS_AS(sanitize(Owner{work.folder, work.folder.string(), "", {}}, true), UserError);
}

TEST_CASE("folders in folders without an end are said to be too deep") {
  const Work work;
  std::string path;
  for (int i = 0; i < 130; ++i) path += "d/";
  work.put(path + "log.txt", key());
  const SanitizeReport report = work.run(true);
  CHECK(rules(report.left) == std::vector<std::string>{"not-read"});
}
