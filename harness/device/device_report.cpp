// SPDX-License-Identifier: Apache-2.0
#include "harness/device/device_report.h"

#include "harness/device/report_json.h"
#include "harness/simt/include/cuda_runtime_api.h"

namespace gauntlet {
namespace {

using nlohmann::json;

simt::Counters counters_from(const json& from) {
  simt::Counters counters;
  from.at("blocks").get_to(counters.blocks);
  from.at("warps").get_to(counters.warps);
  from.at("warp_instructions").get_to(counters.warp_instructions);
  from.at("thread_instructions").get_to(counters.thread_instructions);
  for (std::size_t n = 0; n < simt::kClasses; ++n)
    from.at("by_class").at(simt::name_of(static_cast<simt::Class>(n))).get_to(counters.by_class[n]);
  from.at("global").get_to(counters.global);
  for (const auto& [name, traffic] : from.at("buffers").items())
    counters.buffers.emplace_back(name, traffic.get<simt::BufferTraffic>());
  from.at("shared_loads").get_to(counters.shared_loads);
  from.at("shared_stores").get_to(counters.shared_stores);
  from.at("shared_atomics").get_to(counters.shared_atomics);
  from.at("local_loads").get_to(counters.local_loads);
  from.at("local_stores").get_to(counters.local_stores);
  from.at("barriers").get_to(counters.barriers);
  from.at("branches").get_to(counters.branches);
  from.at("divergent_branches").get_to(counters.divergent_branches);
  return counters;
}

DeviceReport::Kernel kernel_from(const json& from) {
  DeviceReport::Kernel kernel;
  from.at("name").get_to(kernel.name);
  from.at("launches").get_to(kernel.launches);
  from.at("status").get_to(kernel.status);
  from.at("why").get_to(kernel.why);
  kernel.counters = counters_from(from.at("counters"));
  from.at("diagnostics").get_to(kernel.diagnostics);
  from.at("output").get_to(kernel.output);
  from.at("races_complete").get_to(kernel.races_complete);
  return kernel;
}

std::optional<DeviceReport::Complaint> complaint_of(const json& from) {
  if (const std::string fault = from.at("mailbox_fault"); !fault.empty())
    return {{Verdict::crashed,
             "what the solution's process sent to the device is no command of the CUDA runtime (" +
                 fault +
                 "): its memory was overwritten, or something in it pretends to be the "
                 "runtime"}};
  const std::string why = from.at("error_why");
  if (from.at("out_of_memory")) return {{Verdict::over_memory, why}};
  const std::uint32_t error = from.at("error");
  if (error == cudaSuccess) return std::nullopt;
  return {{error == cudaErrorLaunchTimeout ? Verdict::timed_out : Verdict::crashed, why}};
}

}  // namespace

const DeviceReport::Buffer* DeviceReport::buffer(std::string_view name) const {
  for (const Buffer& known : buffers)
    if (known.name == name) return &known;
  return nullptr;
}

std::vector<DeviceReport::Diagnostic> DeviceReport::diagnostics() const {
  std::vector<Diagnostic> all;
  for (const Kernel& kernel : kernels)
    all.insert(all.end(), kernel.diagnostics.begin(), kernel.diagnostics.end());
  return all;
}

DeviceReport device_report_from(const json& from) {
  DeviceReport report;
  for (const json& kernel : from.at("kernels")) report.kernels.push_back(kernel_from(kernel));
  from.at("buffers").get_to(report.buffers);
  from.at("copied_in").get_to(report.copied_in);
  from.at("copied_out").get_to(report.copied_out);
  from.at("commands").get_to(report.commands);
  from.at("allocations").get_to(report.allocations);
  from.at("scratch_bytes").get_to(report.scratch_bytes);
  from.at("scratch_peak").get_to(report.scratch_peak);
  from.at("left_behind").get_to(report.left_behind);
  from.at("budget_left").get_to(report.budget_left);
  from.at("refusals").get_to(report.refusals);
  report.complaint = complaint_of(from);
  report.text = from.dump(2);
  return report;
}

}  // namespace gauntlet
