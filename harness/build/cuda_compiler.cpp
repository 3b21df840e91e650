// SPDX-License-Identifier: Apache-2.0
#include "harness/build/cuda_compiler.h"

#include <cstdlib>
#include <fmt/format.h>
#include <string>
#include <unistd.h>
#include <vector>

#include "harness/core/files.h"
#include "harness/core/text.h"
#include "harness/sandbox/run_command.h"

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

constexpr int kOldest = 17;
constexpr int kNewest = 29;
constexpr int kPreferred = 19;  // the one that documents state counts of

std::string asked(const Compiler& compiler, const std::string& question) {
  const ScratchFolder folder("cuda-compiler");
  const CommandResult result =
      run_command({{compiler.path, question}, folder.path(), {}, compiler.folders}, Limits());
  const auto* end = std::get_if<Exited>(&result.outcome);
  return end != nullptr && end->code == 0 ? result.output : "";
}

/// 19 from "Debian clang version 19.1.7 (3~deb12u1)"; 0 where there is none.
int major_version(const std::string& version) {
  constexpr std::string_view kBefore = "clang version ";
  const std::size_t at = version.find(kBefore);
  return at == std::string::npos ? 0 : std::atoi(version.c_str() + at + kBefore.size());
}

/// Completed with its version if it is one that we can use.
bool is_usable(Compiler& compiler) {
  if (access(compiler.path.c_str(), X_OK) != 0) return false;
  const std::string version = asked(compiler, "--version");
  compiler.version = one_line(version.substr(0, version.find('\n')), 200);
  return major_version(version) >= kOldest &&
         asked(compiler, "-print-targets").find("nvptx64") != std::string::npos;
}

std::optional<Compiler> look() {
  std::vector<Compiler> candidates;
  const auto add = [&](int version) {
    const std::string folder = fmt::format("/usr/lib/llvm-{}", version);
    candidates.push_back({folder + "/bin/clang++", "", "", {folder}});
  };
  add(kPreferred);
  for (int version = kNewest; version >= kOldest; --version)
    if (version != kPreferred) add(version);
  candidates.push_back({"/usr/bin/clang++", "", "", {}});
  if (fs::exists("/usr/lib/clang")) candidates.back().folders.push_back("/usr/lib/clang");
  for (Compiler& candidate : candidates)
    if (is_usable(candidate)) return candidate;
  return std::nullopt;
}

}  // namespace

const std::optional<Compiler>& find_cuda_compiler() {
  static const std::optional<Compiler> kFound = look();
  return kFound;
}

}  // namespace gauntlet
