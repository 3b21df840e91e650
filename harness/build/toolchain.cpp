// SPDX-License-Identifier: Apache-2.0
#include "harness/build/toolchain.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <unistd.h>

#include "harness/build/cuda_commands.h"
#include "harness/build/cuda_compiler.h"
#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/text.h"
#include "harness/sandbox/run_command.h"

namespace gauntlet {
namespace {

std::string find_compiler() {
  for (const char* path : {"/usr/local/bin/g++", "/usr/bin/g++"})
    if (access(path, X_OK) == 0) return path;
  throw Broken(OwnFault::compiler,
               "there is no g++ in /usr/bin or /usr/local/bin: install it (apt install g++)");
}

std::string ask_version(const std::string& path) {
  const ScratchFolder folder("version");
  const CommandResult result = run_command({{path, "--version"}, folder.path()}, Limits());
  const auto* end = std::get_if<Exited>(&result.outcome);
  if (end == nullptr || end->code != 0)
    throw Broken(OwnFault::compiler,
                 fmt::format("{} --version: {}", path, describe(result.outcome)));
  return printable(result.output.substr(0, result.output.find('\n')), 200);
}

/// The lines of the first CPU that say which instructions it has.
std::string describe_cpu() {
  std::ifstream info("/proc/cpuinfo");
  std::string text;
  for (std::string line; std::getline(info, line) && !line.empty();)
    for (const char* wanted : {"model name", "flags", "CPU part", "Features"})
      if (line.starts_with(wanted)) text += line + '\n';
  return text;
}

bool ends_with_one_of(std::string_view file, const std::vector<std::string_view>& endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](std::string_view ending) { return file.ends_with(ending); });
}

Toolchain for_cpu() {
  Toolchain made;
  made.device = Device::cpu;
  made.compiler = compiler;
  made.language = "c++";
  made.first_file = "solution.cpp";
  made.compiled = {".cpp"};
  made.included = {".h", ".hpp"};
  // Of vectors wider than the CPU's the compiler says that others may pass them otherwise. That is
  // a word on who else calls the code: the same code has no warning on a CPU with such vectors.
  made.test_flags = {"-std=c++20", "-O3",        "-march=native",   "-fPIC",
                     "-shared",    "-fopenmp",   "-pthread",        "-Wall",
                     "-Wextra",    "-Wno-psabi", "-fmax-errors=20", "-fvisibility=default"};
  made.solution_flags = made.test_flags;
  // A function that is declared and never defined is an error here, with its name, and not when
  // the solution is loaded.
  made.solution_flags.push_back("-Wl,-z,defs");
  // Nobody times these and nobody reads their warnings. There are hundreds; with -O3 they take
  // twice as long to compile, and run a submission's tests 1 to 1.8 times as fast, in half a second
  // or less. Unique symbols cannot be made local to one of several solutions in a library.
  made.subject_flags = {"-std=c++20",
                        "-O1",
                        "-march=native",
                        "-fPIC",
                        "-fopenmp",
                        "-pthread",
                        "-fvisibility=default",
                        "-fno-gnu-unique",
                        "-w",
                        "-fmax-errors=20"};
  const std::vector<std::string_view> values{"algorithm", "array",  "bit",     "cmath",   "cstdint",
                                             "cstring",   "limits", "numeric", "utility", "vector"};
  std::vector<std::string_view> all = values;
  all.insert(all.end(), {"atomic", "functional", "memory", "optional", "queue", "thread"});
  made.subject_headers = {{}, values, all};
  made.flags_in_words = [](const Toolchain& tools) {
    return fmt::format("{}", fmt::join(tools.solution_flags, " "));
  };
  return made;
}

/// What the halves are compiled with besides, no challenge can choose: see cuda_commands.h.
Toolchain for_cuda() {
  Toolchain made;
  made.device = Device::cuda;
  made.compiler = cuda_compiler;
  made.language = "cuda";
  made.first_file = "solution.cu";
  made.compiled = {".cu", ".cpp"};
  made.included = {".cuh", ".h", ".hpp"};
  made.solution_flags = made.test_flags = {"-Wall", "-Wextra", "-ferror-limit=20"};
  made.flags_in_words = cuda_flags;
  return made;
}

const std::array<Toolchain, 2>& toolchains() {
  static const std::array<Toolchain, 2> kAll{for_cpu(), for_cuda()};
  return kAll;
}

}  // namespace

const Compiler& compiler() {
  static const Compiler found = [] {
    const std::string path = find_compiler();
    return Compiler{path, ask_version(path), describe_cpu(), {}};
  }();
  return found;
}

const Compiler& cuda_compiler() {
  const std::optional<Compiler>& clang = find_cuda_compiler();
  if (!clang) throw Broken(OwnFault::compiler, kNoCudaCompiler);
  return *clang;
}

bool Toolchain::compiles(std::string_view file) const {
  return ends_with_one_of(file, compiled);
}

bool Toolchain::is_code(std::string_view file) const {
  return compiles(file) || ends_with_one_of(file, included);
}

const Toolchain& toolchain(Device device) {
  for (const Toolchain& known : toolchains())
    if (known.device == device) return known;
  throw Broken(OwnFault::bug, fmt::format("no toolchain builds for {}", name_of(device)));
}

}  // namespace gauntlet
