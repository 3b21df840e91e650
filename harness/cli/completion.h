// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harness/cli/app.h"
#include "harness/cli/options.h"

namespace gauntlet {

/// A word that may come next, with a few words on it.
struct OfferedWord {
  std::string word;
  std::string about;
};

/// What may stand where a command line is being typed.
struct Completion {
  enum class Paths { none, folders, files };  // that the shell is to offer as well

  std::vector<OfferedWord> words;
  Paths paths = Paths::none;
};

/// Looks up words that only the data and the workspace know.
struct KnownWords {
  std::function<std::vector<OfferedWord>()> challenges;
  std::function<std::vector<OfferedWord>(const std::string& challenge)> checks;
  std::function<std::vector<OfferedWord>()> submissions;
};

/// `words` follow the program's name; the last one, which may be empty, is being typed. Everything is
/// taken from the app itself: a new verb or option needs no line here.
Completion complete(const CLI::App& app, const std::vector<std::string>& words,
                    const KnownWords& known);

/// The script of a shell, which asks `gauntlet __complete WORD...` whenever it has to complete. Throws
/// UserError for a shell that is none of ours.
std::string completion_script(const std::string& shell);

/// The first word of the call that those scripts make.
inline constexpr const char* kCompleteCall = "__complete";

/// What such a call prints: "files", "folders" or "none", then a line for each candidate, its word, a
/// tab, and what it is. Nothing fails: where nothing is known, nothing is offered.
std::string completion_answer(const Program& program, const std::vector<std::string>& words);

}  // namespace gauntlet
