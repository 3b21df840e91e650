// SPDX-License-Identifier: Apache-2.0
#include "harness/build/build_steps.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/build/compiler_messages.h"
#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/text.h"
#include "harness/sandbox/run_command.h"

namespace gauntlet {
namespace {

// A source can have more to say than a pipe holds or a report shows; its warnings are counted.
constexpr std::size_t kMostSaid = std::size_t{16} << 20;

}  // namespace

Limits BuildSteps::limits_left() const {
  Limits limits = terms_.limits;
  limits.wall_seconds = std::max(limits.wall_seconds - seconds_, 0.001);
  limits.output_kept = limits.output_flood = kMostSaid;
  const std::uint64_t room = BuildFolder::kRoom - std::min(BuildFolder::kRoom, folder_.used());
  limits.file_bytes = std::min<std::uint64_t>(limits.file_bytes, room);
  return limits;
}

bool BuildSteps::carry_out(const std::vector<std::string>& argv) {
  const CommandResult result =
      run_command({argv, folder_.path(), terms_.walls, programs_}, limits_left());
  seconds_ += result.seconds;
  printed_ = folder_.without_our_names(result.output);
  cut_ = result.output.size() >= kMostSaid;
  if (const auto* fault = std::get_if<Unstarted>(&result.outcome))
    throw Broken(fault->fault, fault->why);
  const auto* end = std::get_if<Exited>(&result.outcome);
  if (end == nullptr) {
    stopped_ = fmt::format(
        "the compiler was stopped: {}",
        std::holds_alternative<OverRan>(result.outcome) && seconds_ >= terms_.limits.wall_seconds
            ? fmt::format("more than {} s of wall-clock time", terms_.limits.wall_seconds)
            : describe(result.outcome));
  } else if (const auto limit = limit_in(read_output(printed_).plain); end->code != 0 && limit) {
    stopped_ = fmt::format("the compiler ran into its limit on {}", *limit);
  }
  return end != nullptr && end->code == 0;
}

void BuildSteps::require_working_machine(std::vector<std::string> compiler_and_flags) const {
  if (const std::string fault = folder_.fault(); !fault.empty())
    throw Broken(OwnFault::files,
                 fmt::format("nothing can be built in {}: {}", folder_.path().string(), fault));
  const ScratchFolder empty("build");
  std::vector<std::string>& argv = compiler_and_flags;
  argv.insert(argv.end(), {"/dev/null", "-o", "empty.so"});
  const CommandResult result = run_command({argv, empty.path(), terms_.walls, programs_}, Limits());
  const auto* end = std::get_if<Exited>(&result.outcome);
  if (end == nullptr || end->code != 0)
    throw Broken(OwnFault::compiler,
                 fmt::format("the compiler fails on an empty source: {}: {}",
                             describe(result.outcome), one_line(result.output, 400)));
}

void finish_record(BuildRecord& record, CompilerOutput said, const BuildSteps& steps) {
  if (said.garbled)
    said.diagnostics.push_back(
        {"warning", "", 0, 0, "the compiler's messages were cut or mixed up by the source", ""});
  record.seconds = steps.seconds();
  record.warnings = static_cast<int>(own_warnings(said).size());
  record.messages = tidy_messages(said);
  if (steps.stopped().empty()) return;
  record.messages = steps.stopped() + (record.messages.empty() ? "" : "\n") + record.messages;
  record.stopped = true;
}

}  // namespace gauntlet
