// SPDX-License-Identifier: Apache-2.0
#include "tests/simt/recorded_launch.h"

#include <cstdlib>
#include <cstring>
#include <doctest/doctest.h>
#include <filesystem>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/core/files.h"

namespace gauntlet::simt {
namespace {

using Json = nlohmann::ordered_json;

std::string bytes_of(DeviceMemory& memory) {
  std::string bytes;
  for (const Region& region : memory.regions())
    if (region.is_mapped)
      bytes.append(reinterpret_cast<const char*>(region.bytes.data()), region.bytes.size());
  return bytes;
}

Json regions_of(DeviceMemory& memory) {
  Json regions = Json::array();
  for (const Region& region : memory.regions())
    if (region.is_mapped)
      regions.push_back({{"name", region.name},
                         {"address", region.address},
                         {"bytes", region.bytes.size()},
                         {"variable", memory.address_of(region.name) == region.address}});
  return regions;
}

}  // namespace

RecordedLaunch::RecordedLaunch(const std::string& ptx, const Kernel& kernel,
                               const LaunchShape& shape, std::span<const std::byte> parameters,
                               DeviceMemory& memory) {
  const char* const folder = std::getenv("GAUNTLET_RECORD_LAUNCHES");
  if (folder == nullptr) return;
  folder_ = folder;
  ptx_ = ptx;
  kernel_ = kernel.name;
  shape_ = shape;
  parameters_.assign(parameters.begin(), parameters.end());
  before_ = bytes_of(memory);
}

void RecordedLaunch::keep(const LaunchResult& result, DeviceMemory& memory) const {
  if (!folder_ || result.status != Status::completed || !result.diagnostics.empty()) return;
  Json record{{"test", doctest::getContextOptions()->currentTest->m_name},
              {"kernel", kernel_},
              {"grid", shape_.grid},
              {"block", shape_.block},
              {"dynamic_shared", shape_.dynamic_shared},
              {"regions", regions_of(memory)},
              {"output", result.output}};
  Json& parameters = record["parameters"] = Json::array();
  for (const std::byte byte : parameters_) parameters.push_back(std::to_integer<unsigned>(byte));
  static int count = 0;
  const std::filesystem::path name =
      std::filesystem::path(*folder_) / fmt::format("{:05}", ++count);
  write_file(name.string() + ".ptx", ptx_);
  write_file(name.string() + ".bin", before_ + bytes_of(memory));
  write_file(name.string() + ".json", record.dump(1));
}

}  // namespace gauntlet::simt
