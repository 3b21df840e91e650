// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/runners.h"

#include <fmt/format.h>

#include "harness/core/error.h"
#include "harness/run/slurm/slurm_runner.h"

namespace gauntlet {
namespace {

bool on_cluster(const GradeOptions& options) {
  return options.runner == "slurm";
}

/// What a node runs, before the verb: this program, as it was called here.
std::vector<std::string> command_on_node(const Context& context) {
  std::vector<std::string> words{(context.environment.worker.parent_path() / "gauntlet").string(),
                                 "--root",
                                 std::filesystem::absolute(context.root()).string(),
                                 "--patience",
                                 fmt::format("{}", context.environment.race_patience.count()),
                                 "--jobs",
                                 "1",
                                 "--quiet"};
  if (context.weaker_sandbox) words.emplace_back("--allow-weaker-sandbox");
  return words;
}

}  // namespace

std::unique_ptr<Runner> runner_for(const Context& context, const GradeOptions& options) {
  const SlurmTerms& terms = options.slurm;
  if (on_cluster(options))
    return std::make_unique<SlurmRunner>(
        SlurmRunner::Setting{terms, context.environment.cache / "slurm", command_on_node(context)});
  if (!terms.partition.empty() || !terms.constraint.empty() || terms.cpus > 0 || terms.jobs > 0)
    throw UserError("--slurm-... say where jobs run: they go with --runner slurm");
  return std::make_unique<LocalRunner>(context.environment, context.jobs);
}

PlanTerms plan_terms_for(const Context& context, const GradeOptions& options) {
  PlanTerms terms = context.plan_terms(options.fresh);
  if (on_cluster(options)) terms.constraint = options.slurm.constraint;
  return terms;
}

}  // namespace gauntlet
