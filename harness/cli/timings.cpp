// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/timings.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace gauntlet {
namespace {

struct Part {
  const char* name;
  double CellTimings::*seconds;
};
constexpr std::array<Part, 5> kParts{{{"build", &CellTimings::build},
                                      {"self-test", &CellTimings::self_test},
                                      {"checks", &CellTimings::checks},
                                      {"races", &CellTimings::races},
                                      {"waiting", &CellTimings::waiting}}};

std::string line(const std::string& name, std::size_t width, const CellTimings& timings) {
  std::string text = fmt::format("{:<{}}", name, width);
  for (const Part& part : kParts) text += fmt::format("{:>11.1f}", timings.*part.seconds);
  return text + "\n";
}

}  // namespace

std::string timings_text(const TimingsOfCells& cells, double ahead) {
  const std::string title = "Seconds of each cell";
  std::size_t width = title.size();
  CellTimings sum;
  for (const auto& [key, timings] : cells) {
    width = std::max(width, key.text().size());
    for (const Part& part : kParts) sum.*part.seconds += timings.*part.seconds;
  }
  std::string text = fmt::format("{:<{}}", title, width);
  for (const Part& part : kParts) text += fmt::format("{:>11}", part.name);
  text += "\n";
  for (const auto& [key, timings] : cells) text += line(key.text(), width, timings);
  text += line("sum", width, sum);
  return text + fmt::format("Before the first cell began: {:.1f} s, for what all need\n", ahead);
}

Json timings_document(const TimingsOfCells& cells, double ahead) {
  Json document{{"ahead_seconds", json_number(ahead)}, {"cells", Json::array()}};
  for (const auto& [key, timings] : cells) {
    Json seconds;
    for (const Part& part : kParts) seconds[part.name] = json_number(timings.*part.seconds);
    document["cells"].push_back({{"cell", key.text()}, {"seconds", seconds}});
  }
  return document;
}

}  // namespace gauntlet
