#include "harness/build/compiler.h"

#include <fmt/format.h>
#include <fstream>
#include <unistd.h>

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

}  // namespace

const Compiler& compiler() {
  static const Compiler found = [] {
    const std::string path = find_compiler();
    return Compiler{path, ask_version(path), describe_cpu()};
  }();
  return found;
}

const std::vector<std::string>& test_flags() {
  static const std::vector<std::string> flags{"-std=c++20",
                                              "-O3",
                                              "-march=native",
                                              "-fPIC",
                                              "-shared",
                                              "-fopenmp",
                                              "-pthread",
                                              "-Wall",
                                              "-Wextra",
                                              "-fmax-errors=20",
                                              "-fvisibility=default"};
  return flags;
}

const std::vector<std::string>& compile_flags() {
  static const std::vector<std::string> flags = [] {
    std::vector<std::string> all = test_flags();
    // A function that is declared and never defined is an error here, with its name, and not when
    // the solution is loaded.
    all.push_back("-Wl,-z,defs");
    return all;
  }();
  return flags;
}

const std::vector<std::string>& assembly_flags() {
  static const std::vector<std::string> flags = [] {
    std::vector<std::string> all = test_flags();
    std::erase(all, "-shared");
    // Unique symbols cannot be made local to one of several solutions in a library.
    all.push_back("-fno-gnu-unique");
    return all;
  }();
  return flags;
}

}  // namespace gauntlet
