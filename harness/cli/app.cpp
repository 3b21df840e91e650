// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/app.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/cli/command_line.h"
#include "harness/cli/completion.h"
#include "harness/cli/exit_codes.h"
#include "harness/cli/installation.h"
#include "harness/cli/interrupt.h"
#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/text.h"

namespace gauntlet {
namespace {

int fail(const Program& program, bool json, const std::string& said, int code) {
  const std::string message = as_called(said, program.installed);
  if (json)
    program.out << json_text(
        Json{{"schema", "gauntlet.error/1"}, {"message", printable(message)}, {"exit_code", code}});
  else
    program.err << "gauntlet: " << printable(message) << "\n";
  return code;
}

std::string document_text(const VerbResult& answer) {
  return answer.one_line ? json_line(answer.document) : json_text(answer.document);
}

}  // namespace

int run_program(const Program& program, const std::vector<std::string>& arguments) {
  if (!arguments.empty() && arguments.front() == kCompleteCall) {
    program.out << completion_answer(program, {arguments.begin() + 1, arguments.end()})
                << std::flush;
    return kExitDone;
  }
  // Known before the line is understood, so that a wrong line is answered in JSON as well.
  const bool json = std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
  try {
    const CommandLine line = parse_command_line(program, arguments);
    end_on_interrupt(json);
    sweep_scratch_folders();
    const VerbResult answer = line.run(line.context);
    program.out << as_called(json ? document_text(answer) : answer.text, program.installed)
                << std::flush;
    if (program.out) return answer.exit_code;
    return fail(program, false, "the answer could not be written", kExitUsage);
  } catch (const UserError& error) {
    return fail(program, json, error.what(), error.exit_code);
  } catch (const Broken& error) {
    return fail(program, json, fmt::format("the grader cannot work here: {}", error.what()),
                kExitIncomplete);
  } catch (const std::filesystem::filesystem_error& error) {
    return fail(program, json,
                fmt::format("cannot use {}: {}; make it readable, or move it away",
                            error.path1().string(), error.code().message()),
                kExitUsage);
  } catch (const std::exception& error) {
    return fail(program, json, fmt::format("internal error, please report it: {}", error.what()),
                kExitInternal);
  }
}

}  // namespace gauntlet
