#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/build/build_cache.h"
#include "harness/build/build_folder.h"
#include "harness/build/compiler.h"
#include "harness/build/compiler_messages.h"
#include "harness/build/silencing.h"
#include "harness/build/solution.h"
#include "harness/core/digest.h"
#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/text.h"
#include "harness/sandbox/run_command.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kLargestLibrary = std::uint64_t{64} << 20;

/// What a solution's files can be made into.
struct Recipe {
  std::string_view name;  // in the cache's keys
  const std::vector<std::string>& flags;
  bool (*compiles)(std::string_view file);  // of the .cpp files
  bool warnings_count;
  bool links;  // else the compiler leaves assembly, file by file
};

bool is_no_test(std::string_view file) {
  return file != SolutionSource::kTests;
}

const Recipe& solution_recipe() {
  static const Recipe recipe{"solution", compile_flags(), is_no_test, true, true};
  return recipe;
}

const Recipe& assembly_recipe() {
  static const Recipe recipe{"assembly", assembly_flags(), is_no_test, false, false};
  return recipe;
}

const Recipe& tests_recipe() {
  static const Recipe recipe{"tests", test_flags(),
                             [](std::string_view file) { return file == SolutionSource::kTests; },
                             false, true};
  return recipe;
}

// Raised when the steps below change in what they make or tell.
constexpr std::string_view kSteps = "3: one command a file, structured messages, fixed times";

// A source can have more to say than a pipe holds or a report shows; its warnings are counted.
constexpr std::size_t kMostSaid = std::size_t{16} << 20;

std::string key_of(const Recipe& recipe, const SolutionSource& source, std::string_view contract) {
  return Digest()
      .add(recipe.name, source.digest())
      .add("contract", contract)
      .add("flags", fmt::format("{}", fmt::join(recipe.flags, " ")))
      .add("steps", kSteps)
      .add("compiler", compiler().path + compiler().version)
      .add("machine", compiler().machine)
      .hex();
}

/// The way from a solution's files to its library. Our own faults, and the machine's, are these and
/// no others; each is seen by us, not read in what the compiler says, and none is kept:
///   - the temporary folder has too little room when the build begins, or later has less than the
///     build may still use; a file of ours meets a quota or an input/output error there;
///   - a process of ours cannot be started (`Unstarted`);
///   - the compiler fails on an empty source as well;
///   - what was built cannot be read, the cache cannot be written.
/// All else that ends a build is the source's doing: limits, bombs, and whatever words it prints.
class Build {
 public:
  Build(const Recipe& recipe, const SolutionSource& source, std::string contract,
        const BuildTerms& terms)
      : recipe_(recipe), source_(source), contract_(std::move(contract)), terms_(terms) {
    record_.compiler = compiler().version;
    record_.flags = fmt::format("{}", fmt::join(recipe.flags, " "));
  }

  void run() {
    folder_.put(source_.files, contract_);
    bool good = true;
    for (const SolutionSource::File& file : source_.files)
      if (good && is_compiled(file)) good = compile(file.name);
    record_.ok = good && (!recipe_.links || link());
    if (record_.ok) take_product();
    if (!record_.ok) require_working_machine();
    if (record_.ok && recipe_.warnings_count) look_for_silencers();
    report();
  }

  const BuildRecord& record() const { return record_; }
  const std::string& library() const { return library_; }

 private:
  bool is_compiled(const SolutionSource::File& file) const {
    return file.name.ends_with(".cpp") && recipe_.compiles(file.name);
  }

  std::vector<std::string> command(std::vector<std::string> more) const {
    std::vector<std::string> argv{compiler().path};
    argv.insert(argv.end(), recipe_.flags.begin(), recipe_.flags.end());
    argv.insert(argv.end(), more.begin(), more.end());
    return argv;
  }

  /// The terms are the whole build's: each step has what the ones before it left.
  Limits limits_left() const {
    Limits limits = terms_.limits;
    limits.wall_seconds = std::max(limits.wall_seconds - record_.seconds, 0.001);
    limits.output_kept = limits.output_flood = kMostSaid;
    const std::uint64_t room = BuildFolder::kRoom - std::min(BuildFolder::kRoom, folder_.used());
    limits.file_bytes = std::min<std::uint64_t>(limits.file_bytes, room);
    return limits;
  }

  /// True when the step ended well.
  bool carry_out(const std::vector<std::string>& argv) {
    const CommandResult result = run_command({argv, folder_.path(), terms_.walls}, limits_left());
    record_.seconds += result.seconds;
    last_ = read_output(folder_.without_our_names(result.output));
    last_.garbled |= result.output.size() >= kMostSaid;
    if (const auto* fault = std::get_if<Unstarted>(&result.outcome))
      throw Broken(fault->fault, fault->why);
    const auto* end = std::get_if<Exited>(&result.outcome);
    if (end == nullptr) {
      stopped_ = fmt::format(
          "the compiler was stopped: {}",
          std::holds_alternative<OverRan>(result.outcome) &&
                  record_.seconds >= terms_.limits.wall_seconds
              ? fmt::format("more than {} s of wall-clock time", terms_.limits.wall_seconds)
              : describe(result.outcome));
    } else if (const auto limit = limit_in(last_.plain); end->code != 0 && limit) {
      stopped_ = fmt::format("the compiler ran into its limit on {}", *limit);
    }
    return end != nullptr && end->code == 0;
  }

  void remember() {
    said_.diagnostics.insert(said_.diagnostics.end(), last_.diagnostics.begin(),
                             last_.diagnostics.end());
    said_.plain += last_.plain;
    said_.garbled |= last_.garbled;
  }

  /// Takes the folder out of line tables, which a source can write for itself.
  static std::string map_of(const fs::path& folder) {
    return fmt::format("-Wa,--debug-prefix-map={}=.", folder.string());
  }

  bool compile(const std::string& file) {
    const std::string kind = recipe_.links ? ".o" : ".s";
    parts_.push_back(folder_.new_name(fs::path(file).stem().string() + kind));
    // The random seed is for names that the compiler makes up.
    const bool good = carry_out(
        command({"-I.", "-fdiagnostics-format=json", "-pipe", "-frandom-seed=" + file,
                 map_of(folder_.path()), recipe_.links ? "-c" : "-S", file, "-o", parts_.back()}));
    remember();
    return good;
  }

  bool link() {
    std::vector<std::string> more = parts_;
    more.insert(more.end(), {"-o", library_name_});
    const bool good = carry_out(command(more));
    remember();
    return good;
  }

  void take_product() {
    if (recipe_.links) library_ = folder_.take(library_name_, kLargestLibrary);
    if (!recipe_.links)
      for (const std::string& part : parts_)
        library_ += folder_.take(part, kLargestLibrary) + kPartEnd;
    record_.ok = !library_.empty();
    if (!record_.ok)
      said_ = {{},
               fmt::format("the compiler left no library below {} MiB", kLargestLibrary >> 20),
               false};
  }

  /// Throws Broken when this is not the source's doing.
  void require_working_machine() const {
    if (const std::string fault = folder_.fault(); !fault.empty())
      throw Broken(OwnFault::files,
                   fmt::format("nothing can be built in {}: {}", folder_.path().string(), fault));
    const ScratchFolder empty("build");
    const CommandResult result = run_command(
        {command({"-x", "c++", "/dev/null", "-o", "empty.so"}), empty.path(), terms_.walls},
        Limits());
    const auto* end = std::get_if<Exited>(&result.outcome);
    if (end == nullptr || end->code != 0)
      throw Broken(OwnFault::compiler,
                   fmt::format("the compiler fails on an empty source: {}: {}",
                               describe(result.outcome), one_line(result.output, 400)));
  }

  void look_for_silencers() {
    std::vector<Diagnostic> found;
    folder_.put(with_misspelt_lines(source_.files, found), contract_);
    const std::string poison = folder_.new_name("poison.h");
    folder_.put({{poison, std::string(kPoison)}}, contract_);
    for (const SolutionSource::File& file : source_.files) {
      if (!is_compiled(file)) continue;
      preprocess(file.name, {"-include", poison});
      add_silencers(last_, source_.files, found);
      if (last_.garbled || !stopped_.empty()) found.push_back(unsearched(file.name));
      // A second time, because what it made is gone when the first one met a poisoned word.
      if (!has_files_to_include() || !found.empty()) continue;
      const std::string text = preprocess(file.name, {});
      add_taken_for_the_systems(text, found);
      if (text.empty()) found.push_back(unsearched(file.name));
    }
    stopped_.clear();
    said_.diagnostics.insert(said_.diagnostics.end(), found.begin(), found.end());
  }

  std::string preprocess(const std::string& file, std::vector<std::string> more) {
    const std::string output = folder_.new_name("preprocessed");
    more.insert(more.end(),
                {"-I.", "-fdiagnostics-format=json", "-fmax-errors=0", "-E", file, "-o", output});
    carry_out(command(more));
    return folder_.take(output, terms_.limits.file_bytes);
  }

  bool has_files_to_include() const {
    return std::any_of(source_.files.begin(), source_.files.end(), [](const auto& file) {
      return file.name != "solution.cpp" && file.name != SolutionSource::kTests &&
             file.name != "contract.h";
    });
  }

  static Diagnostic unsearched(const std::string& file) {
    return {"warning", file, 0, 0, "cannot be searched for pragmas that silence the compiler", ""};
  }

  void report() {
    if (said_.garbled)
      said_.diagnostics.push_back(
          {"warning", "", 0, 0, "the compiler's messages were cut or mixed up by the source", ""});
    record_.warnings = static_cast<int>(own_warnings(said_).size());
    record_.messages = tidy_messages(said_);
    if (stopped_.empty()) return;
    record_.messages = stopped_ + (record_.messages.empty() ? "" : "\n") + record_.messages;
    record_.stopped = true;
  }

  const Recipe& recipe_;
  const SolutionSource& source_;
  std::string contract_;
  const BuildTerms& terms_;
  BuildFolder folder_;
  const std::string library_name_ = folder_.new_name("library.so");
  std::vector<std::string> parts_;  // objects to link, or assembly
  CompilerOutput last_;             // of the last step
  CompilerOutput said_;
  std::string stopped_;
  BuildRecord record_;
  std::string library_;
};

BuiltSolution build(const Recipe& recipe, const SolutionSource& source, const Challenge& challenge,
                    const fs::path& cache, const BuildTerms& terms) {
  const BuildCache builds(cache / "builds");
  const std::string contract = read_file(challenge.folder / "contract.h");
  const std::string key = key_of(recipe, source, contract);
  if (auto built = builds.find(key)) return *built;
  Build build(recipe, source, contract, terms);
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
