// SPDX-License-Identifier: Apache-2.0
// The same PTX has the same results, counts and diagnostics on every machine, with every vector
// unit and in every build of the simulator: all of them together have one digest, which stands
// here. Counts are the bytes of a device's report. A change that is meant to count otherwise
// changes it; two compilers that differ are a fault.
#include <doctest/doctest.h>
#include <filesystem>
#include <optional>

#include <nlohmann/json.hpp>

#include "harness/core/digest.h"
#include "harness/core/files.h"
#include "harness/device/report_json.h"
#include "tests/simt/device.h"

using namespace gauntlet;
using namespace gauntlet::simt;

namespace {

using nlohmann::json;

constexpr const char* kDigest = "b9767b2a4601de56c560f7a427001055a62737a9134cc924dbaaa47b13a58381";

std::string text_of(const LaunchResult& got) {
  json all{{"status", name_of(got.status)},
           {"counters", counters_json(got.counters)},
           {"budget_used", got.budget_used}};
  for (const Diagnostic& seen : got.diagnostics) all["diagnostics"].push_back(seen.text());
  return all.dump() + "\n";
}

std::string text_of(SimulatedDevice& device, const LaunchResult& got,
                    const std::vector<std::uint64_t>& buffers) {
  std::string text = text_of(got);
  for (const std::uint64_t address : buffers) {
    const auto bytes = device.get<char>(address);
    text += sha256({bytes.data(), bytes.size()}) + "\n";
  }
  return text;
}

template <class... P>
void add_launch(std::string& text, SimulatedDevice& device, const LaunchShape& shape,
                const std::vector<std::uint64_t>& buffers, const P&... parameters) {
  text += text_of(device, device.launch(shape, parameters...), buffers);
}

std::vector<float> numbers(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t n = 0; n < count; ++n) values[n] = float(int(n * 7919 % 1013) - 500) / 64;
  return values;
}

/// A device with one of the kernels in tests/simt/counts.
struct KernelDevice : SimulatedDevice {
  KernelDevice(const std::string& kernel, VectorUnit unit,
               const std::optional<std::uint64_t>& schedule)
      : SimulatedDevice(read_file(std::filesystem::path(GAUNTLET_ROOT) / "tests/simt/counts" /
                                  (kernel + ".ptx")),
                        form_table(unit)) {
    options.schedule_seed = schedule;
  }
};

/// Of ragged launches of all kernels.
std::string everything(VectorUnit unit, const std::optional<std::uint64_t>& schedule) {
  std::string text;
  {
    KernelDevice device("softmax", unit, schedule);
    const auto x = device.put(numbers(std::size_t{7} * 333), "x", Access::read_only);
    const auto y = device.put(std::vector<float>(std::size_t{7} * 333), "y");
    add_launch(text, device, {{7, 1, 1}, {128, 1, 1}, 128 * 8}, {y}, x, y, 333);
  }
  {
    KernelDevice device("last_block", unit, schedule);
    const auto x = device.put(numbers(3001), "x");
    const auto partial =
        device.put(std::vector<float>(9), "partial", Access::read_write, Content::undefined);
    const auto total = device.put(std::vector<float>(1), "total");
    add_launch(text, device, {{9, 1, 1}, {128, 1, 1}}, {partial, total}, x, 3001, partial, total);
  }
  {
    KernelDevice device("histogram", unit, schedule);
    const auto data = device.put(numbers(700), "data");
    const auto bins = device.put(std::vector<std::uint32_t>(256), "bins");
    add_launch(text, device, {{3, 1, 1}, {96, 1, 1}}, {bins}, data, 2800, bins);
  }
  {
    KernelDevice device("groups", unit, schedule);
    std::vector<int> values(128);
    for (int n = 0; n < 128; ++n) values[std::size_t(n)] = n * 37 % 101;
    const auto in = device.put(values, "in");
    const auto out = device.put(std::vector<int>(std::size_t{11} * 128), "out");
    add_launch(text, device, {{1, 1, 1}, {128, 1, 1}}, {out}, in, out, 128);
  }
  return text;
}

}  // namespace

TEST_CASE("counts, results and diagnostics of kernels are those of every other build") {
  const std::vector<std::optional<std::uint64_t>> schedules{std::nullopt, 1, 2};
  std::vector<std::string> texts;
  for (int unit = 0; unit <= int(best_vector_unit()); ++unit) {
    std::string text;
    for (const auto& schedule : schedules)
      text += everything(static_cast<VectorUnit>(unit), schedule);
    texts.push_back(text);
  }
  for (const std::string& text : texts) CHECK(text == texts[0]);
  INFO(texts[0]);
  CHECK(texts[0].find("race at last_block.cu:") != std::string::npos);
  CHECK(sha256(texts[0]) == kDigest);
}
