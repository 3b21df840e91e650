// SPDX-License-Identifier: Apache-2.0
#include "harness/build/cuda_commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/build/clang_messages.h"
#include "harness/build/cuda_flags.h"

namespace gauntlet {
namespace {

using Arguments = CudaCommands::Arguments;

void append(Arguments& to, const Arguments& more) {
  to.insert(to.end(), more.begin(), more.end());
}

/// Of a .cpp file beside solution.cu: the host's half of it in every way but the language.
Arguments beside_flags(const std::string& headers) {
  return {"-isystem", headers, "-O2", "-std=c++17", "-fPIC", "-pthread"};
}

}  // namespace

Arguments CudaCommands::command(const Arguments& flags, const std::string& source,
                                const std::string& product) const {
  Arguments argv{compiler_};
  append(argv, flags);
  append(argv, warnings_);
  append(argv, clang_telling_flags());
  append(argv, {"-iquote", ".", fmt::format("-ffile-prefix-map={}={}", ours_, kCudaFolder),
                "-ffile-compilation-dir=.", source, "-o", product});
  return argv;
}

Arguments CudaCommands::device(const std::string& source, const std::string& ptx) const {
  return command(device_flags(headers()), source, ptx);
}

Arguments CudaCommands::host(const std::string& source, const std::string& object) const {
  Arguments flags = host_flags(headers(), embedded());
  append(flags, {"-pthread", "-c"});
  return command(flags, source, object);
}

Arguments CudaCommands::beside(const std::string& source, const std::string& object) const {
  Arguments flags = beside_flags(headers());
  flags.emplace_back("-c");
  return command(flags, source, object);
}

Arguments CudaCommands::link(const Arguments& objects, const std::string& library) const {
  Arguments argv{compiler_};
  append(argv, host_link_flags());
  append(argv, objects);
  append(argv, {runtime(), "-o", library});
  return argv;
}

std::string cuda_flags(const Toolchain& tools) {
  const std::string headers = "HEADERS";
  return fmt::format("{}; device: {}; host: {}; C++: {}; linked: {}",
                     fmt::join(tools.solution_flags, " "), fmt::join(device_flags(headers), " "),
                     fmt::join(host_flags(headers, "EMBEDDED"), " "),
                     fmt::join(beside_flags(headers), " "), fmt::join(host_link_flags(), " "));
}

}  // namespace gauntlet
