// SPDX-License-Identifier: Apache-2.0
// How fast the simulator is: thread instructions a second, counting only and with all checks, of
// one core, by the time that it was ours. Best of five; compare with other runs on the same machine
// only.
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "harness/simt/simt.h"
#include "tests/support/compile_cuda.h"

namespace gauntlet::simt {
namespace {

namespace fs = std::filesystem;

struct Work {
  std::string kernel;
  LaunchShape shape;
  std::vector<std::size_t> floats;  // of each buffer, which are its first parameters
  std::vector<int> numbers;         // the parameters behind them
};

/// Of this thread: whatever else runs on the machine does not count.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

double seconds_of(const Program& program, const Work& work, bool checks, LaunchResult& result) {
  DeviceMemory memory;
  memory.load(program);
  std::vector<std::vector<float>> buffers;
  std::vector<std::byte> parameters;
  const auto add = [&](const auto& value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    parameters.insert(parameters.end(), bytes.begin(), bytes.end());
  };
  for (const std::size_t count : work.floats) buffers.emplace_back(count, 0.5f);
  for (auto& buffer : buffers) add(memory.map("buffer", std::as_writable_bytes(std::span(buffer))));
  for (const int number : work.numbers) add(number);
  LaunchOptions options;
  options.check_races = options.check_undefined = checks;
  const double start = cpu_seconds();
  result = launch(program, program.kernels.at(0), work.shape, parameters, memory, options);
  return cpu_seconds() - start;
}

void measure(const fs::path& root, const Work& work) {
  const CudaProduct code = compile_for_device(root / "tests/simt/kernels" / (work.kernel + ".cu"));
  const Program program = decode(ptx::parse(code.bytes));
  for (const bool checks : {false, true}) {
    double best = 1e9;
    LaunchResult result;
    for (int round = 0; round < 5; ++round)
      best = std::min(best, seconds_of(program, work, checks, result));
    const auto instructions = static_cast<double>(result.counters.thread_instructions);
    fmt::print("{:12} {:12} {:9.1f} ms {:8.2f} G thread-instructions/s, {:.1f} ns a warp's, {}\n",
               work.kernel, checks ? "all checks" : "counts only", best * 1e3,
               instructions / best / 1e9, best * 1e9 / double(result.counters.warp_instructions),
               result.diagnostics.empty() ? name_of(result.status) : result.diagnostics[0].text());
  }
}

}  // namespace
}  // namespace gauntlet::simt

int main() {
  using namespace gauntlet;
  using namespace gauntlet::simt;
  if (!find_cuda_compiler()) {
    fmt::print("{}\n", kNoCudaCompiler);
    return 0;
  }
  const std::size_t n = 256;
  measure(GAUNTLET_ROOT, {"matmul", {{16, 16, 1}, {16, 16, 1}}, {n * n, n * n, n * n}, {int(n)}});
  const std::size_t rows = 1024, columns = 1024;
  measure(GAUNTLET_ROOT, {"layer_norm",
                          {{256, 1, 1}, {128, 1, 1}},
                          {rows * columns, columns, columns, rows * columns},
                          {int(rows), int(columns)}});
  return 0;
}
