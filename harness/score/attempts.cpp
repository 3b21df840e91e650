// SPDX-License-Identifier: Apache-2.0
#include "harness/score/attempts.h"

#include <algorithm>
#include <cmath>

#include "harness/score/pass_at_k.h"

namespace gauntlet {
namespace {

/// One attempt's score at something.
struct Attempt {
  int number = 1;
  Interval score;
};

Interval mean_score(const std::vector<Attempt>& attempts) {
  Interval sum;
  for (const Attempt& one : attempts) sum = {sum.low + one.score.low, sum.high + one.score.high};
  const auto count = static_cast<double>(attempts.size());
  return {sum.low / count, sum.high / count};
}

std::optional<double> deviation_of(const std::vector<Attempt>& attempts) {
  const Interval mean = mean_score(attempts);
  if (attempts.size() < 2 || mean.low < mean.high) return std::nullopt;
  double squares = 0;
  for (const Attempt& one : attempts)
    squares += (one.score.low - mean.low) * (one.score.low - mean.low);
  return std::sqrt(squares / static_cast<double>(attempts.size() - 1));
}

/// Everything that scores alone say. `attempts`: by number, one or more.
AttemptSummary summary_of(const std::vector<Attempt>& attempts) {
  AttemptSummary summary;
  const auto lower = [](const Attempt& a, const Attempt& b) { return a.score.low < b.score.low; };
  const auto best = std::max_element(attempts.begin(), attempts.end(), lower);
  summary.attempts = static_cast<int>(attempts.size());
  summary.mean = mean_score(attempts);
  summary.lowest = std::min_element(attempts.begin(), attempts.end(), lower)->score.low;
  summary.best = best->score;
  summary.best_attempt = best->number;
  summary.deviation = deviation_of(attempts);
  return summary;
}

/// The means of those attempts that took part in every challenge in which any did.
std::vector<Attempt> attempts_everywhere(const Board& board, const std::string& submission) {
  std::vector<Attempt> attempts;
  for (const auto& row : board.attempts(submission)) {
    const bool everywhere = std::all_of(
        board.challenges().begin(), board.challenges().end(),
        [&](const auto& id) { return !board.find(submission, id) || board.find(row, id); });
    const auto mean = board.mean(row);
    if (everywhere)
      attempts.push_back({CellKey::of(row).attempt, mean ? mean->ends() : Interval{0, 100}});
  }
  return attempts;
}

/// Mean over challenges; only the k that all of them have.
std::vector<PassAtK> mean_pass(const std::vector<AttemptSummary>& challenges) {
  std::vector<PassAtK> means = challenges.front().pass;
  for (const AttemptSummary& one : challenges)
    if (one.pass.size() < means.size()) means.resize(one.pass.size());
  for (std::size_t i = 0; i < means.size(); ++i) {
    Interval sum;
    for (const AttemptSummary& one : challenges)
      sum = {sum.low + one.pass[i].chance.low, sum.high + one.pass[i].chance.high};
    const auto count = static_cast<double>(challenges.size());
    means[i].chance = {sum.low / count, sum.high / count};
  }
  return means;
}

Json summary_json(const AttemptSummary& summary) {
  Json json{{"attempts", summary.attempts},
            {"mean", json_number(summary.mean.low)},
            {"high", json_number(summary.mean.high)},
            {"cells", summary.cells},
            {"passed", summary.passed},
            {"may_pass", summary.may_pass}};
  if (summary.best_attempt > 0) {
    json["lowest"] = json_number(summary.lowest);
    json["best"] = json_number(summary.best.low);
    json["best_high"] = json_number(summary.best.high);
    json["best_attempt"] = summary.best_attempt;
  }
  if (summary.deviation) json["standard_deviation"] = json_number(*summary.deviation);
  json["pass_at"] = Json::array();
  for (const PassAtK& one : summary.pass)
    json["pass_at"].push_back({{"k", one.k},
                               {"chance", json_number(one.chance.low)},
                               {"high", json_number(one.chance.high)}});
  return json;
}

}  // namespace

std::optional<AttemptSummary> attempts_in(const Board& board, const std::string& submission,
                                          const std::string& challenge) {
  std::vector<Attempt> attempts;
  int passed = 0;
  int may_pass = 0;
  for (const auto& row : board.attempts(submission)) {
    const BoardCell* cell = board.find(row, challenge);
    if (!cell) continue;
    attempts.push_back(
        {cell->score.key.attempt, cell->score.score ? cell->score.ends() : Interval{0, 100}});
    passed += cell->score.passed ? 1 : 0;
    may_pass += cell->score.may_pass ? 1 : 0;
  }
  if (attempts.empty()) return std::nullopt;
  AttemptSummary summary = summary_of(attempts);
  summary.cells = summary.attempts;
  summary.passed = passed;
  summary.may_pass = may_pass;
  for (const int k : printed_k(summary.attempts))
    summary.pass.push_back(
        {k, {pass_at_k(summary.attempts, passed, k), pass_at_k(summary.attempts, may_pass, k)}});
  return summary;
}

std::optional<AttemptSummary> attempts_overall(const Board& board, const std::string& submission) {
  std::vector<AttemptSummary> challenges;
  for (const auto& challenge : board.challenges())
    if (const auto one = attempts_in(board, submission, challenge)) challenges.push_back(*one);
  if (challenges.empty()) return std::nullopt;
  const auto everywhere = attempts_everywhere(board, submission);
  AttemptSummary summary;
  if (!everywhere.empty()) summary = summary_of(everywhere);
  summary.attempts = static_cast<int>(board.attempts(submission).size());
  const auto mean = board.mean(submission);
  summary.mean = mean ? mean->ends() : Interval{0, 100};
  for (const AttemptSummary& one : challenges) {
    summary.cells += one.cells;
    summary.passed += one.passed;
    summary.may_pass += one.may_pass;
  }
  summary.pass = mean_pass(challenges);
  return summary;
}

const AttemptSummary* SubmissionAttempts::find(std::string_view challenge) const {
  for (const auto& [name, summary] : challenges)
    if (name == challenge) return &summary;
  return nullptr;
}

std::vector<SubmissionAttempts> several_attempts(const Board& board) {
  std::vector<SubmissionAttempts> several;
  for (const auto& submission : board.submissions()) {
    if (board.attempts(submission).empty()) continue;
    SubmissionAttempts one{submission, board.attempts(submission), {}, std::nullopt};
    for (const auto* columns : {&board.challenges(), &board.other_sizes()})
      for (const auto& challenge : *columns)
        if (auto summary = attempts_in(board, submission, challenge))
          one.challenges.emplace_back(challenge, *std::move(summary));
    one.overall = attempts_overall(board, submission);
    several.push_back(std::move(one));
  }
  return several;
}

Json to_json(const SubmissionAttempts& attempts) {
  Json json{
      {"submission", attempts.submission}, {"rows", attempts.rows}, {"challenges", Json::array()}};
  for (const auto& [challenge, summary] : attempts.challenges) {
    Json one{{"challenge", challenge}};
    one.update(summary_json(summary));
    json["challenges"].push_back(std::move(one));
  }
  if (attempts.overall) json["overall"] = summary_json(*attempts.overall);
  return json;
}

}  // namespace gauntlet
