// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/cli/context.h"
#include "harness/run/slurm/slurm.h"

namespace gauntlet {

struct ListOptions {
  std::string what = "challenges";  // challenges, checks or submissions
  std::string challenge;            // of which checks; empty: of all
  std::string device = "cpu";       // on which these are asked
};
VerbResult list(const Context& context, const ListOptions& options);

struct NewOptions {
  std::string model;
  std::vector<std::string> challenges;      // empty: all that are graded on the devices
  std::vector<std::string> devices{"cpu"};  // whose prompts the model is given
};
VerbResult new_submission(const Context& context, const NewOptions& options);

VerbResult validate(const Context& context, const std::vector<std::string>& submissions);

struct GradeOptions {
  std::vector<std::string> submissions;  // names or folders
  std::vector<std::string> challenges;   // empty: all that a submission has
  std::string device;                    // empty: all
  bool fresh = false;                    // reuse nothing
  bool timings = false;                  // say where the time went
  std::string fail_under;                // a letter or a number; empty: no gate
  std::string shard;                     // "2/3": that part of the cells; empty: all
  std::string runner = "local";          // or slurm
  SlurmTerms slurm;
};
VerbResult grade(const Context& context, const GradeOptions& options);

struct RewardOptions {
  std::string submission;  // name or folder
  std::string challenge;
  bool speed = true;             // race it
  std::filesystem::path harbor;  // folder that gets what Harbor reads; empty: nothing is written
};
VerbResult reward(const Context& context, const RewardOptions& options);

struct CiOptions {
  std::string base;                     // branch or commit that a change goes to
  std::filesystem::path baseline;       // folder of a report; empty: what `base` has committed
  std::filesystem::path out;            // folder that gets the documents
  std::vector<std::string> challenges;  // empty: all
  std::string min_grade;                // a letter or a number; empty: no gate
  bool no_regression = false;
  bool all = false;                    // every submission, changed or not
  bool fresh = false;                  // reuse nothing
  std::filesystem::path step_summary;  // that the summary is appended to; empty: none
  bool in_github = false;              // a runner of GitHub reads what is printed
};
VerbResult ci(const Context& context, const CiOptions& options);

struct RerunOptions {
  std::string submission;
  std::string challenge;
  std::vector<std::string> checks;  // empty: all, and the result is kept
};
VerbResult rerun(const Context& context, const RerunOptions& options);

struct RunCellOptions {
  std::filesystem::path request;  // a file, see cell_request_json.h
  std::filesystem::path out;      // folder of results that gets the cell
};
VerbResult run_cell_of(const Context& context, const RunCellOptions& options);

struct MergeOptions {
  std::vector<std::filesystem::path> folders;  // of results
  std::filesystem::path into;                  // folder of results that gets their cells
};
VerbResult merge(const Context& context, const MergeOptions& options);

struct VerifyOptions {
  std::string what;        // a receipt's file, or a submission's name or folder
  std::string challenge;   // empty with a file
  std::string commitment;  // that was printed when the run began; empty: nobody kept it
  std::string closing;     // that was printed when it ended; empty: nobody kept it
};
VerbResult verify(const Context& context, const VerifyOptions& options);

VerbResult score(const Context& context);

struct ReportOptions {
  std::filesystem::path folder;  // of what git keeps: pages, main plots, data
  std::filesystem::path site;    // of everything
  bool check = false;            // compare instead of writing
};
VerbResult report(const Context& context, const ReportOptions& options);

struct ImportOptions {
  std::filesystem::path file;
  std::filesystem::path folder;  // of the report
};
VerbResult import_judgement(const Context& context, const ImportOptions& options);

struct SanitizeOptions {
  std::string folder;  // or a submission's name
  bool write = false;
  std::vector<std::string> names;  // to be replaced wherever they are words
};
VerbResult sanitize_folder(const Context& context, const SanitizeOptions& options);

struct CacheOptions {
  std::string what;        // empty: what there is; explain or prune
  std::string submission;  // to be explained
  std::string challenge;
  std::string older_than;  // "30d"; empty: whatever age
  std::string max_size;    // "2G"; empty: whatever size
  bool write = false;      // prune
};
VerbResult cache(const Context& context, const CacheOptions& options);

struct CompareOptions {
  std::vector<std::string> submissions;  // two or more names or folders
  std::vector<std::string> challenges;   // to be looked at check by check
};
VerbResult compare(const Context& context, const CompareOptions& options);

struct ShowOptions {
  std::string submission;
  std::string what;  // "<challenge>" or "<challenge>/<check>"
};
VerbResult show(const Context& context, const ShowOptions& options);

struct AuditOptionsOfUser {
  std::vector<std::string> challenges;  // empty: all that are graded on the device
  std::string device = "cpu";           // whose solutions are tried
  std::optional<int> seeds;             // for honest variants; absent: as mutants.yaml says
  std::optional<int> mutant_seeds;      // absent: 1, and 3 for a named check that missed
  bool brief = false;                   // mutants meet only the checks that they name
  bool fewest = false;                  // the least to see that each check works
  std::optional<int> sample;            // so many mutants, which change with the grader
  bool as_graded = false;               // honest variants meet the bars of submissions
  std::vector<std::string> only;        // mutants and honest variants of one challenge, or programs
                                        // of the sandbox's audit; empty: all
  std::filesystem::path record;         // folder that keeps the outcome; empty: none does
  bool attacks = false;                 // the sandbox is audited instead of the graders
  bool contract = false;                // contracts are traced instead; runs nothing
  std::optional<int> wild;              // so many mutants are made by rules instead
};
VerbResult audit(const Context& context, const AuditOptionsOfUser& options);
VerbResult audit_attacks(const Context& context, const AuditOptionsOfUser& options);
VerbResult audit_contract(const Context& context, const std::vector<std::string>& challenges);

/// Grades as many mutants of each challenge that rules make of its right solutions as the options'
/// `wild` says, or those that `only` names. An interrupt prints what was graded until then.
VerbResult audit_wild_mutants(const Context& context, const std::vector<std::string>& challenges,
                              const AuditOptionsOfUser& options);

struct ExportOptions {
  std::string format;                   // harbor
  std::filesystem::path folder;         // that gets a folder for each task
  std::vector<std::string> challenges;  // ID or ID.SIZE; empty: all
  bool solutions = false;               // the reference goes with it
  bool speed = true;                    // the verifier races
  bool weaker_sandbox = false;          // the verifier may run where a wall is missing
  std::string image;                    // that has Gauntlet; empty: gauntlet:VERSION
  std::string program = "/usr/bin/gauntlet";
  int agent_seconds = 3600;
};
VerbResult export_tasks(const Context& context, const ExportOptions& options);

VerbResult doctor(const Context& context);

struct CalibrateOptions {
  int races = 20;       // of each kind
  bool itself = false;  // only programs against themselves
};
VerbResult calibrate(const Context& context, const CalibrateOptions& options);

}  // namespace gauntlet
