// SPDX-License-Identifier: Apache-2.0
#include "harness/simt/execute/grid.h"

#include <algorithm>
#include <array>
#include <deque>
#include <fmt/format.h>
#include <numeric>

#include "harness/core/text.h"

namespace gauntlet::simt {
namespace {

// The limits of compute capability 8.0.
constexpr std::uint32_t kMostThreads = 1024;
constexpr std::uint32_t kMostShared = 163u << 10;
constexpr std::uint64_t kMostBlocks = 1ull << 31;
constexpr std::uint32_t kMostBlocksY = 65535;

// Registers and local memory of the blocks that are under way at once.
constexpr std::size_t kMostBlockMemory = std::size_t(1) << 30;

// What a warp costs of the budget before it executes anything: a grid of empty blocks ends as well.
constexpr std::uint32_t kWarpPrice = 10;

std::size_t block_memory(const Kernel& kernel, std::uint32_t threads) {
  const std::size_t warps = (threads + kLanes - 1) / kLanes;
  return std::max<std::size_t>(kernel.frame_bytes, 1) * warps +
         std::size_t(kernel.local_bytes) * threads;
}

}  // namespace

const char* name_of(Status status) {
  static constexpr std::array<const char*, 5> kNames{"completed", "faulted", "trapped", "timed_out",
                                                     "refused"};
  return kNames.at(static_cast<std::size_t>(status));
}

std::uint64_t ScheduleRng::next() {
  std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

void ScheduleRng::shuffle(std::vector<std::uint32_t>& items) {
  for (std::size_t n = items.size(); n > 1; --n)
    std::swap(items[n - 1], items[below(static_cast<std::uint32_t>(n))]);
}

std::string refusal(const Kernel& kernel, const LaunchShape& shape, std::size_t parameter_bytes) {
  std::uint64_t threads = 1, blocks = 1;
  for (std::size_t n = 0; n < 3; ++n) {
    if (shape.grid[n] == 0 || shape.block[n] == 0) return "a grid or block of no threads";
    if (n > 0 && shape.grid[n] > kMostBlocksY) return "more than 65535 blocks in y or z";
    threads *= std::min(shape.block[n], kMostThreads + 1);
    blocks = std::min<std::uint64_t>(blocks * shape.grid[n], kMostBlocks);
  }
  if (shape.block[2] > 64) return "a block of more than 64 threads in z";
  if (threads > kMostThreads || threads > kernel.most_threads)
    return fmt::format("a block of {} threads, and {} are the most", threads,
                       std::min(kMostThreads, kernel.most_threads));
  if (blocks >= kMostBlocks) return "more than 2147483647 blocks";
  if (const std::size_t bytes = block_memory(kernel, static_cast<std::uint32_t>(threads));
      bytes > kMostBlockMemory)
    return fmt::format("{} MiB of local memory and registers a block, and {} are the most",
                       bytes >> 20, kMostBlockMemory >> 20);
  if (std::uint64_t(kernel.static_shared) + shape.dynamic_shared > kMostShared)
    return fmt::format("{} bytes of shared memory, and {} are the most",
                       std::uint64_t(kernel.static_shared) + shape.dynamic_shared, kMostShared);
  if (parameter_bytes < kernel.parameter_bytes)
    return fmt::format("{} bytes of parameters, and the kernel has {}", parameter_bytes,
                       kernel.parameter_bytes);
  return "";
}

Grid::Grid(const Program& made_of, const Kernel& run, const LaunchShape& launched,
           std::span<const std::byte> given, DeviceMemory& device, const LaunchOptions& wanted)
    : program(made_of),
      kernel(run),
      shape(launched),
      memory(device),
      options(wanted),
      constants(run, launched, device),
      parameters(given.begin(), given.begin() + run.parameter_bytes),
      budget(wanted.budget),
      diagnostics(made_of, run),
      races(wanted.race_memory, run.global_granule),
      rng(wanted.schedule_seed.value_or(0)) {
  threads = shape.block[0] * shape.block[1] * shape.block[2];
  warps = (threads + kLanes - 1) / kLanes;
  blocks = shape.grid[0] * shape.grid[1] * shape.grid[2];
  counts.resize(kernel.blocks.size());
  patterns.resize(kernel.code.size());
  for (Region& region : memory.regions()) region.traffic = {};
}

void Grid::stop(Status status, std::uint32_t instruction, const std::string& why) {
  if (stopped_) return;
  stopped_ = true;
  status_ = status;
  why_ = fmt::format("{} at {} in {}", why, program.source_of(kernel.places.at(instruction)),
                     one_line(kernel.name, 200));
}

void Grid::run_blocks() {
  // In the order of their numbers, or in steps of a length that shares no factor with their count.
  std::uint64_t step = 1, offset = 0;
  if (options.schedule_seed) {
    offset = rng.below(blocks);
    do step = 1 + rng.below(blocks);
    while (std::gcd(step, std::uint64_t(blocks)) != 1);
  }
  std::vector<std::unique_ptr<ThreadBlock>> idle;
  std::deque<std::unique_ptr<ThreadBlock>> active;
  std::uint64_t begun = 0;
  const std::size_t most_resident = std::clamp<std::size_t>(
      kMostBlockMemory / block_memory(kernel, threads), 1, std::max(1u, options.resident_blocks));
  const auto begin = [&] {
    const std::uint64_t price = std::uint64_t(kWarpPrice) * warps;
    if (budget < price)
      return stop(Status::timed_out, 0,
                  fmt::format("more than {} instructions of warps, at {} a "
                              "warp that begins",
                              options.budget, kWarpPrice));
    budget -= price;
    if (idle.empty()) idle.push_back(std::make_unique<ThreadBlock>(*this));
    active.push_back(std::move(idle.back()));
    idle.pop_back();
    active.back()->start(static_cast<std::uint32_t>((offset + begun * step) % blocks));
    ++begun;
  };
  while (!stopped_ && (begun < blocks || !active.empty())) {
    if (active.empty()) begin();
    bool some_ended = false;
    for (std::size_t n = 0; n < active.size() && !stopped_;) {
      if (active[n]->run() != ThreadBlock::Pause::finished) {
        ++n;
        continue;
      }
      some_ended = true;
      idle.push_back(std::move(active[n]));
      active.erase(active.begin() + std::ptrdiff_t(n));
    }
    const bool room = active.size() < most_resident;
    if (!some_ended && room && begun < blocks) begin();
  }
}

void Grid::sum_up(LaunchResult& result) {
  for (std::size_t n = 0; n < counts.size(); ++n) {
    const Block& block = kernel.blocks[n];
    counters.warp_instructions += counts[n].runs * block.counted;
    counters.thread_instructions += counts[n].lanes * block.counted;
    for (std::uint32_t at = block.first; at < block.first + block.counted; ++at)
      counters.by_class[std::size_t(kernel.classes[at])] += counts[n].lanes;
  }
  for (const Region& region : memory.regions()) {
    const BufferTraffic& traffic = region.traffic;
    if (traffic.read.requests + traffic.written.requests + traffic.atomic.requests == 0) continue;
    counters.buffers.emplace_back(region.name, traffic);
    counters.global.read += traffic.read;
    counters.global.written += traffic.written;
    counters.global.atomic += traffic.atomic;
  }
  result.counters = std::move(counters);
  result.diagnostics = diagnostics.list();
  result.output = std::move(output);
  result.races_complete = races.complete();
  result.budget_used = options.budget - budget;
}

LaunchResult Grid::run() {
  run_blocks();
  LaunchResult result;
  sum_up(result);
  result.status = status_;
  result.why = why_;
  for (const Diagnostic& seen : result.diagnostics)
    if (status_ == Status::completed &&
        (seen.fault == Fault::out_of_bounds || seen.fault == Fault::misaligned ||
         seen.fault == Fault::freed || seen.fault == Fault::read_only)) {
      result.status = Status::faulted;
      result.why = seen.text();
      break;
    }
  return result;
}

LaunchResult launch(const Program& program, const Kernel& kernel, const LaunchShape& shape,
                    std::span<const std::byte> parameters, DeviceMemory& memory,
                    const LaunchOptions& options) {
  if (const std::string why = refusal(kernel, shape, parameters.size()); !why.empty()) {
    LaunchResult refused;
    refused.status = Status::refused;
    refused.why = fmt::format("{} was launched with {}", one_line(kernel.name, 200), why);
    return refused;
  }
  return Grid(program, kernel, shape, parameters, memory, options).run();
}

}  // namespace gauntlet::simt
