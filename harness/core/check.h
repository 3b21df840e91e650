// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace gauntlet {

/// The part of the grade that a check belongs to; the rubric gives each its weight.
enum class Section { correctness, robustness, performance, engineering };

/// What failing a check does to the score beyond its points. The rubric gives each its cap.
enum class Severity { minor, major, critical, fatal };

/// Where a solution runs. Results of different devices are never compared.
enum class Device { cpu, cuda };

inline constexpr std::initializer_list<Device> kAllDevices{Device::cpu, Device::cuda};

inline constexpr std::initializer_list<Section> kAllSections{
    Section::correctness, Section::robustness, Section::performance, Section::engineering};

std::string_view name_of(Section section);
std::string_view name_of(Severity severity);
std::string_view name_of(Device device);

/// Throw std::invalid_argument for an unknown word.
Section section_named(std::string_view name);
Severity severity_named(std::string_view name);
Device device_named(std::string_view name);

/// One adversarial question, as data: everything about a check that a report prints.
struct CheckInfo {
  std::string id;       // snake_case, unique in its challenge: "offset_ladder"
  std::string detects;  // the fault, a phrase: "variance as E[x^2] - E[x]^2"
  Section section = Section::correctness;
  double weight = 1;  // relative to the other checks of its section; > 0
  Severity severity = Severity::minor;
};

}  // namespace gauntlet
