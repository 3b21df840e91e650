// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>
#include <re2/re2.h>

#include "harness/core/files.h"
#include "harness/core/names.h"
#include "harness/core/text.h"
#include "harness/store/judgement_names.h"
#include "harness/store/result_store.h"

namespace gauntlet {
namespace {

constexpr std::size_t kMostIds = 100;  // of a kind; every pair of models becomes a page

std::string filled(YamlFields& in, const std::string& key) {
  const std::string value = in.text(key);
  if (value.empty()) in.refuse(key, "is empty; write 'unknown' when nobody knows");
  return value;
}

std::string new_id(YamlFields& in, std::vector<std::string>& ids) {
  const std::string id = in.text("id");
  if (!is_plain_name(id))
    in.refuse("id", fmt::format("'{}' must be lower-case letters, digits, '.', '-' and '_'",
                                printable(id, kShownText)));
  if (std::find(ids.begin(), ids.end(), id) != ids.end())
    in.refuse("id", fmt::format("'{}' is given twice", id));
  if (ids.size() == kMostIds)
    in.refuse("id", fmt::format("is one of more than {}; split the file", kMostIds));
  ids.push_back(id);
  return id;
}

void read_lists(YamlFields& in, Judgement& judgement, JudgementNames& names) {
  for (auto& item : in.list("challenges")) {
    const std::string id = new_id(item, names.challenges);
    judgement.challenges.push_back(
        {id, filled(item, "name"), filled(item, "difficulty"), read_count(item, "round")});
    item.refuse_unknown();
  }
  for (auto& item : in.list("models")) {
    const std::string id = new_id(item, names.models);
    judgement.models.push_back({id, filled(item, "name")});
    item.refuse_unknown();
  }
  for (auto& item : in.list("documents")) {
    const std::string id = new_id(item, names.documents);
    Judgement::Document document{id, filled(item, "title"), filled(item, "judge"),
                                 filled(item, "date"), names.challenges};
    if (item.has("challenges")) document.challenges = names.challenge_list(item);
    item.refuse_unknown();
    judgement.documents.push_back(std::move(document));
  }
}

Judgement::Grade grade(YamlFields& row, const std::string& challenge, const std::string& model) {
  static const RE2 kGrade(
      R"(([A-F][+-]?)(?: \((tie|(?:tie )?[1-9][0-9]{0,2}(?:st|nd|rd|th)=?)\))?)");
  const std::string written = row.text(model);
  std::string letter;
  std::string place;
  if (written.size() > kShownText || !RE2::FullMatch(written, kGrade, &letter, &place))
    row.refuse(model, fmt::format("'{}' is no grade; wanted a letter and, where one was given, the "
                                  "place: 'A- (2nd)', 'B (tie 2nd)', 'B- (4th=)' or 'A (tie)'",
                                  printable(written, kShownText)));
  return {challenge, model, require_letter(row, model, letter), place};
}

void read_grades(YamlFields in, Judgement& judgement, const JudgementNames& names) {
  judgement.grades_document = names.document(in);
  YamlFields rows = in.fields("letters");
  for (const auto& challenge : rows.keys()) {
    require_id(rows, challenge, "challenge", names.challenges, challenge);
    YamlFields row = rows.fields(challenge);
    for (const auto& model : row.keys()) {
      require_id(row, model, "model", names.models, model);
      judgement.grades.push_back(grade(row, challenge, model));
    }
  }
  in.refuse_unknown();
}

Judgement::Score score(YamlFields& in, const JudgementNames& names) {
  Judgement::Score score{
      names.document(in), names.challenge(in), names.model(in), in.number("overall"), {}};
  YamlFields dimensions = in.fields("dimensions");
  for (const auto& name : dimensions.keys())
    score.dimensions.emplace_back(name, dimensions.number(name));
  if (score.dimensions.empty()) in.refuse("dimensions", "must name one dimension or more");
  in.refuse_unknown();
  return score;
}

Judgement::Winner winner(YamlFields& in, const std::string& challenge, const stated::Two& models) {
  static const RE2 kWinner(R"(([^ ]+)(?: \(([A-Za-z ]+)\))?)");
  const std::string written = in.text(challenge);
  if (written == "Tie" || written == "Split") return {challenge, "", written};
  std::string name;
  std::string margin;
  if (written.size() > kShownText || !RE2::FullMatch(written, kWinner, &name, &margin) ||
      (name != models[0] && name != models[1]))
    in.refuse(challenge,
              fmt::format("'{}' is no winner; wanted '{}', '{}', 'Tie' or 'Split', a "
                          "winner with the margin behind it: '{} (Narrow)'",
                          printable(written, kShownText), models[0], models[1], models[0]));
  return {challenge, name, margin};
}

Judgement::Pair pair(YamlFields& in, const JudgementNames& names) {
  Judgement::Pair pair{names.document(in), names.two_models(in), {}};
  YamlFields winners = in.fields("winners");
  for (const auto& challenge : winners.keys()) {
    require_id(winners, challenge, "challenge", names.challenges, challenge);
    pair.winners.push_back(winner(winners, challenge, pair.models));
  }
  in.refuse_unknown();
  return pair;
}

}  // namespace

Judgement read_judgement(const std::filesystem::path& file) {
  return judgement_from_yaml(read_file(file, kJudgementFile), file.string());
}

Judgement judgement_from_yaml(const std::string& text, const std::string& shown_name) {
  YamlFields in = YamlFields::of_text(text, shown_name);
  Judgement judgement;
  JudgementNames names;
  judgement.title = filled(in, "title");
  judgement.judged = filled(in, "judged");
  if (in.truth("executed"))
    in.refuse("executed",
              "must be false: this file is for grades given by reading; solutions that "
              "run are graded with ./gauntlet grade");
  read_lists(in, judgement, names);
  read_grades(in.fields("grades"), judgement, names);
  if (in.has("scores"))
    for (auto& item : in.list("scores")) judgement.scores.push_back(score(item, names));
  if (in.has("pairs"))
    for (auto& item : in.list("pairs")) judgement.pairs.push_back(pair(item, names));
  if (in.has("statements"))
    for (auto& item : in.list("statements")) {
      const std::string document = names.document(item);
      const std::string says = filled(item, "says");
      judgement.statements.push_back({document, says, read_assertion(item, names)});
    }
  in.refuse_unknown();
  return judgement;
}

}  // namespace gauntlet
