// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harness/build/build_folder.h"
#include "harness/build/build_steps.h"
#include "harness/build/compiler_messages.h"
#include "harness/build/cuda_commands.h"
#include "harness/build/solution.h"
#include "harness/build/toolchain.h"

namespace gauntlet {

// Raised when the steps change in what they make or tell.
inline constexpr std::string_view kCudaSteps = "1: both halves, linked to the runtime, decoded";

/// The way from a CUDA solution's files to its two halves: solution.cu compiled for the device, to
/// PTX; the same file compiled for the host, and the .cpp files beside it, linked to our CUDA
/// runtime. Whether the device can execute all of the PTX is asked here, once, so that what it
/// cannot is a reason not to build, with its line.
///
/// Our own faults are those of LibraryBuild, and that the device process cannot be started; all
/// else that ends a build is the source's doing.
class CudaBuild {
 public:
  CudaBuild(const SolutionSource& source, std::string contract, const BuildTerms& terms);

  void run();

  const BuildRecord& record() const { return record_; }
  const std::string& library() const { return library_; }
  const std::string& kernels() const { return kernels_; }

 private:
  using Arguments = CudaCommands::Arguments;

  void put_files();
  std::vector<Arguments> compilations();
  bool compile(const Arguments& command);
  bool link();
  bool take_halves();
  bool is_accepted();
  void look_for_silencers();
  std::string preprocessed(Arguments command);

  const Toolchain& tools_;
  const SolutionSource& source_;
  std::string contract_;
  const BuildTerms& terms_;
  BuildFolder folder_;
  BuildSteps steps_;
  const CudaCommands commands_;
  const std::string kernels_name_ = folder_.new_name("kernels.ptx");
  const std::string library_name_ = folder_.new_name("library.so");
  std::vector<std::string> objects_;  // of the host's half
  std::vector<Arguments> compilations_;
  CompilerOutput said_;
  BuildRecord record_;
  std::string library_;
  std::string kernels_;
};

}  // namespace gauntlet
