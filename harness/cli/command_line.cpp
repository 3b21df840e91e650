// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/command_line.h"

#include <algorithm>
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "harness/build/cache_use.h"
#include "harness/cli/completion.h"
#include "harness/cli/exit_codes.h"
#include "harness/cli/help.h"
#include "harness/cli/make_context.h"
#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/sandbox/report.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

/// "gauntlet 0.1.0" and, below it, how it was built.
std::string version_text(const Program& program) {
  return fmt::format("gauntlet {}\n{}", program.version,
                     program.build.empty() ? "" : "built " + program.build + "\n");
}

VerbResult text_answer(const std::string& text) {
  return {text, {{"schema", "gauntlet.text/1"}, {"text", text}}, kExitDone};
}

/// CLI11 names the word that it could not place; the nearest word that it could have is ours to
/// find.
[[noreturn]] void explain(const CLI::App& app, const CLI::ParseError& error,
                          const std::vector<std::string>& arguments) {
  std::vector<std::string> known;
  const auto parsed = app.get_subcommands();
  const CLI::App& asked = parsed.empty() ? app : *parsed.front();
  if (parsed.empty()) known = verb_names(app);
  for (const CLI::App* level : {&app, &asked})
    for (const CLI::Option* option : level->get_options())
      for (const auto& name : option->get_lnames()) known.push_back("--" + name);
  std::string hint;
  for (const auto& word : arguments)
    if (hint.empty() && std::find(known.begin(), known.end(), word) == known.end() &&
        std::string(error.what()).find(word) != std::string::npos)
      hint = did_you_mean(word, known);
  throw UserError(fmt::format("{}{}\nSee ./gauntlet help{}", printable(error.what(), 500), hint,
                              parsed.empty() ? "" : " " + asked.get_name()));
}

ReportOptions report_options(const Context& context, const CommandLineOptions& o) {
  const auto folder = [&](const std::string& word, const fs::path& usual) {
    return word.empty() ? context.workspace / usual : fs::path(word);
  };
  return {folder(o.report_folder, "reports"), folder(o.report_site, "build/report"),
          o.report_check};
}

AuditOptionsOfUser audit_options(const Context& context, const CommandLineOptions& o) {
  AuditOptionsOfUser audit = o.audit;
  if (o.record_audit) audit.record = context.workspace / "reports" / "audit";
  return audit;
}

std::function<CiOptions(const Context&)> ci_options(const CommandLineOptions& o,
                                                    const Program& program) {
  CiOptions ci = o.ci;
  ci.baseline = o.ci_baseline;
  ci.step_summary = program.environment("GITHUB_STEP_SUMMARY");
  ci.in_github = program.environment("GITHUB_ACTIONS") == "true";
  return [ci, out = o.ci_out](const Context& context) mutable {
    ci.out = out.empty() ? context.workspace / "build" / "ci" : fs::path(out);
    return ci;
  };
}

std::function<VerbResult(const Context&)> chosen_verb(CLI::App& app, const CommandLineOptions& o,
                                                      const Program& program) {
  const auto says = [](VerbResult answer) {
    return [answer = std::move(answer)](const Context&) { return answer; };
  };
  if (o.version) return says(text_answer(version_text(program)));
  if (app.get_subcommands().empty()) return says(text_answer(app.help()));
  const std::string verb = app.get_subcommands().front()->get_name();
  if (verb == "list") return [o](const Context& c) { return list(c, o.list); };
  if (verb == "export")
    return [o, weaker = o.allow_weaker_sandbox](const Context& c) {
      ExportOptions options = o.export_tasks;
      options.weaker_sandbox = weaker;
      return export_tasks(c, options);
    };
  if (verb == "new") return [o](const Context& c) { return new_submission(c, o.fresh); };
  if (verb == "validate") return [o](const Context& c) { return validate(c, o.validate); };
  const auto walled = [weaker = o.allow_weaker_sandbox](auto verb_itself) {
    return [=](const Context& context) {
      require_sandbox(probe_sandbox(), weaker);
      if (const std::string why = context.exposure(); !why.empty()) throw UserError(why);
      return verb_itself(context);
    };
  };
  const auto guarded = [walled](auto verb_itself) {
    return walled([=](const Context& context) {
      const CacheUse in_use(context.environment.cache);
      return verb_itself(context);
    });
  };
  if (verb == "grade") return guarded([o](const Context& c) { return grade(c, o.grade); });
  if (verb == "reward") return walled([o](const Context& c) { return reward(c, o.reward); });
  if (verb == "ci")
    return guarded(
        [options = ci_options(o, program)](const Context& c) { return ci(c, options(c)); });
  if (verb == "rerun") return guarded([o](const Context& c) { return rerun(c, o.rerun); });
  if (verb == "run-cell")
    return guarded([o](const Context& c) { return run_cell_of(c, o.run_cell); });
  if (verb == "verify") return guarded([o](const Context& c) { return verify(c, o.verify); });
  if (verb == "score") return [](const Context& c) { return score(c); };
  if (verb == "report") return [o](const Context& c) { return report(c, report_options(c, o)); };
  if (verb == "import")
    return [o](const Context& c) {
      return import_judgement(c, {o.judgement, report_options(c, o).folder});
    };
  if (verb == "cache") return [o](const Context& c) { return cache(c, o.cache); };
  if (verb == "sanitize") return [o](const Context& c) { return sanitize_folder(c, o.sanitize); };
  if (verb == "compare") return [o](const Context& c) { return compare(c, o.compare); };
  if (verb == "show") return [o](const Context& c) { return show(c, o.show); };
  if (verb == "audit")
    return guarded([o](const Context& c) { return audit(c, audit_options(c, o)); });
  if (verb == "calibrate")
    return guarded([o](const Context& c) { return calibrate(c, o.calibrate); });
  if (verb == "doctor") return [](const Context& c) { return doctor(c); };
  if (verb == "completion") return says(text_answer(completion_script(o.shell)));
  return says(text_answer(help_on(app, o.help, program)));
}

}  // namespace

CommandLine parse_command_line(const Program& program, const std::vector<std::string>& arguments) {
  CommandLineOptions options;
  CLI::App app;
  describe_command_line(app, options);
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // as CLI11 wants them
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    const std::string text = app.help();
    return {make_context(program, options), [text](const Context&) { return text_answer(text); }};
  } catch (const CLI::ParseError& error) {
    explain(app, error, arguments);
  }
  return {make_context(program, options), chosen_verb(app, options, program)};
}

}  // namespace gauntlet
