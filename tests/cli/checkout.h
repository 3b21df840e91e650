// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "harness/build/solution.h"
#include "harness/build/toolchain.h"
#include "harness/cli/app.h"
#include "harness/core/files.h"
#include "harness/core/machine.h"
#include "harness/grading/cell.h"
#include "harness/sandbox/report.h"
#include "harness/store/result_store.h"
#include "tests/store/receipt_sample.h"
#include "tests/store/sample.h"

namespace gauntlet {

struct Ran {
  int code = 0;
  std::string out;
  std::string err;
};

/// A checkout of its own, with this one's challenges and graders and no submissions.
class Checkout {
 public:
  Checkout() {
    const std::filesystem::path real = GAUNTLET_ROOT;
    for (const char* part : {"challenges", "graders", "reference", "harness"})
      std::filesystem::create_directory_symlink(real / part, root() / part);
    std::filesystem::create_directories(root() / "submissions");
    challenge = all_graders().front().id;
  }

  const std::filesystem::path& root() const { return folder_.path(); }
  ResultStore results() const { return ResultStore(root() / "results"); }

  Ran run(std::vector<std::string> arguments) const {
    // Races take no longer because of other tests.
    arguments.insert(arguments.begin(), {"--root", root().string(), "--patience", "0"});
    return run_bare(arguments);
  }

  Ran run_bare(const std::vector<std::string>& arguments) const {
    std::ostringstream out;
    std::ostringstream err;
    const Program program{root(), worker_folder, "0.1.0", environment, out, err, false, false};
    Ran ran;
    ran.code = run_program(program, arguments);
    ran.out = out.str();
    ran.err = err.str();
    return ran;
  }

  /// A submission with a model card and a solution to the first challenge that builds and exports
  /// nothing.
  void add_submission(const std::string& name) const {
    const std::filesystem::path folder = root() / "submissions" / name;
    write_file(folder / "model.yaml",
               model_card_to_yaml({name, "unknown", "unknown", "unknown", "unknown", "unknown",
                                   "unknown", "unknown", "unknown", "unknown"}));
    write_file(folder / challenge / "solution.cpp", "#include \"contract.h\"\n");
  }

  /// Stores a result that is still valid for the submission as it stands.
  void add_result(const std::string& name, double earned) const {
    const CellKey key = CellKey::of(name);
    std::filesystem::path folder =
        name == "reference" ? root() / "reference" : root() / "submissions" / key.submission;
    if (key.attempt > 1) folder = folder / "attempts" / std::to_string(key.attempt);
    CellObservation cell = sample::cell(name, challenge);
    cell.build.compiler = compiler().version;
    cell.build.flags = fmt::format("{}", fmt::join(toolchain(Device::cpu).solution_flags, " "));
    const SolutionSource source = read_solution(folder / challenge);
    cell.provenance.submission_digest = source.digest();
    cell.provenance.files = source.file_digests();
    cell.provenance.contract_digest = load_challenge(root(), challenge).contract_digest();
    cell.provenance.grader_digest = grader_for(challenge).digest(Device::cpu);
    cell.provenance.cpu = this_machine().cpu;
    cell.provenance.cores = this_machine().cores;
    cell.provenance.sandbox = probe_sandbox().tier;
    cell.checks = {sample::passed("base"), sample::failed("odd_sizes")};
    cell.checks[0].earned = earned;
    keep(cell);
  }

  /// Stores what a run saw, with its receipt.
  void keep(const CellObservation& cell, bool seed_drawn = true) const {
    results().save(cell);
    results().close_receipt(cell, sample::receipt_of(cell, seed_drawn));
  }

  std::string challenge;  // the first one that this program was built with
  std::filesystem::path worker_folder = GAUNTLET_BIN;
  Environment environment = [](const std::string&) { return std::string(); };

 private:
  ScratchFolder folder_{"checkout"};
};

}  // namespace gauntlet
