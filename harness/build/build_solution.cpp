#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include "harness/build/build_cache.h"
#include "harness/build/compiler.h"
#include "harness/build/compiler_messages.h"
#include "harness/build/solution.h"
#include "harness/core/digest.h"
#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/sandbox/fd.h"
#include "harness/sandbox/run_command.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

constexpr off_t kLargestLibrary = off_t{64} << 20;
constexpr const char* kContract = "contract.h";

/// What a solution's files can be made into.
struct Recipe {
  std::string_view name;  // in the cache's keys
  const std::vector<std::string>& flags;
  bool (*compiles)(std::string_view file);  // of the .cpp files
  bool links = true;                        // else the compiler leaves assembly, file by file
};

bool is_no_test(std::string_view file) {
  return file != SolutionSource::kTests;
}

const Recipe& solution_recipe() {
  static const Recipe recipe{"solution", compile_flags(), is_no_test};
  return recipe;
}

const Recipe& assembly_recipe() {
  static const Recipe recipe{"assembly", assembly_flags(), is_no_test, false};
  return recipe;
}

const Recipe& tests_recipe() {
  static const Recipe recipe{"tests", test_flags(),
                             [](std::string_view file) { return file == SolutionSource::kTests; }};
  return recipe;
}

std::string key_of(const Recipe& recipe, const SolutionSource& source, const Challenge& challenge) {
  return Digest()
      .add(recipe.name, source.digest())
      .add("contract", read_file(challenge.folder / kContract))
      .add("flags", fmt::format("{}", fmt::join(recipe.flags, " ")))
      .add("compiler", compiler().path + compiler().version)
      .add("machine", compiler().machine)
      .hex();
}

/// The command line. Names have been checked when the solution was read; a source that came another
/// way gets the same treatment by the compiler as any wrong name.
Command compile_command(const Recipe& recipe, const SolutionSource& source, const fs::path& folder,
                        const Walls& walls) {
  Command command{{compiler().path}, folder, walls};
  command.argv.insert(command.argv.end(), recipe.flags.begin(), recipe.flags.end());
  command.argv.push_back("-I.");
  if (recipe.links) command.argv.insert(command.argv.end(), {"-o", kLibrary});
  for (const SolutionSource::File& file : source.files)
    if (file.name.ends_with(".cpp") && recipe.compiles(file.name))
      command.argv.push_back(file.name);
  return command;
}

void write_sources(const SolutionSource& source, const Challenge& challenge,
                   const fs::path& folder) {
  for (const SolutionSource::File& file : source.files)
    write_file(folder / file.name, file.content);
  // Last, so that a copy of it among the solution's files, however changed, is not what is
  // compiled.
  write_file(folder / kContract, read_file(challenge.folder / kContract));
}

/// What the compiler left in its folder, which may be anything.
std::string take_file(const fs::path& path) {
  const Fd file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat facts {};
  if (!file || fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return "";
  if (facts.st_size > kLargestLibrary) return "";
  std::string content(static_cast<std::size_t>(facts.st_size), '\0');
  std::size_t done = 0;
  while (done < content.size()) {
    const ssize_t got = read(file.get(), content.data() + done, content.size() - done);
    if (got <= 0) return "";
    done += static_cast<std::size_t>(got);
  }
  return content;
}

std::string take_product(const Recipe& recipe, const SolutionSource& source,
                         const fs::path& folder) {
  if (recipe.links) return take_file(folder / kLibrary);
  std::string parts;
  for (const SolutionSource::File& file : source.files)
    if (file.name.ends_with(".cpp") && recipe.compiles(file.name))
      parts += take_file(folder / fs::path(file.name).stem().concat(".s")) + kPartEnd;
  return parts;
}

/// The sentence for a compilation that was stopped; nothing when the compiler had its say.
std::string stopped_by(const CommandResult& result) {
  if (std::holds_alternative<Exited>(result.outcome)) {
    const bool failed = std::get<Exited>(result.outcome).code != 0;
    const auto limit = limit_in(result.output);
    return failed && limit ? fmt::format("the compiler ran into its limit on {}", *limit) : "";
  }
  if (std::holds_alternative<Unstarted>(result.outcome)) throw Broken(describe(result.outcome));
  return fmt::format("the compiler was stopped: {}", describe(result.outcome));
}

BuildRecord record_of(const Recipe& recipe, const CommandResult& result, const fs::path& scratch) {
  BuildRecord record;
  record.compiler = compiler().version;
  record.flags = fmt::format("{}", fmt::join(recipe.flags, " "));
  record.warnings = count_warnings(result.output);
  record.messages = tidy_messages(result.output, scratch.string());
  record.seconds = result.seconds;
  const auto* end = std::get_if<Exited>(&result.outcome);
  record.ok = end != nullptr && end->code == 0;
  return record;
}

BuiltSolution build(const Recipe& recipe, const SolutionSource& source, const Challenge& challenge,
                    const fs::path& cache, const BuildTerms& terms) {
  const BuildCache builds(cache / "builds");
  const std::string key = key_of(recipe, source, challenge);
  if (auto built = builds.find(key)) return *built;
  const ScratchFolder scratch("build");
  write_sources(source, challenge, scratch.path());
  const CommandResult result =
      run_command(compile_command(recipe, source, scratch.path(), terms.walls), terms.limits);
  BuildRecord record = record_of(recipe, result, scratch.path());
  if (const std::string stopped = stopped_by(result); !stopped.empty()) {
    record.messages = stopped + (record.messages.empty() ? "" : "\n") + record.messages;
    record.stopped = true;
    return {record, {}};  // not kept: another day or machine may be faster
  }
  const std::string library = record.ok ? take_product(recipe, source, scratch.path()) : "";
  if (record.ok && library.empty()) {
    record.ok = false;
    record.messages =
        fmt::format("the compiler left no library below {} MiB", kLargestLibrary >> 20);
  }
  return builds.keep(key, record, library);
}

}  // namespace

BuiltSolution build_solution(const SolutionSource& source, const Challenge& challenge,
                             const fs::path& cache, const BuildTerms& terms) {
  return build(solution_recipe(), source, challenge, cache, terms);
}

BuiltSolution build_tests(const SolutionSource& source, const Challenge& challenge,
                          const fs::path& cache) {
  return build(tests_recipe(), source, challenge, cache, {});
}

BuiltSolution build_assembly(const SolutionSource& source, const Challenge& challenge,
                             const fs::path& cache) {
  return build(assembly_recipe(), source, challenge, cache, {});
}

}  // namespace gauntlet
