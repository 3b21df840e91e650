// SPDX-License-Identifier: Apache-2.0
#include "harness/device/process/accounts.h"

#include <algorithm>

namespace gauntlet::device_process {
namespace {

constexpr std::size_t kMostRefusals = 32;
constexpr std::size_t kMostDiagnostics = 200;  // of a kernel
constexpr std::size_t kMostBuffers = 256;      // of a kernel, by name; further ones count together
constexpr std::size_t kMostOutput = 64u << 10;

void add_up(simt::BufferTraffic& sum, const simt::BufferTraffic& more) {
  sum.read += more.read;
  sum.written += more.written;
  sum.atomic += more.atomic;
}

void add_up(simt::SharedTraffic& sum, const simt::SharedTraffic& more) {
  sum.requests += more.requests;
  sum.bytes += more.bytes;
  sum.wavefronts += more.wavefronts;
  sum.least_wavefronts += more.least_wavefronts;
}

void add_buffer(simt::Counters& sum, const std::string& name, const simt::BufferTraffic& traffic) {
  auto& buffers = sum.buffers;
  const auto find = [&](const std::string& wanted) {
    return std::find_if(buffers.begin(), buffers.end(),
                        [&](const auto& known) { return known.first == wanted; });
  };
  auto found = find(name);
  if (found == buffers.end() && buffers.size() >= kMostBuffers) found = find("others");
  if (found == buffers.end())
    buffers.emplace_back(buffers.size() + 1 >= kMostBuffers ? "others" : name, traffic);
  else
    add_up(found->second, traffic);
}

void add_up(simt::Counters& sum, const simt::Counters& more) {
  sum.blocks += more.blocks;
  sum.warps += more.warps;
  sum.warp_instructions += more.warp_instructions;
  sum.thread_instructions += more.thread_instructions;
  for (std::size_t n = 0; n < sum.by_class.size(); ++n) sum.by_class[n] += more.by_class[n];
  add_up(sum.global, more.global);
  for (const auto& [name, traffic] : more.buffers) add_buffer(sum, name, traffic);
  add_up(sum.shared_loads, more.shared_loads);
  add_up(sum.shared_stores, more.shared_stores);
  add_up(sum.shared_atomics, more.shared_atomics);
  sum.local_loads += more.local_loads;
  sum.local_stores += more.local_stores;
  sum.barriers += more.barriers;
  sum.branches += more.branches;
  sum.divergent_branches += more.divergent_branches;
}

void add_diagnostic(std::vector<simt::Diagnostic>& all, simt::Diagnostic more) {
  for (simt::Diagnostic& known : all)
    if (known.fault == more.fault && known.source == more.source) {
      known.count += more.count;
      return;
    }
  if (all.size() < kMostDiagnostics) all.push_back(std::move(more));
}

}  // namespace

void Accounts::add(const std::string& kernel, const simt::LaunchShape& shape,
                   simt::LaunchResult result) {
  auto record = std::find_if(kernels.begin(), kernels.end(),
                             [&](const KernelRecord& known) { return known.name == kernel; });
  if (record == kernels.end()) {
    kernels.emplace_back();
    record = std::prev(kernels.end());
    record->name = kernel;
    record->shape = shape;
  }
  ++record->launches;
  if (record->status == simt::Status::completed && result.status != simt::Status::completed) {
    record->status = result.status;
    record->why = result.why;
  }
  add_up(record->counters, result.counters);
  for (simt::Diagnostic& seen : result.diagnostics)
    add_diagnostic(record->diagnostics, std::move(seen));
  record->output.append(result.output, 0,
                        kMostOutput - std::min(kMostOutput, record->output.size()));
  record->races_complete = record->races_complete && result.races_complete;
}

void Accounts::refuse(const std::string& text) {
  if (refusals.size() < kMostRefusals) refusals.push_back(text);
}

}  // namespace gauntlet::device_process
