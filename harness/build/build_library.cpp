// SPDX-License-Identifier: Apache-2.0
#include "harness/build/build_library.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/build/header_macros.h"
#include "harness/build/silencer_search.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kLargestLibrary = std::uint64_t{64} << 20;

/// Takes the folder out of line tables, which a source can write for itself.
std::string map_of(const fs::path& folder) {
  return fmt::format("-Wa,--debug-prefix-map={}=.", folder.string());
}

}  // namespace

LibraryBuild::LibraryBuild(const Recipe& recipe, const SolutionSource& source, std::string contract,
                           const BuildTerms& terms, FirstHeader first_header)
    : recipe_(recipe),
      tools_(toolchain(source.device)),
      source_(source),
      contract_(std::move(contract)),
      first_header_(std::move(first_header)),
      steps_(folder_, terms) {
  record_.compiler = tools_.compiler().version;
  record_.flags = fmt::format("{}", fmt::join(tools_.*recipe.flags, " "));
  for (const SolutionSource::File& file : source.files) {
    if (!tools_.compiles(file.name) || !recipe.compiles(file.name)) continue;
    const std::string stem = fs::path(file.name).stem().string();
    parts_.push_back({file.name, folder_.new_name(stem + ".s"), folder_.new_name(stem + ".o"), {}});
  }
}

void LibraryBuild::run() {
  folder_.put(source_.files, contract_);
  folder_.put({{first_name_, first_header_.text}}, contract_);
  if (!first_header_.precompiled.empty())
    folder_.lend(first_header_.precompiled, first_name_ + ".gch");
  bool good = true;
  for (Part& part : parts_)
    if (good) good = compile(part) && (!recipe_.links || assemble(part));
  record_.ok = good && (!recipe_.links || link());
  if (record_.ok) take_product();
  if (!record_.ok) {
    std::vector<std::string> alone = command({"-x", std::string(tools_.language)});
    if (!recipe_.links) alone.push_back("-S");
    steps_.require_working_machine(alone);
  }
  if (record_.ok && recipe_.warnings_count) look_for_silencers();
  finish_record(record_, said_, steps_);
}

std::vector<std::string> LibraryBuild::command(const std::vector<std::string>& more) const {
  std::vector<std::string> argv{tools_.compiler().path};
  const std::vector<std::string>& flags = tools_.*recipe_.flags;
  argv.insert(argv.end(), flags.begin(), flags.end());
  argv.insert(argv.end(), more.begin(), more.end());
  return argv;
}

/// The files are found by #include "..." and not by <...>, so that none takes the place of one of
/// the system's. What is included first is empty for a submission, and is what the search fills.
/// The random seed is for names that the compiler makes up; -H lists every file that is read, and
/// from where.
std::vector<std::string> LibraryBuild::compile_command(const Part& part) const {
  return command({"-iquote", ".", "-include", first_name_, "-H", "-fdiagnostics-format=json",
                  "-frandom-seed=" + part.file, "-S", part.file, "-o", part.assembly});
}

bool LibraryBuild::compile(Part& part) {
  const bool good = steps_.carry_out(compile_command(part));
  CompilerOutput said = read_output(steps_.printed());
  // The compiler alone was at work, without an assembler to print what a source likes: when it
  // ends well it has said all that it says in its structured way.
  said_.garbled |= good && (steps_.cut() || said.garbled || !said.plain.empty());
  said_.plain += said.plain;
  said_.diagnostics.insert(said_.diagnostics.end(), said.diagnostics.begin(),
                           said.diagnostics.end());
  if (recipe_.warnings_count) add_taken_for_the_systems(said.included, said_.diagnostics);
  part.read = std::move(said.included);
  return good;
}

bool LibraryBuild::assemble(const Part& part) {
  const bool good = steps_.carry_out(
      {tools_.compiler().path, map_of(folder_.path()), "-c", part.assembly, "-o", part.object});
  said_.plain += steps_.printed();
  std::error_code ignored;
  fs::remove(folder_.path() / part.assembly, ignored);
  return good;
}

bool LibraryBuild::link() {
  std::vector<std::string> more;
  for (const Part& part : parts_) more.push_back(part.object);
  more.insert(more.end(), {"-o", library_name_});
  const bool good = steps_.carry_out(command(more));
  said_.plain += steps_.printed();
  return good;
}

void LibraryBuild::take_product() {
  if (recipe_.links) library_ = folder_.take(library_name_, kLargestLibrary);
  if (!recipe_.links)
    for (const Part& part : parts_)
      library_ += folder_.take(part.assembly, kLargestLibrary) + kPartEnd;
  record_.ok = !library_.empty();
  if (!record_.ok)
    said_ = {.plain =
                 fmt::format("the compiler left no library below {} MiB", kLargestLibrary >> 20)};
}

void LibraryBuild::look_for_silencers() {
  SilencerSearch search(source_.files, contract_, folder_, steps_);
  search.fill(first_name_);
  for (const Part& part : parts_) search.go_through(part.file, compile_command(part));
  said_.diagnostics.insert(said_.diagnostics.end(), search.found().begin(), search.found().end());
  HeaderMacros macros(source_.files, contract_, folder_, steps_);
  for (const Part& part : parts_) macros.look(part.file, part.read, command({}));
  said_.diagnostics.insert(said_.diagnostics.end(), macros.found().begin(), macros.found().end());
}

}  // namespace gauntlet
