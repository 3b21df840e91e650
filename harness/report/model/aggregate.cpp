// SPDX-License-Identifier: Apache-2.0
#include "harness/report/model/aggregate.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <tuple>

#include "harness/core/cell_key.h"
#include "harness/core/error.h"
#include "harness/score/machine_kind.h"

namespace gauntlet {
namespace {

// Of a check's points: what is nearer than this is no difference.
constexpr double kShareStep = 0.01;

ReportedCell reported(const Rubric& rubric, const Board& board, const CellObservation& cell) {
  const BoardCell& scored = *board.find(cell.key);
  ReportedCell result;
  result.score = scored.score;
  result.row = cell.key.row();
  result.column = cell.key.column();
  result.place = scored.placement;
  result.seed = cell.seed;
  result.build = cell.build;
  result.provenance = cell.provenance;
  for (const auto& check : cell.checks) {
    ReportedCheck one{check, earned_share(rubric, check), 0, machine_kind(cell.provenance)};
    if (one.share && *one.share < 1) one.lost = points_lost(rubric, cell, check.info.id);
    if (check.verdict == Verdict::passed) ++result.passed;
    if (blames_submission(check.verdict)) ++result.failed;
    result.index.emplace(check.info.id, result.checks.size());
    result.checks.push_back(std::move(one));
  }
  result.stated_claims = judge_claims(cell);
  result.claims_fault = cell.claims_fault;
  return result;
}

ChallengeTitle title_of(const ReportInput& input, const std::string& name) {
  const CellKey column = CellKey::of("", name);
  for (const auto& challenge : input.challenges) {
    if (challenge.id != column.challenge) continue;
    ChallengeTitle title = challenge;
    if (!column.is_standard()) title.title = fmt::format("{}, {}", challenge.title, column.size);
    return title;
  }
  return {name, name, "unknown", 0, ""};
}

/// Checks in the order in which the cells were asked them, whoever was asked more.
std::vector<CheckInfo> checks_of(const std::vector<ReportedCell>& cells, const std::string& name) {
  std::vector<CheckInfo> checks;
  for (const auto& cell : cells) {
    if (cell.challenge() != name) continue;
    auto next = checks.begin();
    for (const auto& check : cell.checks) {
      const auto known = std::find_if(checks.begin(), checks.end(), [&](const CheckInfo& info) {
        return info.id == check.seen.info.id;
      });
      next = std::next(known == checks.end() ? checks.insert(next, check.seen.info) : known);
    }
  }
  return checks;
}

std::set<std::string> earned_by_all(const std::vector<ReportedCell>& cells,
                                    const std::string& name) {
  std::set<std::string> earned;
  std::set<std::string> short_of;
  for (const auto& cell : cells)
    if (cell.challenge() == name)
      for (const auto& check : cell.checks)
        (check.share.value_or(0) < 1 ? short_of : earned).insert(check.seen.info.id);
  for (const auto& check : short_of) earned.erase(check);
  return earned;
}

void add_challenges(const ReportInput& input, const Board& board, Aggregate& result) {
  for (const auto* names : {&board.challenges(), &board.other_sizes()})
    for (const auto& name : *names)
      result.challenges.push_back({name, title_of(input, name), names == &board.challenges(),
                                   checks_of(result.cells, name),
                                   earned_by_all(result.cells, name)});
}

std::vector<int> rounds_of(const ReportInput& input, const Board& board) {
  std::vector<int> rounds;
  for (const auto& name : board.challenges()) rounds.push_back(title_of(input, name).round);
  return rounds;
}

void add_submissions(const ReportInput& input, const Board& board, Aggregate& result) {
  const auto ranking = rank_submissions(input.rubric, board);
  const auto sections = profiles(board);
  const auto rounds = rounds_of(input, board);
  for (std::size_t i = 0; i < board.submissions().size(); ++i) {
    ReportedSubmission one;
    one.name = board.submissions()[i];
    const auto card = input.cards.find(CellKey::of(one.name).generation());
    if (card != input.cards.end()) one.card = card->second;
    one.mean = board.mean(one.name);
    for (const Ranked& ranked : ranking)
      if (ranked.submission == one.name) one.ranked = ranked;
    one.rounds = trajectory(board, one.name, rounds);
    one.shape = shape_of(input.rubric, one.rounds);
    one.sections = sections[i];
    result.submissions.push_back(std::move(one));
  }
}

void count_edges(const Rubric& rubric, const ReportedCell& a, const ReportedCell& b, PairRow& row) {
  for (std::size_t i = 0; i < a.checks.size(); ++i) {
    const ReportedCheck* other = b.find(a.checks[i].seen.info.id, i);
    const auto side = other ? edge(rubric, a.checks[i], *other) : std::nullopt;
    if (!side) continue;
    ++(*side > 0 ? row.edges_first : *side < 0 ? row.edges_second : row.edges_none);
  }
}

PairRow pair_row(const Aggregate& result, const Board& board, const ReportedPair& pair,
                 const std::string& challenge) {
  PairRow row;
  row.challenge = challenge;
  row.verdict = board.compare(pair.first, pair.second, challenge);
  const ReportedCell* a = result.find(pair.first, challenge);
  const ReportedCell* b = result.find(pair.second, challenge);
  if (row.verdict.margin != Margin::not_comparable) row.difference = row.verdict.difference;
  if (a && b && comparable(a->score, b->score)) count_edges(result.rubric, *a, *b, row);
  return row;
}

ReportedPair reported_pair(const Aggregate& result, const Board& board,
                           const ReportedSubmission& first, const ReportedSubmission& second) {
  ReportedPair pair{first.name, second.name, {}, std::nullopt, {}, std::nullopt};
  double sum = 0;
  for (const auto& challenge : board.challenges()) {
    pair.rows.push_back(pair_row(result, board, pair, challenge));
    pair.record.count(pair.rows.back().verdict);
    sum += pair.rows.back().difference.value_or(0);
  }
  const int shared = pair.record.won + pair.record.lost + pair.record.tied;
  if (shared > 0) pair.mean_difference = sum / shared;
  if (first.card && second.card)
    pair.unequal_conditions = unequal_conditions(*first.card, *second.card);
  return pair;
}

void add_pairs(const Board& board, Aggregate& result) {
  const auto& all = result.submissions;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = i + 1; j < all.size(); ++j)
      if (!all[i].is_reference() && !all[j].is_reference())
        result.pairs.push_back(reported_pair(result, board, all[i], all[j]));
}

void add_totals(Aggregate& result) {
  std::map<std::string_view, Record*> totals;
  for (auto& submission : result.submissions) totals[submission.name] = &submission.total;
  for (const auto& pair : result.pairs) {
    totals.at(pair.first)->add(pair.record);
    totals.at(pair.second)->add(pair.record.reversed());
  }
}

template <class Items, class Name>
auto& named(Items& items, std::string_view wanted, const Name& name) {
  for (auto& item : items)
    if (name(item) == wanted) return item;
  throw Broken(OwnFault::bug, fmt::format("the aggregate knows no '{}'", wanted));
}

}  // namespace

bool both_timed(const ReportedCheck& first, const ReportedCheck& second) {
  return first.seen.verdict == Verdict::passed && second.seen.verdict == Verdict::passed &&
         !first.seen.speeds.empty() && !second.seen.speeds.empty();
}

int edge(const Rubric& rubric, const ReportedCheck& first, const SpeedMeasurement& own,
         const ReportedCheck& second, const SpeedMeasurement& other) {
  return first.machine == second.machine ? edge(rubric, own, other) : 0;
}

std::optional<int> edge(const Rubric& rubric, const ReportedCheck& first,
                        const ReportedCheck& second) {
  if (!first.share || !second.share) return std::nullopt;
  if (!both_timed(first, second)) {
    const double ahead = *first.share - *second.share;
    return ahead > kShareStep ? 1 : ahead < -kShareStep ? -1 : 0;
  }
  if (first.machine != second.machine) return std::nullopt;
  bool up = false;
  bool down = false;
  for (const auto& own : first.seen.speeds)
    for (const auto& other : second.seen.speeds) {
      if (own.case_name != other.case_name) continue;
      const int side = edge(rubric, own, other);
      up = up || side > 0;
      down = down || side < 0;
    }
  return static_cast<int>(up) - static_cast<int>(down);
}

const ReportedCheck* ReportedCell::find(std::string_view check, std::size_t hint) const {
  if (hint < checks.size() && checks[hint].seen.info.id == check) return &checks[hint];
  const auto found = index.find(check);
  return found == index.end() ? nullptr : &checks[found->second];
}

const AuditRecord* Aggregate::audit(std::string_view challenge) const {
  for (const auto& record : audits)
    if (record.challenge == challenge) return &record;
  return nullptr;
}

const ReportedCell* Aggregate::find(std::string_view submission, std::string_view challenge) const {
  const std::tuple wanted(submission, challenge);
  const auto key = [](const ReportedCell& cell) {
    return std::tuple<std::string_view, std::string_view>(cell.submission(), cell.challenge());
  };
  const auto found = std::lower_bound(
      cells.begin(), cells.end(), wanted,
      [&](const ReportedCell& cell, const auto& name) { return key(cell) < name; });
  return found == cells.end() || key(*found) != wanted ? nullptr : &*found;
}

const ReportedChallenge& Aggregate::challenge(std::string_view name) const {
  return named(challenges, name, [](const auto& one) { return one.name; });
}

const ReportedSubmission& Aggregate::submission(std::string_view name) const {
  return named(submissions, name, [](const auto& one) { return one.name; });
}

std::vector<std::string> Aggregate::standard_challenges() const {
  std::vector<std::string> names;
  for (const auto& challenge : challenges)
    if (challenge.standard) names.push_back(challenge.name);
  return names;
}

Aggregate aggregate(const ReportInput& any_order) {
  ReportInput input = any_order;
  std::sort(input.cells.begin(), input.cells.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.key.row(), a.key.column()) < std::tuple(b.key.row(), b.key.column());
  });
  std::vector<std::string> ids;
  for (const auto& challenge : input.challenges) ids.push_back(challenge.id);
  const Board board(input.rubric, input.cells, ids);
  Aggregate result;
  result.rubric = input.rubric;
  result.ledger = input.ledger;
  result.audits = input.audits;
  std::sort(result.audits.begin(), result.audits.end(),
            [](const auto& a, const auto& b) { return a.challenge < b.challenge; });
  result.judged = !input.judgements.empty();
  for (const auto& cell : input.cells) result.cells.push_back(reported(input.rubric, board, cell));
  add_challenges(input, board, result);
  add_submissions(input, board, result);
  add_pairs(board, result);
  add_totals(result);
  result.survey = survey_checks(input.rubric, board, input.cells);
  result.picks = pick(input.rubric, input.needs, board, input.cells, rounds_of(input, board));
  return result;
}

}  // namespace gauntlet
