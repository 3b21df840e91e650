// SPDX-License-Identifier: Apache-2.0
// PTX of any origin: refused with a reason, or decoded and executed without touching what is not
// its own. Its kernels run with a small budget over one small buffer.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "harness/simt/simt.h"

namespace simt = gauntlet::simt;

namespace {

constexpr std::size_t kBuffer = 4096;
constexpr std::byte kGuard{0x5a};

void run_kernels(const simt::Program& program) {
  for (const simt::Kernel& kernel : program.kernels) {
    std::array<std::byte, kBuffer + 128> bytes{};
    bytes.fill(kGuard);
    simt::DeviceMemory memory;
    memory.load(program);
    const std::uint64_t address = memory.map("buffer", {bytes.data() + 64, kBuffer});
    const std::uint64_t input =
        memory.map("input", {bytes.data() + 64, kBuffer / 2}, simt::Access::read_only);
    std::array<std::uint64_t, 512> parameters{address, input, 64, address};
    simt::LaunchOptions options;
    options.budget = 20'000;
    options.resident_blocks = 2;
    options.race_memory = 1 << 20;
    options.schedule_seed =
        kernel.code.size() % 2 == 0 ? std::optional<std::uint64_t>(1) : std::nullopt;
    const simt::LaunchResult result =
        simt::launch(program, kernel, {{2, 1, 2}, {40, 2, 1}, 256},
                     std::as_bytes(std::span(parameters)), memory, options);
    if (result.counters.warp_instructions > options.budget) std::abort();
    for (std::size_t n = 0; n < 64; ++n)
      if (bytes[n] != kGuard || bytes[bytes.size() - 1 - n] != kGuard) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    run_kernels(simt::decode(simt::ptx::parse({reinterpret_cast<const char*>(data), size})));
  } catch (const simt::PtxError& error) {
    if (std::strlen(error.what()) == 0) std::abort();
  }
  return 0;
}
