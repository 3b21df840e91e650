// SPDX-License-Identifier: Apache-2.0
// A disk that fills up while a result is written, and results that were cut or damaged where they
// lay: told, never taken for something else.
#include <csignal>
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/store/observation_json.h"
#include "harness/store/result_store.h"
#include "tests/store/sample.h"

using namespace gauntlet;
namespace fs = std::filesystem;

namespace {

/// Files can grow to so many bytes, as on a disk that is full then.
void let_files_grow_to(std::size_t bytes) {
  std::signal(SIGXFSZ, SIG_IGN);  // write() fails instead
  const rlimit limit{bytes, bytes};
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(9);
}

/// Saves on a full disk, in a fork: 0 when it was told which file could not be written.
int save_with_room_for(std::size_t bytes, const ResultStore& store, const CellObservation& cell) {
  const pid_t pid = fork();
  if (pid == 0) {
    let_files_grow_to(bytes);
    try {
      store.save(cell);
    } catch (const UserError& error) {
      const std::string text = error.what();
      const bool told = text.find("cannot write") == 0 &&
                        text.find("observation.json: writing: File too large") != text.npos;
      _exit(told ? 0 : 1);
    }
    _exit(2);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("a disk that fills up while a result is written leaves the old one and no rest") {
  const ScratchFolder folder("test");
  const ResultStore store(folder.path());
  CellObservation cell = sample::full_cell();
  store.save(cell);
  const fs::path file = store.observation_file(cell.key);
  const std::string before = read_file(file);
  cell.seed = 1;
  const std::size_t size = to_json(cell).size();
  for (const std::size_t room : {std::size_t{0}, std::size_t{1}, size / 2, size - 1}) {
    CAPTURE(room);
    CHECK(save_with_room_for(room, store, cell) == 0);
    CHECK(read_file(file) == before);
    CHECK(std::distance(fs::directory_iterator(file.parent_path()), fs::directory_iterator()) == 1);
  }
  CHECK(save_with_room_for(size, store, cell) == 2);  // there is room: it is written
  CHECK(read_file(file) == to_json(cell));
}

TEST_CASE("an observation that was cut anywhere is refused by name") {
  const ScratchFolder folder("test");
  const ResultStore store(folder.path());
  const CellObservation cell = sample::full_cell();
  const std::string whole = to_json(cell);
  const fs::path file = store.observation_file(cell.key);
  // Without its last newline it still says all that it said.
  for (std::size_t size = 0; size + 1 < whole.size(); ++size) {
    CAPTURE(size);
    write_file(file, whole.substr(0, size));
    CHECK_THROWS_WITH_AS(store.load(cell.key), doctest::Contains("observation.json"), UserError);
  }
  write_file(file, whole.substr(0, whole.size() - 1));
  CHECK(to_json(*store.load(cell.key)) == whole);
}

TEST_CASE("an observation with any one byte damaged is read as what it says, or refused") {
  const std::string whole = to_json(sample::full_cell());
  int refused = 0;
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (const char damaged : {'\0', '9', '}', '"', static_cast<char>(0xff)}) {
      std::string text = whole;
      text[at] = damaged;
      try {
        const std::string read = to_json(observation_from_json(text, "o.json"));
        CHECK(to_json(observation_from_json(read, "again")) == read);
      } catch (const UserError&) {
        ++refused;
      }
    }
  CHECK(refused > static_cast<int>(whole.size()));
}
