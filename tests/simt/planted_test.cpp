// SPDX-License-Identifier: Apache-2.0
// Faults in CUDA C++, each told with the line that it stands in, and sound kernels, of which none
// is told of with any order of blocks and warps.
#include <algorithm>
#include <doctest/doctest.h>
#include <numeric>
#include <optional>

#include "tests/simt/compiled.h"

using namespace gauntlet;
using namespace gauntlet::simt;

namespace {

using Words = std::vector<std::uint32_t>;

struct Planted {
  const char* kernel;
  Fault fault;
  std::uint32_t threads = 32;
  std::uint32_t blocks = 1;
};

/// The line that the kernel's name stands behind, as diagnostics name it.
std::string line_of(const std::string& kernel) {
  const std::string source = kernel_source("planted");
  const std::size_t at = source.find("// " + kernel + "\n");
  REQUIRE(at != std::string::npos);
  return "solution.cu:" +
         std::to_string(1 + std::count(source.begin(), source.begin() + std::ptrdiff_t(at), '\n'));
}

LaunchResult launched(SimulatedDevice& device, const Planted& planted, std::uint64_t data) {
  device.name = planted.kernel;
  // Who races reads what nobody has written yet, with some orders; that is not what is planted.
  device.options.check_undefined = planted.fault == Fault::undefined_read;
  return device.launch({{planted.blocks, 1, 1}, {planted.threads, 1, 1}}, data, std::uint32_t(64));
}

/// All that was told is of this fault, and some of it of this line.
void require_told(const LaunchResult& got, const Planted& planted) {
  INFO(planted.kernel, ": ", all_texts(got));
  REQUIRE_FALSE(got.diagnostics.empty());
  CHECK(count_of(got, planted.fault) == got.diagnostics.size());
  CHECK(std::any_of(got.diagnostics.begin(), got.diagnostics.end(), [&](const Diagnostic& seen) {
    return seen.source == line_of(planted.kernel);
  }));
}

}  // namespace

TEST_CASE("each kind of fault is told with its line") {
  if (!have_compiler()) return;
  const std::string ptx = ptx_of("planted");
  const std::vector<Planted> all{
      {"global_past_the_end", Fault::out_of_bounds},
      {"global_before_the_begin", Fault::out_of_bounds},
      {"shared_past_the_end", Fault::out_of_bounds},
      {"local_past_the_end", Fault::out_of_bounds},
      {"misaligned", Fault::misaligned},
      {"undefined_global", Fault::undefined_read},
      {"undefined_shared", Fault::undefined_read},
      {"divergent_barrier", Fault::divergent_barrier},
      {"wrong_member_mask", Fault::absent_lane},
      {"shared_race", Fault::race, 64},
      {"missing_syncwarp", Fault::race},
      {"race_between_blocks", Fault::race, 32, 2},
  };
  for (const Planted& planted : all) {
    SimulatedDevice device(ptx);
    const auto data =
        device.put(Words(64), "data", Access::read_write,
                   planted.fault == Fault::undefined_read ? Content::undefined : Content::defined);
    require_told(launched(device, planted, data), planted);
  }
}

TEST_CASE("freed memory and memory of the host are told with their line") {
  if (!have_compiler()) return;
  SimulatedDevice device(ptx_of("planted"));
  const auto data = device.put(Words(64));
  REQUIRE(device.memory.unmap(data));
  const Planted freed{"use_after_free", Fault::freed}, host{"host_pointer", Fault::out_of_bounds};
  require_told(launched(device, freed, data), freed);
  const Words here(64);
  const LaunchResult got = launched(device, host, reinterpret_cast<std::uint64_t>(here.data()));
  require_told(got, host);
  CHECK(all_texts(got).find("which is no device memory") != std::string::npos);
}

TEST_CASE("a loop without end is told with its line") {
  if (!have_compiler()) return;
  SimulatedDevice device(ptx_of("planted"));
  device.options.budget = 100'000;
  const LaunchResult got = launched(device, {"endless_loop", {}, 1}, device.put(Words(64)));
  CHECK(got.status == Status::timed_out);
  INFO(got.why);
  CHECK(got.why.find(line_of("endless_loop")) != std::string::npos);
}

TEST_CASE("sound kernels are right and raise no alarm in 20 orders of blocks and warps") {
  if (!have_compiler()) return;
  struct Sound {
    const char* kernel;
    std::uint32_t blocks, threads;
    bool scans;  // or only adds up
  };
  const std::vector<Sound> all{
      {"reduction", 1, 256, false}, {"block_scan", 1, 1024, true},
      {"warp_scan", 1, 1024, true}, {"groups", 8, 128, false},
      {"tickets", 1, 192, false},   {"persistent_grid", 5, 32, false},
  };
  Words x(1000), sums(1000);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = std::uint32_t(i * 2654435761u);  // which overflows, as sums may
  std::partial_sum(x.begin(), x.end(), sums.begin());
  SimulatedDevice device(ptx_of("sound"));
  const auto in = device.put(x, "x", Access::read_only);
  for (const Sound& sound : all) {
    device.name = sound.kernel;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      device.options.schedule_seed = seed == 0 ? std::nullopt : std::optional(seed);
      const auto out = device.put(Words(sound.scans ? x.size() : 1), "out");
      const LaunchResult got = device.launch({{sound.blocks, 1, 1}, {sound.threads, 1, 1}}, in, out,
                                             std::uint32_t(x.size()));
      INFO(sound.kernel, " with schedule ", seed, ": ", all_texts(got));
      CHECK(got.status == Status::completed);
      CHECK(got.diagnostics.empty());
      CHECK(got.races_complete);
      CHECK(device.get<std::uint32_t>(out) == (sound.scans ? sums : Words{sums.back()}));
    }
  }
}
