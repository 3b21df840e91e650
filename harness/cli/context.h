// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "harness/core/seed.h"
#include "harness/grading/cell.h"
#include "harness/report/terminal/terminal.h"
#include "harness/run/grading_run.h"
#include "harness/run/local_runner.h"
#include "harness/score/board.h"
#include "harness/store/json_fields.h"
#include "harness/store/result_store.h"

namespace gauntlet {

/// What the verbs work with: where things are, what the global options said, and where to talk.
/// Only progress and remarks are written by verbs, to `err`; the answer is what they return.
struct Context {
  GradingEnvironment environment;
  std::filesystem::path results;
  std::optional<Seed> seed;
  int jobs = 1;
  bool weaker_sandbox = false;  // submissions may run where a wall is missing
  bool json = false;
  bool quiet = false;
  bool live = false;    // progress may redraw its line
  TerminalStyle style;  // of the answer
  std::ostream* err = nullptr;

  const std::filesystem::path& root() const { return environment.root; }
  ResultStore store() const { return store_in(results); }
  ResultStore store_in(const std::filesystem::path& folder) const {
    return ResultStore(folder, [this](const std::string& text) { remark(text); });
  }
  PlanTerms plan_terms(bool fresh) const { return {root(), store(), seed, fresh}; }
  LocalRunner runner() const { return {environment, jobs}; }
  Rubric rubric() const;
  std::vector<std::string> challenges() const;  // ids by round, then name

  /// Why a submission could read what is hidden from it: our files lie where compilers or workers
  /// may look, for the system's own. Empty when all is well.
  std::string exposure() const;

  /// A remark on stderr, one line; silent with -q.
  void remark(const std::string& text) const;
};

/// What a verb answers: the text for people, or the document for --json, and the exit code.
struct VerbResult {
  std::string text;
  Json document;
  int exit_code = 0;
  bool one_line = false;  // how the document is printed
};

}  // namespace gauntlet
