// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>

#include "harness/cli/exit_codes.h"
#include "harness/cli/progress.h"
#include "harness/cli/verbs.h"
#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/text.h"
#include "harness/store/observation_json.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

Json share(double points) {
  return json_number(points / 100);
}

/// Without races, the checks that wanted one are not part of what is rewarded. Returns their ids.
/// Only those: who could bring about that another check is not measured would be rid of it.
std::vector<std::string> leave_races_out(CellObservation& cell) {
  std::vector<std::string> ids;
  std::erase_if(cell.checks, [&](const CheckObservation& check) {
    const bool raced = check.verdict == Verdict::unmeasured && check.finding &&
                       (check.finding->summary == kNotRaced || check.finding->summary == kNoGpu);
    if (raced) ids.push_back(check.info.id);
    return raced;
  });
  return ids;
}

Json failures_of(const CellObservation& cell) {
  Json failures = Json::array();
  for (const CheckObservation& check : cell.checks)
    if (blames_submission(check.verdict))
      failures.push_back({{"check", check.info.id},
                          {"verdict", name_of(check.verdict)},
                          {"severity", name_of(check.info.severity)},
                          {"summary", check.finding ? one_line(check.finding->summary) : ""}});
  return failures;
}

Json document_of(const CellObservation& cell, const CellScore& score,
                 const std::vector<std::string>& left_out) {
  Json document{{"schema", "gauntlet.reward/1"}};
  put_cell_key(document, cell.key);
  document["status"] = name_of(score.status);
  document["built"] = cell.build.ok;
  document["reward"] = score.score ? share(*score.score) : Json();
  document["high"] = score.score ? share(score.ends().high) : Json();
  document["sections"] = Json::object();
  for (const SectionScore& section : score.sections)
    document["sections"][std::string(name_of(section.section))] = {{"reward", share(section.score)},
                                                                   {"high", share(section.high)}};
  document["failures"] = failures_of(cell);
  document["not_measured"] = Json(score.not_measured);
  document["left_out"] = Json(left_out);
  document["seed"] = cell.seed.text();
  document["grader"] = cell.provenance.grader_digest;
  return document;
}

std::string in_words(const Json& document, const CellScore& score) {
  if (!score.score) return fmt::format("no reward: {}\n", sentence_list(score.reasons));
  std::string text = fmt::format("{:.4f}", *score.score / 100);
  if (score.open()) text += fmt::format(" to {:.4f}", score.ends().high / 100);
  for (const Json& failure : document["failures"])
    text += fmt::format("\n  {} {}: {}", failure["verdict"].get<std::string>(),
                        failure["check"].get<std::string>(), failure["summary"].get<std::string>());
  return text + "\n";
}

/// What Harbor reads: numbers only, the one that counts by this name, and the same ones for each
/// submission. Where nothing was asked, as where nothing was built, sections are worth nothing.
Json harbor_rewards(const Json& document, const CellKey& key) {
  Json rewards{{"reward", document["reward"]}};
  for (const auto& [section, share] : document["sections"].items())
    rewards[section] = share["reward"];
  const auto left_out = document["left_out"].get<std::vector<std::string>>();
  for (const CheckInfo& check : checks_of(key.challenge, key.device))
    if (const std::string section(name_of(check.section));
        !contains(left_out, check.id) && !rewards.contains(section))
      rewards[section] = 0;
  return rewards;
}

void write_for_harbor(const fs::path& folder, const Json& document, const CellKey& key) {
  write_file(folder / "reward-details.json", json_text(document));
  write_file(folder / "reward.json", json_text(harbor_rewards(document, key)));
}

/// A submission that breaks the rules is worth nothing.
void write_rejection(const fs::path& folder, const CellKey& key, const std::string& why) {
  Json document{{"schema", "gauntlet.reward/1"}};
  put_cell_key(document, key);
  document["status"] = name_of(Verdict::rejected);
  document["reward"] = 0;
  document["sections"] = Json::object();
  document["failures"] = Json::array({{{"verdict", name_of(Verdict::rejected)},
                                       {"severity", name_of(Severity::fatal)},
                                       {"summary", one_line(why)}}});
  document["left_out"] = Json::array();
  write_for_harbor(folder, document, key);
}

/// The cell that is asked for. Throws UserError where there is none.
CellRequest request_of(const Context& context, const RewardOptions& options) {
  const SubmissionFolder submission = find_submission(context.folders(), options.submission);
  const CellKey key = cell_named(submission, options.challenge, context.challenges());
  try {
    return plan_cell(context.plan_terms(true), submission, key).request;
  } catch (const UserError& error) {
    const bool is_bad = error.exit_code == kExitInvalidSubmission ||
                        error.exit_code == kExitNothingMatched;  // it is for another device
    if (is_bad && !options.harbor.empty()) write_rejection(options.harbor, key, error.what());
    throw;
  }
}

}  // namespace

VerbResult reward(const Context& context, const RewardOptions& options) {
  CellRequest request = request_of(context, options);
  request.grade_tests = false;
  request.races = options.speed;
  // Of thousands of attempts nothing is left: their libraries go with the run. Races keep the
  // reference's, which would be compiled each time.
  GradingEnvironment environment = context.environment;
  const ScratchFolder scratch("reward");
  if (!options.speed) environment.cache = scratch.path();
  ProgressDisplay display(*context.err, context.live, context.quiet, 1);
  LocalRunner runner(environment, 1);
  CellObservation cell =
      runner.grade({request}, [&](const CellEvent& event) { display.show(event); }).front();
  if (!options.harbor.empty()) write_file(options.harbor / "observation.json", to_json(cell));
  std::vector<std::string> left_out;
  if (!options.speed) left_out = leave_races_out(cell);
  const CellScore score = score_cell(context.rubric(), cell);
  VerbResult answer;
  answer.document = document_of(cell, score, left_out);
  answer.one_line = true;
  answer.text = in_words(answer.document, score);
  if (!score.score || score.broken > 0) answer.exit_code = kExitIncomplete;
  if (!options.harbor.empty() && answer.exit_code == kExitDone)
    write_for_harbor(options.harbor, answer.document, cell.key);
  return answer;
}

}  // namespace gauntlet
