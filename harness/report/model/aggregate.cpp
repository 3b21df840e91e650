// SPDX-License-Identifier: Apache-2.0
#include "harness/report/model/aggregate.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <tuple>

#include "harness/core/cell_key.h"
#include "harness/core/error.h"
#include "harness/score/column_records.h"
#include "harness/score/machine_kind.h"

namespace gauntlet {
namespace {

// Of a check's points: what is nearer than this is no difference.
constexpr double kShareStep = 0.01;

// Of more, nobody reads a list; what each of them would say, ./gauntlet compare does.
constexpr std::size_t kMostPairs = 2000;

ReportedCell reported(const Rubric& rubric, const Board& board, const CellObservation& cell) {
  const BoardCell& scored = *board.find(cell.key);
  ReportedCell result;
  result.score = scored.score;
  result.row = board.row(cell.key);
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

std::optional<ModelCard> card_of(const ReportInput& input, const std::string& row) {
  const auto card = input.cards.find(CellKey::of(row).generation());
  return card == input.cards.end() ? std::nullopt : std::optional(card->second);
}

void add_submissions(const ReportInput& input, const Board& board, Aggregate& result) {
  const auto ranking = rank_submissions(input.rubric, board);
  const auto sections = profiles(board);
  const auto rounds = rounds_of(input, board);
  for (std::size_t i = 0; i < board.submissions().size(); ++i) {
    ReportedSubmission one;
    one.name = board.submissions()[i];
    if (board.attempts(one.name).empty()) one.card = card_of(input, one.name);
    one.mean = board.mean(one.name);
    for (const Ranked& ranked : ranking)
      if (ranked.submission == one.name) one.ranked = ranked;
    one.rounds = trajectory(board, one.name, rounds);
    one.shape = shape_of(input.rubric, one.rounds);
    one.sections = sections[i];
    result.submissions.push_back(std::move(one));
  }
}

/// The single attempts of submissions that made several.
void add_attempts(const ReportInput& input, const Board& board, Aggregate& result) {
  result.attempts = several_attempts(board);
  for (const SubmissionAttempts& several : result.attempts) {
    for (const auto& row : several.rows) {
      ReportedSubmission one;
      one.name = row;
      one.card = card_of(input, row);
      one.mean = board.mean(row);
      result.single.push_back(std::move(one));
    }
    for (const auto& column : several.challenges) {
      const BoardCell& mean = *board.find(several.submission, column.first);
      result.means.push_back({several.submission, column.first, mean.score, mean.placement});
    }
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

/// Of each attempt, where there are several.
std::vector<const std::optional<ModelCard>*> cards_of(const Aggregate& result,
                                                      const ReportedSubmission& submission) {
  const SubmissionAttempts* several = result.attempts_of(submission.name);
  if (!several) return {&submission.card};
  std::vector<const std::optional<ModelCard>*> cards;
  for (const auto& one : result.single)
    if (std::find(several->rows.begin(), several->rows.end(), one.name) != several->rows.end())
      cards.push_back(&one.card);
  return cards;
}

/// In which any attempt of the first differs from any of the second; nothing when a card is
/// missing.
std::optional<std::vector<std::string>> unequal_conditions(const Aggregate& result,
                                                           const ReportedSubmission& first,
                                                           const ReportedSubmission& second) {
  std::vector<std::string> unequal;
  for (const auto* one : cards_of(result, first))
    for (const auto* other : cards_of(result, second)) {
      if (!*one || !*other) return std::nullopt;
      for (const auto& name : unequal_conditions(**one, **other))
        if (std::find(unequal.begin(), unequal.end(), name) == unequal.end())
          unequal.push_back(name);
    }
  return unequal;
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
  pair.unequal_conditions = unequal_conditions(result, first, second);
  return pair;
}

/// The submissions of each device, without the reference.
std::map<Device, std::vector<ReportedSubmission*>> fields_of(Aggregate& result) {
  std::map<Device, std::vector<ReportedSubmission*>> fields;
  for (auto& submission : result.submissions)
    if (!submission.is_reference())
      fields[CellKey::of(submission.name).device].push_back(&submission);
  return fields;
}

void add_pairs(const Board& board, Aggregate& result) {
  const auto fields = fields_of(result);
  std::size_t count = 0;
  for (const auto& [device, field] : fields) count += field.size() * (field.size() - 1) / 2;
  if (count > kMostPairs) {
    result.pairs_not_listed = count;
    return;
  }
  for (const auto& [device, field] : fields)
    for (std::size_t i = 0; i < field.size(); ++i)
      for (std::size_t j = i + 1; j < field.size(); ++j)
        result.pairs.push_back(reported_pair(result, board, *field[i], *field[j]));
}

void add_totals(const Board& board, Aggregate& result) {
  for (const auto& [device, field] : fields_of(result))
    for (const auto& challenge : board.challenges()) {
      std::vector<const CellScore*> column;
      for (const ReportedSubmission* one : field) {
        const BoardCell* cell = board.find(one->name, challenge);
        column.push_back(cell ? &cell->score : nullptr);
      }
      const auto records = column_records(result.rubric, column);
      for (std::size_t i = 0; i < field.size(); ++i) field[i]->total.add(records[i]);
    }
}

void add_contestants(Aggregate& result) {
  for (const auto& row : result.rows()) {
    if (is_reference_row(row)) continue;
    for (const auto& column : result.challenges)
      if (const ReportedCell* cell = result.find(row, column.name))
        result.contestants[{cell->column, cell->score.key.device}].push_back(
            static_cast<std::size_t>(cell - result.cells.data()));
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

const AuditRecord* Aggregate::audit(std::string_view challenge, Device device) const {
  for (const auto& record : audits)
    if (record.challenge == challenge && record.device == device) return &record;
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

std::optional<BoardCell> Aggregate::score(std::string_view row, std::string_view challenge) const {
  if (const ReportedCell* cell = find(row, challenge)) return BoardCell{cell->score, cell->place};
  for (const ReportedMean& mean : means)
    if (mean.row == row && mean.column == challenge) return BoardCell{mean.score, mean.place};
  return std::nullopt;
}

const SubmissionAttempts* Aggregate::attempts_of(std::string_view submission) const {
  for (const SubmissionAttempts& one : attempts)
    if (one.submission == submission) return &one;
  return nullptr;
}

std::vector<std::string> Aggregate::rows() const {
  std::vector<std::string> names;
  for (const auto& submission : submissions) {
    const SubmissionAttempts* several = attempts_of(submission.name);
    if (several)
      names.insert(names.end(), several->rows.begin(), several->rows.end());
    else
      names.push_back(submission.name);
  }
  return names;
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
  const Board board(input.rubric, input.cells, ids, input.attempts);
  Aggregate result;
  result.rubric = input.rubric;
  result.ledger = input.ledger;
  result.audits = input.audits;
  std::sort(result.audits.begin(), result.audits.end(),
            [](const auto& a, const auto& b) { return a.entry() < b.entry(); });
  result.judged = !input.judgements.empty();
  for (const auto& cell : input.cells) result.cells.push_back(reported(input.rubric, board, cell));
  std::sort(result.cells.begin(), result.cells.end(), [](const auto& a, const auto& b) {
    return std::tie(a.row, a.column) < std::tie(b.row, b.column);
  });
  add_challenges(input, board, result);
  add_submissions(input, board, result);
  add_attempts(input, board, result);
  add_pairs(board, result);
  add_totals(board, result);
  add_contestants(result);
  result.survey = survey_checks(input.rubric, board, input.cells);
  result.picks = pick(input.rubric, input.needs, board, input.cells, rounds_of(input, board));
  return result;
}

}  // namespace gauntlet
