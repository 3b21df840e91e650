// SPDX-License-Identifier: Apache-2.0
// What a session on a device costs besides its kernels: a call of a trivial kernel, and a restart
// with the first call after it. Best and median; compare with other runs on the same machine only.
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <functional>
#include <vector>

#include "harness/build/cuda_compiler.h"
#include "harness/build/cuda_parts.h"
#include "harness/build/solution.h"
#include "harness/core/files.h"
#include "harness/device/device_session.h"

namespace gauntlet {
namespace {

constexpr const char* kContract = R"(
typedef struct { int device; void* stream; long n; const float* x; const float* g; float* y; } Args;
)";
constexpr const char* kSolution = R"(#include "contract.h"
__global__ void twice(const float* x, float* y, long n) {
  if (threadIdx.x < n) y[threadIdx.x] = 2 * x[threadIdx.x];
}
extern "C" long work(const Args* args) {
  twice<<<1, 32, 0, (cudaStream_t)args->stream>>>(args->x, args->y, args->n);
  return cudaGetLastError();
}
)";

struct Args {
  std::int32_t device;
  void* stream;
  std::int64_t n;
  const float* x;
  const float* g;
  float* y;
};

DeviceSessionConfig bench_device(const std::filesystem::path& folder) {
  write_file(folder / "contract.h", kContract);
  Challenge challenge;
  challenge.folder = folder;
  SolutionSource source;
  source.device = Device::cuda;
  source.files.push_back({"solution.cu", kSolution});
  const BuiltSolution built = build_solution(source, challenge, folder);
  DeviceSessionConfig config{{}, {}, built.kernels};
  config.worker.worker = std::filesystem::path(GAUNTLET_BIN) / "gauntlet-worker";
  config.worker.library = built.library;
  config.worker.exports = {"work"};
  config.device.program = cuda_parts().device;
  return config;
}

void measure(const std::string& name, int rounds, const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> ms;
  for (int round = 0; round < rounds; ++round) {
    const auto start = Clock::now();
    work();
    ms.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  std::sort(ms.begin(), ms.end());
  fmt::print("{:20} best {:7.3f} ms, median {:7.3f} ms\n", name, ms.front(), ms[ms.size() / 2]);
}

}  // namespace
}  // namespace gauntlet

int main() {
  using namespace gauntlet;
  if (!find_cuda_compiler()) {
    fmt::print("{}\n", kNoCudaCompiler);
    return 0;
  }
  const ScratchFolder folder("device-bench");
  DeviceSession session(bench_device(folder.path()));
  Call<Args> call("work");
  const std::vector<float> x(1024, 1);
  call.args.n = 32;
  call.lies_on(call.args.device, 0, 1, call.args.stream, 0);
  call.in("x", call.args.x, x);
  call.in("g", call.args.g, x);
  call.out<float>("y", call.args.y, x.size());
  const auto run = [&] { session.run(call); };
  run();
  measure("a call", 1000, run);
  measure("restart and a call", 50, [&] {
    session.restart();
    run();
  });
  return 0;
}
