// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/run/runner.h"
#include "harness/store/json_fields.h"
#include "harness/store/result_store.h"

namespace gauntlet {

/// One time that a cell is graded: the cluster may end it, and then there is another.
struct CellTry {
  std::size_t request = 0;  // its place among the requests
  int number = 1;

  std::string name() const;  // "17.2"
};

/// The folder through which one run talks to its jobs: requests, what came of them, logs. It lies
/// on a file system that all nodes see, and nobody but its owner can look into it: requests hold
/// solutions and chosen seeds. (Seeds that nobody chose are drawn where the cell is graded.) Files
/// appear in it whole or not at all.
class JobFolder {
 public:
  /// A new folder below `parent`. `words` begin the command that grades a cell.
  JobFolder(const std::filesystem::path& parent, std::vector<std::string> words);
  ~JobFolder();
  JobFolder(const JobFolder&) = delete;
  JobFolder& operator=(const JobFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string name() const { return path_.filename().string(); }
  std::filesystem::path logs() const { return path_ / "logs"; }

  void write_request(std::size_t number, const CellRequest& request) const;

  /// Writes which tries the tasks of an array are, and answers with what such a task runs.
  std::vector<std::string> array_of(const std::vector<CellTry>& tries);

  /// Names of the tries that have answered.
  std::set<std::string> answered() const;

  /// What `run-cell --json` said. Throws UserError for what it cannot have said.
  Json answer(const CellTry& one) const;
  ResultStore results(const CellTry& one) const;

  /// The last lines of a task's log, on one line.
  std::string last_words(const std::string& log) const;

  /// The folder stays when the object goes, for a person to look at.
  void keep() { kept_ = true; }
  void remove() const;

 private:
  std::filesystem::path path_;
  std::vector<std::string> words_;
  int arrays_ = 0;
  bool kept_ = false;
};

}  // namespace gauntlet
