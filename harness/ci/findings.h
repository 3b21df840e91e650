// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/ci/ci_run.h"

namespace gauntlet {

/// What a run has against a submission, at a place in the checkout.
struct CiFinding {
  std::string rule;  // "first/offset_ladder", "first/build", "submission"
  std::string detects;
  Severity severity = Severity::minor;
  std::string file;  // in the checkout
  int line = 0;      // 0: the file as a whole
  int column = 0;
  std::string text;            // as hostile as anything of a submission
  std::string reproduce = {};  // a command; may be empty
};

/// Everything that blames a submission, the worst first. What is broken or unmeasured is not among
/// it.
std::vector<CiFinding> findings_of(const CiRun& run);

/// A line that a compiler or a reader of YAML printed: "solution.cpp:88:21: error: ...".
struct SaidPlace {
  std::string file;
  int line = 0;
  int column = 0;  // 0: none was said
  std::string said = {};
};

/// The lines of `text` that name a place in one of these files and no other: what a #line
/// directive says of the rest of the checkout leads nobody there.
std::vector<SaidPlace> places_in(std::string_view text, const std::vector<std::string>& files);

/// A path in the checkout as a URI's: what has a meaning there is written as %xx.
std::string uri_path(std::string_view path);

}  // namespace gauntlet
