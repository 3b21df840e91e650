// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/build/build_cache.h"
#include "harness/build/build_library.h"
#include "harness/build/solution.h"
#include "harness/build/toolchain.h"
#include "harness/core/digest.h"
#include "harness/core/error.h"
#include "harness/core/files.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

bool is_no_test(std::string_view file) {
  return file != SolutionSource::kTests;
}

bool is_tests(std::string_view file) {
  return file == SolutionSource::kTests;
}

constexpr Recipe kSolution{"solution", &Toolchain::solution_flags, is_no_test, true, true};
constexpr Recipe kAssembly{"assembly", &Toolchain::assembly_flags, is_no_test, false, false};
constexpr Recipe kTestsAlone{"tests", &Toolchain::test_flags, is_tests, false, true};

std::string key_of(const Recipe& recipe, const SolutionSource& source, std::string_view contract) {
  const Toolchain& tools = toolchain(source.device);
  return Digest()
      .add(recipe.name, source.digest())
      .add("contract", contract)
      .add("flags", fmt::format("{}", fmt::join(tools.*recipe.flags, " ")))
      .add("steps", kSteps)
      .add("compiler", tools.compiler().path + tools.compiler().version)
      .add("machine", tools.compiler().machine)
      .hex();
}

BuiltSolution build(const Recipe& recipe, const SolutionSource& source, const Challenge& challenge,
                    const fs::path& cache, const BuildTerms& terms) {
  const BuildCache builds(cache / "builds");
  const std::string contract = read_file(challenge.folder / "contract.h");
  const std::string key = key_of(recipe, source, contract);
  if (auto built = builds.find(key)) return *built;
  LibraryBuild build(recipe, source, contract, terms);
  build.run();
  if (build.record().stopped) return {build.record(), {}};  // another day or machine may be faster
  try {
    return builds.keep(key, build.record(), build.library());
  } catch (const UserError& error) {
    throw Broken(OwnFault::files, error.what());
  }
}

}  // namespace

BuiltSolution build_solution(const SolutionSource& source, const Challenge& challenge,
                             const fs::path& cache, const BuildTerms& terms) {
  return build(kSolution, source, challenge, cache, terms);
}

BuiltSolution build_tests(const SolutionSource& source, const Challenge& challenge,
                          const fs::path& cache) {
  return build(kTestsAlone, source, challenge, cache, {});
}

BuiltSolution build_assembly(const SolutionSource& source, const Challenge& challenge,
                             const fs::path& cache) {
  return build(kAssembly, source, challenge, cache, {});
}

}  // namespace gauntlet
