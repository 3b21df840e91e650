// SPDX-License-Identifier: Apache-2.0
#include "harness/simt/front_end/device_compiler.h"

#include <fmt/format.h>
#include <unistd.h>

#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/text.h"
#include "harness/sandbox/run_command.h"
#include "harness/simt/front_end/compile_folder.h"

namespace gauntlet::simt {
namespace {

namespace fs = std::filesystem;

constexpr int kOldest = 17;
constexpr int kNewest = 29;
constexpr int kPreferred = 19;  // the one that documents state counts of

std::string asked(const DeviceCompiler& compiler, const std::string& question) {
  const ScratchFolder folder("device-compiler");
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
bool is_usable(DeviceCompiler& compiler) {
  if (access(compiler.path.c_str(), X_OK) != 0) return false;
  const std::string version = asked(compiler, "--version");
  compiler.version = one_line(version.substr(0, version.find('\n')), 200);
  return major_version(version) >= kOldest &&
         asked(compiler, "-print-targets").find("nvptx64") != std::string::npos;
}

std::optional<DeviceCompiler> look() {
  std::vector<DeviceCompiler> candidates;
  const auto add = [&](int version) {
    const std::string folder = fmt::format("/usr/lib/llvm-{}", version);
    candidates.push_back({folder + "/bin/clang++", "", {folder}});
  };
  add(kPreferred);
  for (int version = kNewest; version >= kOldest; --version)
    if (version != kPreferred) add(version);
  candidates.push_back({"/usr/bin/clang++", "", {}});
  if (fs::exists("/usr/lib/clang")) candidates.back().folders.push_back("/usr/lib/clang");
  for (DeviceCompiler& candidate : candidates)
    if (is_usable(candidate)) return candidate;
  return std::nullopt;
}

}  // namespace

const std::optional<DeviceCompiler>& device_compiler() {
  static const std::optional<DeviceCompiler> kFound = look();
  return kFound;
}

std::vector<std::string> device_flags(const std::string& headers) {
  return {
      "-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_80",
      // No header and no library of a CUDA Toolkit, wherever one may be installed.
      "-nocudainc", "-nocudalib", "--cuda-path=/nonexistent", "-isystem", headers, "-include",
      "cuda_runtime.h",
      // The PTX version that the forms of the decoder are those of.
      "-Xclang", "-target-sdk-version=12.0", "-Xclang", "-target-feature", "-Xclang", "+ptx80",
      // Small arrays stay in local memory where loops over them are not unrolled.
      "-mllvm", "-unroll-threshold=4000",
      // What stands behind && is loaded by whom the first half holds for: loaded by all, it would
      // be a race of the compiler's making.
      "-mllvm", "-bonus-inst-threshold=0", "-O3", "-std=c++17", "-gline-tables-only", "-S"};
}

DeviceCode compile_device(const DeviceCompiler& compiler, const fs::path& headers,
                          const fs::path& source) {
  const CompileFolder folder(headers, source.parent_path());
  std::vector<std::string> arguments = device_flags(folder.headers());
  const std::string ptx = folder.file("device.ptx");
  arguments.insert(arguments.end(), {folder.source(source.filename()), "-o", ptx});
  CompileFolder::Made made = folder.run(compiler, arguments, ptx);
  return {std::move(made.product), std::move(made.messages)};
}

}  // namespace gauntlet::simt
