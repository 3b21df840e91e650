// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/options.h"

#include <CLI/CLI.hpp>

#include "harness/cli/cluster_options.h"
#include "harness/cli/option_parts.h"

namespace gauntlet {
namespace {

constexpr const char* kIntroduction =
    "Gauntlet grades C++ and CUDA solutions that language models wrote.\n\n"
    "  ./gauntlet new my-model                  a folder to put the model's answers into\n"
    "  ./gauntlet grade submissions/my-model    build, check, time, score\n"
    "  ./gauntlet report                        write reports/README.md";

}  // namespace

void describe_command_line(CLI::App& app, CommandLineOptions& options) {
  app.name("./gauntlet");
  app.description(kIntroduction);
  app.set_help_flag("-h,--help", "Print this help");
  app.require_subcommand(0, 1);
  app.footer("Exit codes: ./gauntlet help exit-codes");
  add_global_options(app, options);
  add_verbs(app, options);
}

void add_global_options(CLI::App& app, CommandLineOptions& options) {
  app.add_flag("--json", options.json, "Print one JSON document, also on failure");
  app.add_option("--jobs,-j", options.jobs, "Cells graded at once (default: all cores)")
      ->check(CLI::Range(1, 1024));
  app.add_option("--patience", options.patience,
                 "Seconds by which the races of a cell may be prolonged where the machine is busy "
                 "(default: 20)")
      ->check(CLI::Range(0, 3600));
  app.add_option("--seed", options.seed, "Seed of all inputs, 12345 or 0x3039 (default: drawn)")
      ->check(not_empty());
  app.add_option("--results", options.results,
                 "Folder of results (default: results/; see ./gauntlet help files)")
      ->check(not_empty());
  app.add_option(
      "--root", options.root,
      "Checkout to work in (default: the one it was built from; see ./gauntlet help files)");
  app.add_option("--color", options.color, "auto, always or never");
  app.add_flag("--allow-weaker-sandbox", options.allow_weaker_sandbox,
               "Run submissions where a wall of the sandbox is missing");
  app.add_flag("--quiet,-q", options.quiet,
               "No progress, no remarks; of an audit only what is off");
  app.add_flag("--version,-V", options.version, "Print the version and how it was built");
}

namespace {

void add_ci_verb(CLI::App& app, CommandLineOptions& o) {
  CLI::App& ci = add_verb(app, "ci", "Grade the submissions that a change touches, for a CI job",
                          "ci --base origin/main --min-grade C --no-regression");
  ci.add_option("--base", o.ci.base,
                "Branch or commit that the change goes to; what differs from the common ancestor "
                "is graded, committed or not")
      ->check(not_empty());
  ci.add_flag("--all", o.ci.all, "Every submission, changed or not");
  ci.add_option("-c,--challenge", o.ci.challenges, "Only this challenge; repeatable")
      ->allow_extra_args(false);
  ci.add_option("--min-grade", o.ci.min_grade,
                "Gate: exit with 1 where a grade is below this letter or score, at its low end")
      ->check(not_empty());
  ci.add_flag("--no-regression", o.ci.no_regression,
              "Gate: exit with 1 where a check fails that passed in the baseline, where the low "
              "end of a score fell by the tie band or more, or where a solution is gone");
  ci.add_option("--baseline", o.ci_baseline,
                "Folder of a report to compare with (default: reports/ as REF has it)")
      ->check(not_empty());
  ci.add_option("--out", o.ci_out, "Folder that gets the documents (default: build/ci/)")
      ->check(not_empty());
  ci.add_flag("--fresh", o.ci.fresh, "Grade again what is graded already");
  ci.footer(
      "Writes ci.json, junit.xml, summary.md (appended to $GITHUB_STEP_SUMMARY as well), "
      "annotations.txt (printed where GITHUB_ACTIONS is set) and findings.sarif.\n"
      "A changed file outside of submissions/ grades nothing without --all. An invalid submission "
      "ends with 3 and the others are graded; what the grader or the machine left open ends with "
      "5 and is no submission's failure. --no-regression compares nothing where the grader changed "
      "or "
      "the solution did not, and no speeds of different machines.\n"
      "Example: ./gauntlet ci --base origin/main --min-grade C --no-regression");
}

void add_grading_verbs(CLI::App& app, CommandLineOptions& o) {
  CLI::App& grade = add_verb(app, "grade", "Grade submissions and show the matrix",
                             "grade submissions/my-model -c CHALLENGE --fail-under B");
  grade.add_option("submission", o.grade.submissions, "Names or folders")->required();
  grade
      .add_option("-c,--challenge", o.grade.challenges,
                  "Only this challenge, or ID.SIZE for another size; repeatable")
      ->allow_extra_args(false);
  add_device(grade, o.grade.device,
             "Only solutions for this device, cpu or cuda (default: all; ID@cuda names one)");
  grade.footer(
      "A solution.cu is for CUDA: its kernels are executed on the CPU, so that it needs no GPU, "
      "and "
      "its speed is not measured. It lies in the challenge's folder, or in ID@cuda beside that.\n"
      "Two lines tell later that nothing was changed, if you keep one of them: 'commit ...' when a "
      "cell begins, 'closed ...' when it ends; see ./gauntlet help verify.\n"
      "On a cluster, SBATCH_ACCOUNT, SBATCH_TIMELIMIT and the like count. A job that the cluster "
      "ends is run again, twice at most; then its cell is broken, which is nobody's failure. "
      "Ctrl-C "
      "ends all jobs.\n"
      "Example: ./gauntlet grade submissions/my-model -c CHALLENGE --fail-under B");
  grade.add_flag("--fresh", o.grade.fresh, "Grade again what is graded already");
  grade.add_flag("--timings", o.grade.timings, "Say where the time of grading went, cell by cell");
  grade.add_option("--fail-under", o.grade.fail_under, "Exit with 1 below this letter or score")
      ->check(not_empty());
  add_machine_options(grade, o.grade);

  CLI::App& reward = add_verb(app, "reward", "Grade one cell for a training run; keeps nothing",
                              "reward FOLDER -c CHALLENGE --no-speed --json");
  reward.add_option("submission", o.reward.submission, "Name or folder")->required();
  reward
      .add_option("-c,--challenge", o.reward.challenge,
                  "Challenge, ID.SIZE for another size, ID@cuda for a solution.cu")
      ->required();
  reward.add_flag("!--no-speed", o.reward.speed,
                  "Race nothing: the checks that would are left out of the reward");
  reward
      .add_option("--harbor", o.reward.harbor,
                  "Folder that gets reward.json, which Harbor reads, with reward-details.json and "
                  "observation.json; a submission that breaks the rules has reward 0 there")
      ->check(not_empty());
  reward.footer(
      "Prints a reward of 0 to 1, the low end of the score, with --json as one line that has the "
      "sections' rewards and every failure. tests.cpp and claims are not asked. Exit code 0 "
      "whenever there is a verdict, 5 where the machine or the grader leaves none.\n"
      "Example: ./gauntlet reward FOLDER -c CHALLENGE --no-speed --json");

  add_ci_verb(app, o);

  CLI::App& rerun = add_verb(app, "rerun", "Grade one challenge again, or ask some checks again",
                             "rerun my-model CHALLENGE --check CHECK --seed 0x1f");
  rerun.add_option("model", o.rerun.submission, "Name or folder")->required();
  rerun
      .add_option("challenge", o.rerun.challenge,
                  "Challenge, ID.SIZE for another size, ID@cuda for a solution.cu")
      ->required();
  rerun.add_option("--check", o.rerun.checks, "Only this check, without keeping it; repeatable")
      ->allow_extra_args(false);

  CLI::App& run_cell = add_verb(app, "run-cell", "Grade one cell that a runner wrote down",
                                "run-cell REQUEST.json --out FOLDER");
  run_cell.add_option("request", o.run_cell.request, "A cell's request, gauntlet.cell-request/1")
      ->required();
  run_cell.add_option("--out", o.run_cell.out, "Folder of results that gets the cell")->required();
  run_cell.footer(
      "For clusters: another process, or another machine with the same checkout, grades what a "
      "request asks. It holds the solution and says challenge, seed and which checks.\n"
      "Example: ./gauntlet run-cell REQUEST.json --out FOLDER");

  add_merge_verb(app, o.merge);

  CLI::App& verify = add_verb(app, "verify", "Check a grade's receipt and confirm it by a new run",
                              "verify my-model CHALLENGE");
  verify.add_option("what", o.verify.what, "A receipt.json, or a submission's name or folder")
      ->required();
  verify.add_option("challenge", o.verify.challenge,
                    "Of a submission: which challenge, as rerun has it");
  verify
      .add_option("--commitment", o.verify.commitment,
                  "The digest of the line 'commit ...', printed when the run began: tells any "
                  "edit since then, and a receipt that was made anew")
      ->check(not_empty());
  verify
      .add_option("--closing", o.verify.closing,
                  "The digest of the line 'closed ...', printed when the run ended: tells the same")
      ->check(not_empty());
  verify.footer(
      "Races and whatever else goes by the clock are not run again; those numbers are as good as "
      "the receipt, and without --commitment or --closing anybody could have made it later.\n"
      "Example: ./gauntlet verify my-model CHALLENGE --commitment DIGEST");

  CLI::App& validate = add_verb(app, "validate", "Check the model card and files; runs nothing",
                                "validate submissions/my-model");
  validate.add_option("submission", o.validate, "Names or folders")->required();

  CLI::App& audit = add_verb(app, "audit", "Grade the graders: mutants, honest variants, nulls",
                             "audit -c CHALLENGE --seeds 1");
  audit.add_option("-c,--challenge", o.audit.challenges, "Only this challenge; repeatable")
      ->allow_extra_args(false);
  add_device(audit, o.audit.device, "Whose solutions are tried: cpu or cuda (default: cpu)");
  audit.add_option("--seeds", o.audit.seeds,
                   "Seeds for every honest variant; else as mutants.yaml says");
  audit.add_option("--mutant-seeds", o.audit.mutant_seeds,
                   "Seeds for every mutant and the checks that must notice it, which have to do so "
                   "with two of three; else 1, and 3 for a check that missed");
  audit
      .add_option("--only", o.audit.only,
                  "Only the mutant or honest variant of this name, of the one challenge that -c "
                  "names, or with --attacks the program; repeatable, not with --record")
      ->allow_extra_args(false);
  CLI::Option* brief =
      audit.add_flag("--brief", o.audit.brief,
                     "Put to mutants only the checks that must notice them, and try at most three "
                     "seeds for honest variants: half the time");
  audit.add_flag(
      "--fewest", o.audit.fewest,
      "The least to see that each check works: as few mutants as name every check, which "
      "right solutions share out; not with --record");
  audit
      .add_option("--sample", o.audit.sample,
                  "Only so many mutants and honest variants, other ones whenever the grader is "
                  "changed; not with --record")
      ->check(CLI::Range(1, 10'000));
  audit.add_flag("--record", o.record_audit, "Keep the outcome in reports/audit/ for the report")
      ->excludes(brief);
  audit.add_flag("--as-graded", o.audit.as_graded,
                 "Give honest variants runs as long as a submission's (ternary training: a minute "
                 "each) and judge them by the same bars");
  audit.add_flag(
      "--attacks", o.audit.attacks,
      "Audit the sandbox instead: attacks and odd programs on every tier, with --brief on "
      "the one with the fewest walls and the one with the most");
  audit.add_flag("--contract", o.audit.contract,
                 "Print every statement of contract.h, the checks that ask it, the mutants that "
                 "break it, and what is not asked and why; runs nothing");
  audit.add_option(
      "--wild", o.audit.wild,
      "Grade so many mutants that rules make, and no others; with --only those that it "
      "names, as they are printed");
}

void add_sanitize(CLI::App& app, SanitizeOptions& o) {
  const std::string example = "sanitize FOLDER --name alice --write";
  CLI::App& verb = add_verb(app, "sanitize", "Make a model's working folder publishable", example);
  verb.add_option("folder", o.folder, "Folder, or name of a submission")
      ->required()
      ->check(not_empty());
  verb.add_flag("--write", o.write, "Change the files; without it, nothing is");
  verb.add_option("--name", o.names,
                  "A word that tells who you are, a login or a project: replaced wherever it "
                  "stands by itself; repeatable")
      ->allow_extra_args(false);
  verb.footer(
      "Shows a diff and a list of what goes: keys and tokens (patterns of gitleaks and ours), user "
      "names in paths, prompts and listings, host names, e-mail addresses, build folders, caches, "
      "programs, dumps, files of credentials. Of what goes only the first characters are printed, "
      "so that the diff cannot be applied.\n"
      "In C++ only comments and literals are changed, and only where the code around them stays "
      "the same. Links are not followed. Binary files are searched for keys and not changed. What "
      "only you can do (a name in code, a .git folder, a file that cannot be read) is listed as "
      "left to you. No pattern knows every key: read the folder before you publish it.\n"
      "Exit code 0 when nothing is left to remove, 1 when something is, so that CI can hold a "
      "folder clean.\n"
      "Example: ./gauntlet " +
      example);
}

void add_cache(CLI::App& app, CacheOptions& o) {
  const std::string example = "cache prune --older-than 30d --write";
  CLI::App& verb = add_verb(app, "cache", "What is kept, why a grade is stale, and room", example);
  verb.add_option("what", o.what,
                  "explain: which field of a cell's key changed since it was graded, and what has "
                  "to be made again; prune: remove compiled programs; nothing: what there is");
  verb.add_option("model", o.submission, "Of explain: name or folder");
  verb.add_option("challenge", o.challenge, "Of explain: challenge, or ID.SIZE for another size");
  verb.add_option("--older-than", o.older_than,
                  "Of prune: what was not used for so long, 90m, 12h or 30d")
      ->check(not_empty());
  verb.add_option("--max-size", o.max_size,
                  "Of prune: the longest unused, until no more than this is left, 500M or 2G")
      ->check(not_empty());
  verb.add_flag("--write", o.write, "Of prune: remove it; without it, nothing is");
  verb.footer(
      "Compiled solutions are kept by the digest of all that they are made of, and observations, "
      "scores and reports follow from each other in the same way. Nothing is graded again while no "
      "field of its key changes: './gauntlet cache explain MODEL ID' shows the fields.\n"
      "prune never touches results, nor what a gauntlet that runs may be using. What nothing can "
      "use any more (another key format, leftovers of killed runs) goes in any case.\n"
      "Example: ./gauntlet " +
      example);
}

void add_other_verbs(CLI::App& app, CommandLineOptions& o) {
  CLI::App& list =
      add_verb(app, "list", "List challenges, checks or submissions", "list checks -c CHALLENGE");
  list.add_option("what", o.list.what, "challenges, checks or submissions");
  list.add_option("-c,--challenge", o.list.challenge, "Checks of this challenge");
  add_device(list, o.list.device, "Checks asked on this device: cpu or cuda (default: cpu)");

  CLI::App& fresh = add_verb(app, "new", "Make the folder of a new submission", "new my-model");
  fresh.add_option("model", o.fresh.model, "Name of the submission")->required();
  fresh.add_option("-c,--challenge", o.fresh.challenges, "Only this challenge; repeatable")
      ->allow_extra_args(false);
  add_device(fresh, o.fresh.devices,
             "What the model writes for: cpu or cuda (default: cpu); repeatable, for a folder "
             "ID@cuda beside ID");

  CLI::App& out = add_verb(app, "export", "Write challenges as tasks that agents are run on",
                           "export harbor FOLDER -c CHALLENGE --with-solutions");
  out.add_option("format", o.export_tasks.format,
                 "harbor: tasks of harborframework.com, which inspect_ai, verifiers and NeMo Gym "
                 "run as well")
      ->required();
  out.add_option("folder", o.export_tasks.folder, "Folder that gets a folder for each task")
      ->required()
      ->check(not_empty());
  out.add_option("-c,--challenge", o.export_tasks.challenges,
                 "Only this challenge, or ID.SIZE for another size; repeatable")
      ->allow_extra_args(false);
  out.add_flag(
      "--with-solutions", o.export_tasks.solutions,
      "Add the references, which Harbor's oracle hands in; keep such an export from agents");
  out.add_flag("!--no-speed", o.export_tasks.speed,
               "Verifiers race nothing, as in 'reward --no-speed': for many trials at once");
  out.add_option("--image", o.export_tasks.image,
                 "Image with Gauntlet, which the verifiers' images are built from (default: "
                 "gauntlet:VERSION)")
      ->check(not_empty());
  out.add_option("--program", o.export_tasks.program, "Where Gauntlet is in that image")
      ->capture_default_str();
  out.add_option("--agent-timeout", o.export_tasks.agent_seconds, "Seconds that an agent may work")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  out.footer(
      "An agent's container has the compiler and the contract; its verifier runs in another, which "
      "no agent has been in, and writes /logs/verifier/reward.json: the score and each section's, "
      "from 0 to 1. With --allow-weaker-sandbox verifiers say so too, for containers that leave a "
      "wall out.\n"
      "Example: ./gauntlet export harbor FOLDER -c CHALLENGE --with-solutions");

  add_verb(app, "score", "Apply the rubric to recorded results; runs nothing", "score");

  CLI::App& report = add_verb(app, "report", "Write the reports", "report --check");
  report.add_option("-o,--output", o.report_folder,
                    "Folder of what git keeps: Markdown pages, the main plots, and data/, which "
                    "they are made from (default: reports/)");
  report.add_option("--site", o.report_site,
                    "Folder of everything: the pages, index.html to sort and filter, a page for "
                    "each pair, all plots, aggregate.json, claims.json (default: build/report/)");
  report.add_flag("--check", o.report_check, "Write nothing; exit with 1 when pages are outdated");

  CLI::App& import = add_verb(app, "import", "Take over grades that others published by reading",
                              "import reports/judged/origin.yaml");
  import
      .add_option("file", o.judgement, "YAML of judged grades; they stay apart from measured ones")
      ->required();
  import.add_option("-o,--output", o.report_folder, "Folder of the report (default: reports/)");

  add_sanitize(app, o.sanitize);

  add_cache(app, o.cache);

  CLI::App& compare = add_verb(app, "compare", "Two or more submissions side by side",
                               "compare my-model other-model -c CHALLENGE");
  compare.footer(
      "Several attempts of a submission are compared by their means. Where a name says which "
      "attempt is meant ('my-model#2'), single attempts are compared, and a name that does not is "
      "the first.\nExample: ./gauntlet compare my-model#1 my-model#2 -c CHALLENGE");
  compare.add_option("submission", o.compare.submissions, "Two to six names or folders")
      ->required();
  compare
      .add_option("-c,--challenge", o.compare.challenges,
                  "Also what this challenge's checks say about them; repeatable")
      ->allow_extra_args(false);

  CLI::App& show =
      add_verb(app, "show", "Explain a result or a finding", "show my-model CHALLENGE/CHECK");
  show.add_option("model", o.show.submission, "Submission")->required();
  show.add_option("what", o.show.what,
                  "challenge, challenge.size, either with @cuda, and with /check")
      ->required();

  add_verb(app, "doctor", "Say what works on this machine", "doctor");

  CLI::App& calibrate = add_verb(app, "calibrate", "Count how often races err on this machine",
                                 "calibrate --races 56");
  calibrate
      .add_option("--races", o.calibrate.races,
                  "Races of each of nine kinds, about 2 s each: a program against itself and one "
                  "5 % or 20 % slower; alone, and beside one that computes or streams memory")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  calibrate.add_flag("--itself", o.calibrate.itself, "Only programs against themselves: 3 kinds");

  CLI::App& completion =
      add_verb(app, "completion", "Print a script by which a shell completes command lines",
               "completion bash > ~/.local/share/bash-completion/completions/gauntlet");
  completion.add_option("shell", o.shell, "bash, zsh or fish")->required();

  CLI::App& help =
      add_verb(app, "help", "Explain a verb, exit codes or where files are", "help exit-codes");
  help.add_option("topic", o.help, "A verb, exit-codes, files, environment or man-page");
}

}  // namespace

void add_verbs(CLI::App& app, CommandLineOptions& options) {
  add_grading_verbs(app, options);
  add_other_verbs(app, options);
}

}  // namespace gauntlet
