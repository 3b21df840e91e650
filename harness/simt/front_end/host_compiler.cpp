// SPDX-License-Identifier: Apache-2.0
#include "harness/simt/front_end/host_compiler.h"

#include "harness/simt/front_end/compile_folder.h"

namespace gauntlet::simt {

namespace fs = std::filesystem;

std::vector<std::string> host_flags(const std::string& headers, const std::string& embedded) {
  return {"-x", "cuda", "--cuda-host-only", "--cuda-gpu-arch=sm_80", "-nocudainc", "-nocudalib",
          "--cuda-path=/nonexistent", "-isystem", headers, "-include", "cuda_runtime.h",
          // Kernels are launched by __cudaPushCallConfiguration and cudaLaunchKernel.
          "-Xclang", "-target-sdk-version=12.0", "-Xclang", "-fcuda-include-gpubinary", "-Xclang",
          embedded, "-O2", "-std=c++17", "-fPIC"};
}

std::vector<std::string> host_link_flags() {
  return {"-shared", "-pthread", "-Wl,-z,defs", "-Wl,-Bsymbolic",
          // Of a library without kernels nothing else would be taken from the archive.
          "-Wl,-u,gauntlet_attach_device"};
}

HostCode compile_host(const DeviceCompiler& compiler, const fs::path& headers,
                      const fs::path& runtime, const fs::path& source) {
  const CompileFolder folder(headers, source.parent_path());
  const std::string embedded = folder.file("embedded");
  write_file(embedded, "the kernels are not here");
  const std::string archive = folder.file("runtime.a"), library = folder.file("library.so");
  fs::copy_file(runtime, archive);
  for (const std::string& added : {embedded, archive})
    fs::permissions(added, fs::perms::others_read, fs::perm_options::add);
  std::vector<std::string> arguments = host_flags(folder.headers(), embedded);
  const std::vector<std::string> linking = host_link_flags();
  arguments.insert(arguments.end(), linking.begin(), linking.end());
  arguments.insert(arguments.end(),
                   {folder.source(source.filename()), "-x", "none", archive, "-o", library});
  CompileFolder::Made made = folder.run(compiler, arguments, library);
  return {std::move(made.product), std::move(made.messages)};
}

}  // namespace gauntlet::simt
