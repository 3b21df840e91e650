// SPDX-License-Identifier: Apache-2.0
#include "harness/simt/front_end/host_compiler.h"

#include "harness/simt/front_end/compile_folder.h"

namespace gauntlet::simt {

namespace fs = std::filesystem;

std::vector<std::string> host_flags(const std::string& headers) {
  return {"--cuda-host-only", "--cuda-gpu-arch=sm_80", "-nocudainc", "-nocudalib",
          "--cuda-path=/nonexistent", "-isystem", headers, "-include", "cuda_runtime.h",
          // Kernels are launched by __cudaPushCallConfiguration and cudaLaunchKernel.
          "-Xclang", "-target-sdk-version=12.0", "-O2", "-std=c++17", "-fPIC", "-shared",
          "-Wl,-z,defs", "-Wl,-Bsymbolic"};
}

HostCode compile_host(const DeviceCompiler& compiler, const fs::path& headers,
                      const fs::path& runtime, const fs::path& source) {
  const CompileFolder folder(headers, source.parent_path());
  // Without something to embed clang registers no kernels. The PTX goes another way.
  const std::string embedded = folder.file("embedded");
  write_file(embedded, "the kernels are not here");
  const std::string archive = folder.file("runtime.a"), library = folder.file("library.so");
  fs::copy_file(runtime, archive);
  for (const std::string& added : {embedded, archive})
    fs::permissions(added, fs::perms::others_read, fs::perm_options::add);
  std::vector<std::string> arguments = host_flags(folder.headers());
  arguments.insert(arguments.end(),
                   {"-Xclang", "-fcuda-include-gpubinary", "-Xclang", embedded, "-x", "cuda",
                    folder.source(source.filename()), "-x", "none", archive, "-o", library});
  CompileFolder::Made made = folder.run(compiler, arguments, library);
  return {std::move(made.product), std::move(made.messages)};
}

}  // namespace gauntlet::simt
