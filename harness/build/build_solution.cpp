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
constexpr Recipe kAssembly{"assembly", &Toolchain::subject_flags, is_no_test, false, false};
constexpr Recipe kTestsAlone{"tests", &Toolchain::test_flags, is_tests, false, true};

/// What the builds for all devices depend on. No limits: what they stopped is not kept.
CacheKey common_key(std::string_view layer, std::string_view steps, const SolutionSource& source,
                    std::string_view contract) {
  const Toolchain& tools = toolchain(source.device);
  CacheKey key(layer);
  key.add("device", name_of(source.device));
  for (const SolutionSource::File& file : source.files)
    key.add_text("file " + file.name, file.content);
  key.add_text("contract", contract)
      .add("steps", steps)
      .add("compiler", fmt::format("{}: {}", tools.compiler().path, tools.compiler().version))
      .add_text("machine", tools.compiler().machine);
  return key;
}

CacheKey key_of(const Recipe& recipe, const SolutionSource& source, std::string_view contract) {
  const Toolchain& tools = toolchain(source.device);
  CacheKey key = common_key(recipe.name, kSteps, source, contract);
  key.add("flags", fmt::format("{}", fmt::join(tools.*recipe.flags, " ")));
  if (!recipe.links) key.add_text("headers", subject_headers(source));
  return key;
}

/// It has all that kernels are made and accepted by: the device's program as well.
CacheKey cuda_key(const SolutionSource& source, std::string_view contract) {
  CacheKey key = common_key("cuda", kCudaSteps, source, contract);
  const Toolchain& tools = toolchain(source.device);
  key.add("flags", tools.flags_in_words(tools)).add("parts", cuda_parts().digest);
  return key;
}

std::string contract_of(const Challenge& challenge) {
  return read_file(challenge.folder / "contract.h");
}

BuiltSolution kept(const BuildCache& builds, const CacheKey& key, const BuildRecord& record,
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
  const CacheKey key = key_of(recipe, source, contract);
  if (auto built = builds.find(key)) return *built;
  LibraryBuild build(recipe, source, contract, terms,
                     recipe.links ? FirstHeader() : first_header(source, cache));
  build.run();
  return kept(builds, key, build.record(), build.library());
}

/// Assembles and links what a subject was compiled to.
BuiltSolution linked(const Toolchain& tools, const BuiltSolution& assembly,
                     const BuildCache& builds, const CacheKey& key) {
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

BuiltSolution build_cuda(const SolutionSource& source, const Challenge& challenge,
                         const fs::path& cache, const BuildTerms& terms) {
  const BuildCache builds(cache / "builds");
  const std::string contract = contract_of(challenge);
  const CacheKey key = cuda_key(source, contract);
  if (auto built = builds.find(key)) return *built;
  CudaBuild build(source, contract, terms);
  build.run();
  return build.record().ok ? kept(builds, key, build.record(), build.library(), build.kernels())
                           : kept(builds, key, build.record(), "");
}

}  // namespace

std::string BuiltSolution::digest() const {
  if (!record.ok) return "";
  const std::string host = sha256(read_file(library));
  if (kernels.empty()) return host;
  return Digest().add("library", host).add("kernels", sha256(read_file(kernels))).hex();
}

BuiltSolution build_solution(const SolutionSource& source, const Challenge& challenge,
                             const fs::path& cache, const BuildTerms& terms) {
  if (source.device == Device::cuda) return build_cuda(source, challenge, cache, terms);
  return build(kSolution, source, challenge, cache, terms);
}

bool is_built(const SolutionSource& source, const Challenge& challenge, const fs::path& cache) {
  const std::string contract = contract_of(challenge);
  const CacheKey key = source.device == Device::cuda ? cuda_key(source, contract)
                                                     : key_of(kSolution, source, contract);
  return BuildCache(cache / "builds").find(key).has_value();
}

BuiltSolution build_tests(const SolutionSource& source, const Challenge& challenge,
                          const fs::path& cache) {
  return build(kTestsAlone, source, challenge, cache, {});
}

BuiltSolution build_assembly(const SolutionSource& subject, const Challenge& challenge,
                             const fs::path& cache) {
  return build(kAssembly, subject, challenge, cache, kSubjectTerms);
}

BuiltSolution build_subject(const SolutionSource& subject, const Challenge& challenge,
                            const fs::path& cache) {
  if (subject.device == Device::cuda) return build_cuda(subject, challenge, cache, kSubjectTerms);
  const BuildCache builds(cache / "builds");
  const Toolchain& tools = toolchain(subject.device);
  const CacheKey key = CacheKey("subject").add(
      "assembly", key_of(kAssembly, subject, contract_of(challenge)).digest());
  if (auto built = builds.find(key)) return *built;
  const BuiltSolution assembly = build_assembly(subject, challenge, cache);
  if (!assembly.record.ok) return assembly;
  return linked(tools, assembly, builds, key);
}

}  // namespace gauntlet
