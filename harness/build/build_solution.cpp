// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sstream>

#include "harness/build/build_cache.h"
#include "harness/build/build_folder.h"
#include "harness/build/build_library.h"
#include "harness/build/build_steps.h"
#include "harness/build/cuda_build.h"
#include "harness/build/cuda_parts.h"
#include "harness/build/precompiled_header.h"
#include "harness/build/solution.h"
#include "harness/build/toolchain.h"
#include "harness/core/digest.h"
#include "harness/core/error.h"
#include "harness/core/files.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

// Subjects are ours: what hinders one is the machine, which may be a busy one.
const BuildTerms kSubjectTerms{.limits = {.wall_seconds = 600, .cpu_seconds = 600}};
constexpr std::uint64_t kLargestSubject = std::uint64_t{64} << 20;

bool is_no_test(std::string_view file) {
  return file != SolutionSource::kTests;
}

bool is_tests(std::string_view file) {
  return file == SolutionSource::kTests;
}

constexpr Recipe kSolution{"solution", &Toolchain::solution_flags, is_no_test, true, true};
constexpr Recipe kSubject{"subject", &Toolchain::subject_flags, is_no_test, false, false};
constexpr Recipe kTestsAlone{"tests", &Toolchain::test_flags, is_tests, false, true};

/// What a build depends on besides its source and how the source is made into what.
Digest surroundings(const Toolchain& tools, std::string_view contract) {
  return Digest()
      .add("contract", contract)
      .add("steps", kSteps)
      .add("compiler", tools.compiler().path + tools.compiler().version)
      .add("machine", tools.compiler().machine);
}

std::string key_of(const Recipe& recipe, const SolutionSource& source, std::string_view contract) {
  const Toolchain& tools = toolchain(source.device);
  Digest digest = surroundings(tools, contract);
  digest.add(recipe.name, source.digest())
      .add("flags", fmt::format("{}", fmt::join(tools.*recipe.flags, " ")));
  if (!recipe.links) digest.add("headers", subject_headers(source));
  return digest.hex();
}

std::string contract_of(const Challenge& challenge) {
  return read_file(challenge.folder / "contract.h");
}

BuiltSolution kept(const BuildCache& builds, const std::string& key, const BuildRecord& record,
                   std::string_view library, std::string_view kernels = {}) {
  if (record.stopped) return {record, {}, {}};  // another day or machine may be faster
  try {
    return builds.keep(key, record, library, kernels);
  } catch (const UserError& error) {
    throw Broken(OwnFault::files, error.what());
  }
}

BuiltSolution build(const Recipe& recipe, const SolutionSource& source, const Challenge& challenge,
                    const fs::path& cache, const BuildTerms& terms) {
  const BuildCache builds(cache / "builds");
  const std::string contract = contract_of(challenge);
  const std::string key = key_of(recipe, source, contract);
  if (auto built = builds.find(key)) return *built;
  LibraryBuild build(recipe, source, contract, terms,
                     recipe.links ? FirstHeader() : first_header(source, cache));
  build.run();
  return kept(builds, key, build.record(), build.library());
}

/// Assembles and links what a subject was compiled to.
BuiltSolution linked(const Toolchain& tools, const BuiltSolution& assembly,
                     const BuildCache& builds, const std::string& key) {
  const BuildFolder folder;
  BuildSteps steps(folder, kSubjectTerms);
  std::vector<SolutionSource::File> parts;
  std::istringstream text(read_file(assembly.library));
  for (std::string part; std::getline(text, part, kPartEnd);)
    parts.push_back({fmt::format("{}.s", parts.size()), std::move(part)});
  folder.put(parts, "");
  std::vector<std::string> command{tools.compiler().path, "-shared", "-fopenmp", "-pthread",
                                   "-Wl,-z,defs",         "-o",      kLibrary};
  for (const SolutionSource::File& part : parts) command.push_back(part.name);
  BuildRecord record = assembly.record;
  record.ok = steps.carry_out(command);
  record.messages = steps.printed();
  record.seconds += steps.seconds();
  record.stopped = !steps.stopped().empty();
  return kept(builds, key, record, record.ok ? folder.take(kLibrary, kLargestSubject) : "");
}

/// Its key has all that kernels are made and accepted by: the device's program as well.
BuiltSolution build_cuda(const SolutionSource& source, const Challenge& challenge,
                         const fs::path& cache, const BuildTerms& terms) {
  const Toolchain& tools = toolchain(source.device);
  const BuildCache builds(cache / "builds");
  const std::string contract = contract_of(challenge);
  const std::string key = surroundings(tools, contract)
                              .add("cuda steps", kCudaSteps)
                              .add("parts", cuda_parts().digest)
                              .add("solution", source.digest())
                              .add("flags", cuda_flags(tools))
                              .hex();
  if (auto built = builds.find(key)) return *built;
  CudaBuild build(source, contract, terms);
  build.run();
  return build.record().ok ? kept(builds, key, build.record(), build.library(), build.kernels())
                           : kept(builds, key, build.record(), "");
}

}  // namespace

BuiltSolution build_solution(const SolutionSource& source, const Challenge& challenge,
                             const fs::path& cache, const BuildTerms& terms) {
  if (source.device == Device::cuda) return build_cuda(source, challenge, cache, terms);
  return build(kSolution, source, challenge, cache, terms);
}

BuiltSolution build_tests(const SolutionSource& source, const Challenge& challenge,
                          const fs::path& cache) {
  return build(kTestsAlone, source, challenge, cache, {});
}

BuiltSolution build_assembly(const SolutionSource& subject, const Challenge& challenge,
                             const fs::path& cache) {
  return build(kSubject, subject, challenge, cache, kSubjectTerms);
}

BuiltSolution build_subject(const SolutionSource& subject, const Challenge& challenge,
                            const fs::path& cache) {
  if (subject.device == Device::cuda) return build_cuda(subject, challenge, cache, kSubjectTerms);
  const BuildCache builds(cache / "builds");
  const Toolchain& tools = toolchain(subject.device);
  const std::string key =
      Digest().add("library", key_of(kSubject, subject, contract_of(challenge))).hex();
  if (auto built = builds.find(key)) return *built;
  const BuiltSolution assembly = build_assembly(subject, challenge, cache);
  if (!assembly.record.ok) return assembly;
  return linked(tools, assembly, builds, key);
}

}  // namespace gauntlet
