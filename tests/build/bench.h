// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>
#include <string>

#include "harness/build/solution.h"
#include "harness/core/error.h"
#include "harness/core/files.h"

namespace gauntlet::test {

/// A submission's folder, a challenge and a cache.
struct Bench {
  ScratchFolder solution{"build-test-solution"};
  ScratchFolder challenge_folder{"build-test-challenge"};
  ScratchFolder cache{"build-test-cache"};
  Challenge challenge;
  BuildTerms terms;

  Bench() {
    challenge.id = "test";
    challenge.folder = challenge_folder.path();
    write_file(challenge.folder / "contract.h",
               "#pragma once\nextern \"C\" long answer(void);\n#define CONTRACT 7\n");
  }

  void file(const std::string& name, const std::string& content) const {
    write_file(solution.path() / name, content);
  }

  BuiltSolution build() const {
    return build_solution(read_solution(solution.path()), challenge, cache.path(), terms);
  }

  BuiltSolution build(const std::string& source) const {
    file("solution.cpp", source);
    return build();
  }

  std::string refusal() const {
    try {
      read_solution(solution.path());
    } catch (const UserError& error) {
      CHECK(error.exit_code == 3);
      return error.what();
    }
    return "taken";
  }
};

inline void check_clean(const Bench& bench, const std::string& source) {
  const BuiltSolution built = bench.build(source);
  CHECK_MESSAGE(built.record.ok, source << built.record.messages);
  CHECK_MESSAGE(built.record.warnings == 0, source << built.record.messages);
}

}  // namespace gauntlet::test
