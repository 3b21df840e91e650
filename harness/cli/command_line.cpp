// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/command_line.h"

#include <algorithm>
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "harness/cli/exit_codes.h"
#include "harness/cli/options.h"
#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/sandbox/report.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

constexpr const char* kIntroduction =
    "Gauntlet grades C++ solutions that language models wrote.\n\n"
    "  ./gauntlet new my-model                  a folder to put the model's answers into\n"
    "  ./gauntlet grade submissions/my-model    build, check, time, score\n"
    "  ./gauntlet report                        write reports/README.md";

Seed parse_seed(const std::string& word) {
  if (const auto seed = Seed::parse(word)) return *seed;
  throw UserError(fmt::format(
      "--seed {}: must be a number, 12345 or 0x3039 (hexadecimal: up to 64 digits, as printed)",
      printable(word, 80)));
}

ColorChoice parse_color(const std::string& word) {
  if (word == "auto") return ColorChoice::automatic;
  if (word == "always") return ColorChoice::always;
  if (word == "never") return ColorChoice::never;
  throw UserError(fmt::format("--color {}: must be auto, always or never", printable(word, 40)));
}

std::vector<std::string> verb_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands({})) names.push_back(verb->get_name());
  return names;
}

VerbResult text_answer(const std::string& text) {
  return {text, {{"schema", "gauntlet.text/1"}, {"text", text}}, kExitDone};
}

VerbResult help_on(CLI::App& app, const std::vector<std::string>& topic) {
  if (topic.empty()) return text_answer(app.help());
  if (topic.front() == "exit-codes") return text_answer(exit_codes_text());
  std::vector<std::string> known = verb_names(app);
  known.push_back("exit-codes");
  if (std::find(known.begin(), known.end(), topic.front()) == known.end())
    throw UserError(fmt::format("no help on '{}'{}; topics: {}", printable(topic.front(), 80),
                                did_you_mean(topic.front(), known), sentence_list(known)));
  return text_answer(app.get_subcommand(topic.front())->help("./gauntlet"));
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
    return word.empty() ? context.root() / usual : fs::path(word);
  };
  return {folder(o.report_folder, "reports"), folder(o.report_site, "build/report"),
          o.report_check};
}

AuditOptionsOfUser audit_options(const Context& context, const CommandLineOptions& o) {
  AuditOptionsOfUser audit = o.audit;
  if (o.record_audit) audit.record = context.root() / "reports" / "audit";
  return audit;
}

std::function<CiOptions(const Context&)> ci_options(const CommandLineOptions& o,
                                                    const Program& program) {
  CiOptions ci = o.ci;
  ci.baseline = o.ci_baseline;
  ci.step_summary = program.environment("GITHUB_STEP_SUMMARY");
  ci.in_github = program.environment("GITHUB_ACTIONS") == "true";
  return [ci, out = o.ci_out](const Context& context) mutable {
    ci.out = out.empty() ? context.root() / "build" / "ci" : fs::path(out);
    return ci;
  };
}

std::function<VerbResult(const Context&)> chosen_verb(CLI::App& app, const CommandLineOptions& o,
                                                      const Program& program) {
  const auto says = [](VerbResult answer) {
    return [answer = std::move(answer)](const Context&) { return answer; };
  };
  if (o.version) return says(text_answer(program.version + "\n"));
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
  const auto guarded = [weaker = o.allow_weaker_sandbox](auto verb_itself) {
    return [=](const Context& context) {
      require_sandbox(probe_sandbox(), weaker);
      if (const std::string why = context.exposure(); !why.empty()) throw UserError(why);
      return verb_itself(context);
    };
  };
  if (verb == "grade") return guarded([o](const Context& c) { return grade(c, o.grade); });
  if (verb == "reward") return guarded([o](const Context& c) { return reward(c, o.reward); });
  if (verb == "ci")
    return guarded(
        [options = ci_options(o, program)](const Context& c) { return ci(c, options(c)); });
  if (verb == "rerun") return guarded([o](const Context& c) { return rerun(c, o.rerun); });
  if (verb == "run-cell")
    return guarded([o](const Context& c) { return run_cell_of(c, o.run_cell); });
  if (verb == "verify") return guarded([o](const Context& c) { return verify(c, o.verify); });
  if (verb == "merge") return [o](const Context& c) { return merge(c, o.merge); };
  if (verb == "score") return [](const Context& c) { return score(c); };
  if (verb == "report") return [o](const Context& c) { return report(c, report_options(c, o)); };
  if (verb == "import")
    return [o](const Context& c) {
      return import_judgement(c, {o.judgement, report_options(c, o).folder});
    };
  if (verb == "sanitize") return [o](const Context& c) { return sanitize_folder(c, o.sanitize); };
  if (verb == "compare") return [o](const Context& c) { return compare(c, o.compare); };
  if (verb == "show") return [o](const Context& c) { return show(c, o.show); };
  if (verb == "audit")
    return guarded([o](const Context& c) { return audit(c, audit_options(c, o)); });
  if (verb == "calibrate")
    return guarded([o](const Context& c) { return calibrate(c, o.calibrate); });
  if (verb == "doctor") return [](const Context& c) { return doctor(c); };
  return says(help_on(app, o.help));
}

Context make_context(const Program& program, const CommandLineOptions& o) {
  Context context;
  const fs::path root = o.root.empty() ? program.root : fs::absolute(o.root);
  context.environment = {root, program.folder / "gauntlet-worker", root / "build" / "cache",
                         program.version};
  context.environment.node = fs::path(program.environment("SLURMD_NODENAME")).filename();
  context.environment.race_patience = std::chrono::seconds(o.patience);
  context.results = o.results.empty() ? root / "results" : fs::path(o.results);
  if (!o.seed.empty()) context.seed = parse_seed(o.seed);
  context.jobs = o.jobs;
  context.weaker_sandbox = o.allow_weaker_sandbox;
  context.json = o.json;
  context.quiet = o.quiet;
  context.live = redraws(program.environment, program.err_is_terminal);
  context.style = style_for(parse_color(o.color), program.environment, program.out_is_terminal);
  context.err = &program.err;
  return context;
}

}  // namespace

CommandLine parse_command_line(const Program& program, const std::vector<std::string>& arguments) {
  CommandLineOptions options;
  CLI::App app(kIntroduction, "./gauntlet");
  app.set_help_flag("-h,--help", "Print this help");
  app.require_subcommand(0, 1);
  app.footer("Exit codes: ./gauntlet help exit-codes");
  add_global_options(app, options);
  add_verbs(app, options);
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
