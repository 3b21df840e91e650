// SPDX-License-Identifier: Apache-2.0
#include "harness/build/cuda_parts.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

#include "harness/core/digest.h"
#include "harness/core/error.h"
#include "harness/core/files.h"

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

fs::path& folder_of_parts() {
  static fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  return folder;
}

CudaParts parts_in(const fs::path& folder) {
  return {folder / "cuda-headers", folder / "libgauntlet_cuda_runtime.a",
          folder / "gauntlet-device", ""};
}

CudaParts look_for_parts() {
  const fs::path& folder = folder_of_parts();
  CudaParts parts = parts_in(folder);
  for (const fs::path& part : {parts.headers, parts.runtime, parts.device})
    if (!fs::exists(part))
      throw Broken(
          OwnFault::files,
          fmt::format("{} is not there: ./gauntlet builds it where a command says --device cuda "
                      "or is of a submission with a .cu file",
                      part.string()));
  std::vector<fs::path> files{parts.runtime, parts.device};
  for (const auto& entry : fs::recursive_directory_iterator(parts.headers))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  Digest digest;
  for (const fs::path& file : files)
    digest.add(file.lexically_relative(folder).string(), read_file(file));
  parts.digest = digest.hex();
  return parts;
}

}  // namespace

const CudaParts& cuda_parts() {
  static const CudaParts kFound = look_for_parts();
  return kFound;
}

void copy_cuda_parts(const fs::path& to) {
  const CudaParts here = parts_in(folder_of_parts()), there = parts_in(to);
  fs::copy(here.headers, there.headers, fs::copy_options::recursive);
  fs::copy_file(here.runtime, there.runtime);
  fs::copy_file(here.device, there.device);
}

void take_cuda_parts_from(const fs::path& folder) {
  folder_of_parts() = folder;
}

}  // namespace gauntlet
