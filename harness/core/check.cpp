// SPDX-License-Identifier: Apache-2.0
#include "harness/core/check.h"

#include "harness/core/names.h"

namespace gauntlet {
namespace {

constexpr NameTable<Section, 4> kSections{
    "section", {"correctness", "robustness", "performance", "engineering"}};
constexpr NameTable<Severity, 4> kSeverities{"severity", {"minor", "major", "critical", "fatal"}};
constexpr NameTable<Device, 2> kDevices{"device", {"cpu", "cuda"}};

}  // namespace

std::string_view name_of(Section section) {
  return kSections.of(section);
}
std::string_view name_of(Severity severity) {
  return kSeverities.of(severity);
}
std::string_view name_of(Device device) {
  return kDevices.of(device);
}

Section section_named(std::string_view name) {
  return kSections.named(name);
}
Severity severity_named(std::string_view name) {
  return kSeverities.named(name);
}
Device device_named(std::string_view name) {
  return kDevices.named(name);
}

}  // namespace gauntlet
