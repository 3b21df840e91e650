// SPDX-License-Identifier: Apache-2.0
#include "harness/build/cuda_flags.h"

namespace gauntlet {

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

}  // namespace gauntlet
