// SPDX-License-Identifier: Apache-2.0
// How near the references come to what this machine can do: the share of the measured copy
// bandwidth or FMA peak that the least work of each timed case takes.
//
//   gauntlet_bench_reference [CHALLENGE...]      all when none is named

#include <filesystem>
#include <fmt/format.h>

#include "harness/core/error.h"
#include "harness/core/machine.h"
#include "harness/grading/cell.h"
#include "harness/run/local_runner.h"

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

/// The reference graded as if it had been handed in, by its performance checks alone.
CellRequest request_for(const fs::path& root, const std::string& id) {
  CellRequest request;
  request.submission = "reference";
  request.challenge = load_challenge(root, id);
  request.solution = read_solution(root / "reference" / id);
  request.grade_tests = false;
  for (const CheckInfo& check : checks_of(id, Device::cpu))
    if (check.section == Section::performance) request.only_checks.push_back(check.id);
  if (request.only_checks.empty()) throw UserError(fmt::format("{} times nothing", id));
  return request;
}

void print(const CellObservation& cell) {
  fmt::print("{}, ceilings {:.1f} GB/s copied, {:.0f} GFLOP/s\n", cell.key.challenge,
             cell.provenance.copy_gb_per_s, cell.provenance.fma_gflop_per_s);
  for (const CheckObservation& check : cell.checks) {
    for (const SpeedMeasurement& speed : check.speeds)
      fmt::print("  {:36} {:10.1f} us  {:>5} of the ceiling, against itself {:.2f}-{:.2f}\n",
                 speed.case_name, speed.reference_ns / 1000,
                 speed.reference_ceiling_share
                     ? fmt::format("{:.0f} %", *speed.reference_ceiling_share * 100)
                     : "none",
                 speed.noise_low, speed.noise_high);
    if (check.finding) fmt::print("  {}: {}\n", check.info.id, check.finding->summary);
  }
  std::fflush(stdout);
}

}  // namespace
}  // namespace gauntlet

int main(int argc, char** argv) try {
  using namespace gauntlet;
  const fs::path root = GAUNTLET_ROOT;
  const GradingEnvironment environment{root, fs::path(GAUNTLET_BIN) / "gauntlet-worker",
                                       root / "build/cache", "bench"};
  std::vector<std::string> ids(argv + 1, argv + argc);
  if (ids.empty()) ids = challenge_ids(root);
  const Machine machine = this_machine();
  fmt::print("{}, {} cores, {}\n", machine.cpu, machine.cores, machine.kernel);
  for (const std::string& id : ids)
    print(
        LocalRunner(environment, 1).grade({request_for(root, id)}, [](const CellEvent&) {}).at(0));
} catch (const std::exception& error) {
  fmt::print(stderr, "gauntlet_bench_reference: {}\n", error.what());
  return 1;
}
