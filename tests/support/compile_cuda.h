// SPDX-License-Identifier: Apache-2.0
// Compiles one .cu file of a test's, for the device or for the host, with the flags of solutions.
#pragma once

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "harness/build/cuda_compiler.h"
#include "harness/build/cuda_flags.h"
#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/sandbox/run_command.h"

namespace gauntlet {

/// What one run of the compiler made: nothing where it did not compile.
struct CudaProduct {
  std::string bytes;     // PTX, or a shared library
  std::string messages;  // what it said, as it said it
};

/// A scratch folder with copies of our headers and of a test's sources, in which the compiler
/// works on them in the sandbox.
class CudaCompileFolder {
 public:
  explicit CudaCompileFolder(const std::filesystem::path& sources) : folder_("cuda-test") {
    namespace fs = std::filesystem;
    fs::copy(fs::path(GAUNTLET_ROOT) / "harness/simt/include", folder_.path() / "include",
             fs::copy_options::recursive);
    fs::copy(sources, folder_.path() / "source", fs::copy_options::recursive);
  }

  std::string headers() const { return file("include"); }
  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }

  CudaProduct run(const std::vector<std::string>& arguments, const std::string& product) const {
    namespace fs = std::filesystem;
    // The compiler's user reads them; a copy has the permissions of where it came from.
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path()))
      fs::permissions(entry.path(),
                      fs::perms::others_read |
                          (entry.is_directory() ? fs::perms::others_exec : fs::perms::none),
                      fs::perm_options::add);
    const Compiler& compiler = find_cuda_compiler().value();
    std::vector<std::string> argv{compiler.path};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    argv.insert(argv.end(), {"-o", file(product)});
    const CommandResult result =
        run_command({argv, folder_.path(), {}, compiler.folders}, Limits());
    const auto* end = std::get_if<Exited>(&result.outcome);
    if (end == nullptr) return {"", result.output + "\n" + describe(result.outcome)};
    return {end->code == 0 ? read_file(file(product)) : "", result.output};
  }

 private:
  ScratchFolder folder_;
};

/// PTX of one file of a folder whose other files it may include.
inline CudaProduct compile_for_device(const std::filesystem::path& source) {
  const CudaCompileFolder folder(source.parent_path());
  std::vector<std::string> arguments = device_flags(folder.headers());
  arguments.push_back(folder.file("source/" + source.filename().string()));
  return folder.run(arguments, "device.ptx");
}

/// A library of the host's half of it, with the CUDA runtime's functions.
inline CudaProduct compile_for_host(const std::filesystem::path& source) {
  const CudaCompileFolder folder(source.parent_path());
  write_file(folder.file("embedded"), "the kernels are not here");
  const std::string archive = folder.file("runtime.a");
  std::filesystem::copy_file(std::filesystem::path(GAUNTLET_BIN) / "libgauntlet_cuda_runtime.a",
                             archive);
  std::vector<std::string> arguments = host_flags(folder.headers(), folder.file("embedded"));
  const std::vector<std::string> linking = host_link_flags();
  arguments.insert(arguments.end(), linking.begin(), linking.end());
  arguments.insert(arguments.end(),
                   {folder.file("source/" + source.filename().string()), "-x", "none", archive});
  return folder.run(arguments, "library.so");
}

}  // namespace gauntlet
