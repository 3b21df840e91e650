// SPDX-License-Identifier: Apache-2.0
#include "harness/device/process/report.h"

#include "harness/core/text.h"
#include "harness/device/report_json.h"

namespace gauntlet::device_process {
namespace {

using nlohmann::json;

json diagnostics(const std::vector<simt::Diagnostic>& seen) {
  json all = json::array();
  for (const simt::Diagnostic& one : seen)
    all.push_back(DeviceReport::Diagnostic{std::string(simt::name_of(one.fault)),
                                           one_line(one.source, 300), one.count,
                                           one_line(one.text(), 1000)});
  return all;
}

json kernels(const Accounts& accounts) {
  json all = json::array();
  for (const KernelRecord& kernel : accounts.kernels)
    all.push_back({{"name", one_line(kernel.name, 1000)},
                   {"launches", kernel.launches},
                   {"grid", kernel.shape.grid},
                   {"block", kernel.shape.block},
                   {"dynamic_shared", kernel.shape.dynamic_shared},
                   {"status", simt::name_of(kernel.status)},
                   {"why", one_line(kernel.why, 1000)},
                   {"counters", counters_json(kernel.counters)},
                   {"diagnostics", diagnostics(kernel.diagnostics)},
                   {"output", printable(kernel.output)},
                   {"races_complete", kernel.races_complete}});
  return all;
}

json buffers(Engine& engine) {
  json all = json::array();
  for (const auto& [address, buffer] : engine.buffers.all()) {
    if (buffer.role == Role::scratch) continue;
    const Origin origin = engine.back_end->origin(address, buffer.bytes);
    all.push_back(DeviceReport::Buffer{
        one_line(buffer.name, 200), std::string(name_of(buffer.role)), address, buffer.bytes,
        buffer.copied_in, buffer.copied_out, origin.unwritten, origin.from_host});
  }
  return all;
}

}  // namespace

json report_of(Engine& engine) {
  const Accounts& accounts = engine.accounts;
  json refusals = json::array();
  for (const std::string& text : accounts.refusals) refusals.push_back(one_line(text, 500));
  return {{"engine", engine.back_end->facts().name},
          {"kernels", kernels(accounts)},
          {"buffers", buffers(engine)},
          {"copied_in", accounts.copied_in},
          {"copied_out", accounts.copied_out},
          {"commands", accounts.commands},
          {"allocations", accounts.allocations},
          {"scratch_bytes", engine.buffers.scratch_bytes()},
          {"scratch_peak", engine.buffers.scratch_peak()},
          {"left_behind", accounts.left_behind},
          {"budget_left", engine.options.budget},
          {"refusals", std::move(refusals)},
          {"error", engine.error},
          {"error_why", one_line(engine.error_why, 1000)},
          {"mailbox_fault", one_line(accounts.mailbox_fault, 500)},
          {"out_of_memory", accounts.out_of_memory}};
}

}  // namespace gauntlet::device_process
