// SPDX-License-Identifier: Apache-2.0
// Flags of clang that a promise rests on.
#include <algorithm>
#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "tests/simt/compiled.h"

using namespace gauntlet;
using namespace gauntlet::simt;

namespace {

/// Only thread 0 looks at `count` between the barriers, and it alone writes it there.
constexpr const char* kOneThreadLooks = R"(
__global__ void cut(int* out, int most) {
  __shared__ int count;
  if (threadIdx.x == 0) count = out[0];
  __syncthreads();
  if (threadIdx.x == 0 && count > most) count = most;
  __syncthreads();
  out[threadIdx.x] = count;
}
)";

/// Compiled with the flags that solutions are compiled with, but for one pair of them.
std::string ptx_without(const std::string& left_out, const std::string& text) {
  const ScratchFolder sources("front-end-test");
  write_file(sources.path() / "solution.cu", text);
  const CudaCompileFolder folder(sources.path());
  std::vector<std::string> flags = device_flags(folder.headers());
  const auto found = std::ranges::find(flags, left_out);
  if (!left_out.empty()) {
    REQUIRE(found != flags.end());
    flags.erase(found - 1, found + 1);  // -mllvm stands before it
  }
  flags.push_back(folder.file("source/solution.cu"));
  const CudaProduct made = folder.run(flags, "device.ptx");
  INFO(made.messages);
  REQUIRE_FALSE(made.bytes.empty());
  return made.bytes;
}

std::size_t races_in(const std::string& ptx) {
  SimulatedDevice device(ptx);
  const auto out = device.put(std::vector<int>(64, 40));
  const LaunchResult got = device.launch({{1, 1, 1}, {64, 1, 1}}, out, 7);
  INFO(all_texts(got));
  CHECK(got.status == Status::completed);
  return count_of(got, Fault::race);
}

}  // namespace

TEST_CASE("what stands behind && is not loaded by threads for which the first half is false") {
  if (!have_compiler()) return;
  CHECK(races_in(ptx_without("", kOneThreadLooks)) == 0);
  // The flag is needed: without it the compiler makes a race that the source has not.
  CHECK(races_in(ptx_without("-bonus-inst-threshold=0", kOneThreadLooks)) > 0);
}
