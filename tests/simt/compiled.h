// SPDX-License-Identifier: Apache-2.0
// CUDA C++ for tests: the kernels of tests/simt/kernels, through clang and our own headers.
#pragma once

#include <filesystem>
#include <string>

#include "harness/core/files.h"
#include "tests/simt/device.h"
#include "tests/support/compile_cuda.h"

namespace gauntlet::simt {

/// False, with the word that ctest looks for, where there is no compiler.
inline bool have_compiler() {
  if (find_cuda_compiler()) return true;
  const std::string why = std::string(kNoCudaCompiler) + "; this test is skipped";
  MESSAGE(why);
  return false;
}

inline CudaProduct compiled(const std::string& text) {
  const ScratchFolder folder("simt-test");
  write_file(folder.path() / "solution.cu", text);
  return compile_for_device(folder.path() / "solution.cu");
}

/// Of tests/simt/kernels/NAME.cu.
inline std::string kernel_source(const std::string& name) {
  return read_file(std::filesystem::path(GAUNTLET_ROOT) / "tests/simt/kernels" / (name + ".cu"));
}

/// Its PTX, with lines put before it.
inline std::string ptx_of(const std::string& name, const std::string& before = "") {
  const CudaProduct code = compiled(before + "#line 1\n" + kernel_source(name));
  INFO(code.messages);
  REQUIRE_FALSE(code.bytes.empty());
  return code.bytes;
}

}  // namespace gauntlet::simt
