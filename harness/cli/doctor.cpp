// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include "harness/build/solution.h"
#include "harness/cli/exit_codes.h"
#include "harness/cli/verbs.h"
#include "harness/core/machine.h"
#include "harness/measure/race.h"
#include "harness/sandbox/report.h"
#include "harness/worker/ahead_of_others.h"

namespace gauntlet {
namespace {

double memory_gib() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE)) /
         (1 << 30);
}

/// Builds a reference, the shortest way to know that building works here.
BuildRecord try_compiler(const Context& context) {
  try {
    const auto ids = context.challenges();
    if (ids.empty()) return {};
    const Challenge challenge = load_challenge(context.root(), ids.front());
    return build_solution(read_solution(context.root() / "reference" / challenge.id), challenge,
                          context.environment.cache)
        .record;
  } catch (const std::exception& error) {
    BuildRecord failed;
    failed.messages = error.what();
    return failed;
  }
}

std::string sandbox_text(const SandboxReport& sandbox) {
  std::string text = fmt::format("sandbox    {}\n", sandbox.usable ? sandbox.tier : "NOT USABLE");
  for (const auto& layer : sandbox.layers)
    text += fmt::format("  {} {} (stops {}): {}\n", layer.holds ? "holds" : "FAILS",
                        layer.wall->name, layer.wall->stops, layer.detail);
  if (!sandbox.usable) text += fmt::format("  {}\n", sandbox.problem);
  if (!sandbox.weakness.empty())
    text += fmt::format("  weaker than it should be: {}\n", sandbox.weakness);
  return text;
}

Json sandbox_document(const SandboxReport& sandbox) {
  Json document{{"usable", sandbox.usable},
                {"tier", sandbox.tier},
                {"problem", sandbox.problem},
                {"weakness", sandbox.weakness},
                {"layers", Json::array()}};
  for (const auto& layer : sandbox.layers)
    document["layers"].push_back({{"name", layer.wall->name},
                                  {"stops", layer.wall->stops},
                                  {"holds", layer.holds},
                                  {"detail", layer.detail}});
  return document;
}

}  // namespace

VerbResult doctor(const Context& context) {
  const Machine machine = this_machine();
  const BuildRecord build = try_compiler(context);
  const SandboxReport& sandbox = probe_sandbox();
  const std::string exposure = context.exposure();
  const Ceilings& best = ceilings();
  const bool ahead = AheadOfOthers::allowed();
  VerbResult answer;
  answer.text = fmt::format(
      "gauntlet   {}\nmachine    {}, {} cores, {:.1f} GiB, {}\ncompiler   {}\nceilings   {:.1f} "
      "GB/s read, {:.1f} GB/s copied, {:.1f} GB/s from the last-level cache, {:.0f} GFLOP/s\nraces "
      " "
      "    {}\n{}",
      context.environment.version, machine.cpu, machine.cores, memory_gib(), machine.kernel,
      build.ok ? build.compiler : "DOES NOT WORK: " + build.messages, best.read_gb_per_s,
      best.copy_gb_per_s, best.cache_gb_per_s, best.fma_gflop_per_s,
      ahead ? "come before other programs"
            : "share the processors with other programs (run as root, or with CAP_SYS_NICE, to "
              "come first)",
      sandbox_text(sandbox));
  answer.document = {{"schema", "gauntlet.doctor/1"},
                     {"version", context.environment.version},
                     {"cpu", machine.cpu},
                     {"cores", machine.cores},
                     {"memory_gib", memory_gib()},
                     {"kernel", machine.kernel},
                     {"compiler", build.compiler},
                     {"compiler_works", build.ok},
                     {"read_gb_per_s", json_number(best.read_gb_per_s)},
                     {"copy_gb_per_s", json_number(best.copy_gb_per_s)},
                     {"cache_gb_per_s", json_number(best.cache_gb_per_s)},
                     {"races_come_first", ahead},
                     {"fma_gflop_per_s", json_number(best.fma_gflop_per_s)},
                     {"sandbox", sandbox_document(sandbox)},
                     {"exposure", exposure}};
  if (!exposure.empty()) answer.text += fmt::format("  FAILS hidden files: {}\n", exposure);
  const bool healthy = build.ok && sandbox.usable && exposure.empty();
  answer.text += healthy ? "ready to grade\n" : "not ready to grade\n";
  if (!healthy) answer.exit_code = kExitIncomplete;
  return answer;
}

}  // namespace gauntlet
