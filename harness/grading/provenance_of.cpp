// SPDX-License-Identifier: Apache-2.0
#include "harness/grading/provenance_of.h"

#include "harness/core/machine.h"
#include "harness/sandbox/report.h"

namespace gauntlet {

Provenance provenance_of(const GradingEnvironment& environment, const CellRequest& request) {
  const Machine machine = this_machine();
  Provenance provenance;
  provenance.gauntlet_version = environment.version;
  provenance.grader_digest = grader_for(request.challenge.id).digest;
  provenance.submission_digest = request.solution.digest();
  provenance.prompt_digest = request.challenge.prompt_digest();
  provenance.cpu = machine.cpu;
  provenance.cores = machine.cores;
  provenance.kernel = machine.kernel;
  provenance.sandbox = probe_sandbox().tier;
  provenance.cache_bytes = static_cast<double>(machine.cache_bytes);
  provenance.started = utc_now();
  provenance.constraint = request.constraint;
  return provenance;
}

}  // namespace gauntlet
