// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace gauntlet {

/// What a sentence of a published judgement asserts about the grades beside it.
namespace stated {
using Two = std::array<std::string, 2>;  // model ids

struct TookPart {
  std::string model;
  int challenges = 0;
};
struct OnlyComplete {  // no other model took every challenge
  std::string model;
};
struct Shared {  // challenges that both took
  Two models;
  int challenges = 0;
};
struct Record {  // won-lost-tied of the first, or its points and the other's with half for a tie
  Two models;
  std::string verb;  // "leads", "trails", "is level with"
  std::vector<double> figures;
};
struct Rank {  // by mean, among the models that took every challenge
  std::string model;
  int place = 0;
};
struct Mean {  // nearest to one letter, or between two
  std::string model;
  std::vector<std::string> letters;
};
struct Round {  // mean of the model's grades in it, and its place among all
  std::string model;
  int round = 0;
  std::string letter;
  int place = 0;
};
struct PlaceIn {
  std::string model;
  std::string challenge;
  int place = 0;
};
struct GradeIn {
  std::string model;
  std::string challenge;
  std::string letter;
};
struct NeverDeclines {  // from round to round
  std::string model;
};
struct Range {  // best and worst letter
  std::string model;
  std::vector<std::string> letters;
};
struct NarrowestRange {  // alone, among the models that took every challenge
  std::string model;
};
struct Wins {  // the first has the better grade in each of the challenges
  Two models;
  std::vector<std::string> challenges;
};
struct Count {
  int number = 0;
  std::vector<std::string> items;  // that follow in the document
};
struct Critical {  // a critical fault, with which nobody can win
  std::string model;
  std::string challenge;
};
}  // namespace stated

using Assertion =
    std::variant<stated::TookPart, stated::OnlyComplete, stated::Shared, stated::Record,
                 stated::Rank, stated::Mean, stated::Round, stated::PlaceIn, stated::GradeIn,
                 stated::NeverDeclines, stated::Range, stated::NarrowestRange, stated::Wins,
                 stated::Count, stated::Critical>;

/// Grades that somebody gave without running anything, as they were published: judgements, never
/// measurements. A model's id is the name that its submission would have here.
struct Judgement {
  struct Document {
    std::string id;
    std::string title;
    std::string judge;
    std::string date;
    std::vector<std::string> challenges;  // that it speaks of
  };
  struct Model {
    std::string id;
    std::string name;
  };
  struct Challenge {
    std::string id;  // ours
    std::string name;
    std::string difficulty;
    int round = 0;
  };
  struct Grade {
    std::string challenge;
    std::string model;
    std::string letter;
    std::string place;   // as written: "2nd", "tie", "4th=", or empty
    int number() const;  // 2 for "tie 2nd", 0 when none was given
  };
  struct Score {
    std::string document;
    std::string challenge;
    std::string model;
    double overall = 0;
    std::vector<std::pair<std::string, double>> dimensions;
  };
  struct Winner {
    std::string challenge;
    std::string model;   // empty: nobody
    std::string margin;  // "Narrow"; "Tie" or "Split" when nobody won; may be empty
  };
  struct Pair {
    std::string document;
    stated::Two models;
    std::vector<Winner> winners;
  };
  struct Statement {
    std::string document;
    std::string says;
    Assertion asserts;
  };

  std::string title;
  std::string judged;  // what lay before the judge
  std::vector<Document> documents;
  std::vector<Model> models;
  std::vector<Challenge> challenges;
  std::string grades_document;
  std::vector<Grade> grades;
  std::vector<Score> scores;
  std::vector<Pair> pairs;
  std::vector<Statement> statements;

  const Document& document(const std::string& id) const;
  const std::string& name_of(const std::string& model) const;
  const Challenge& challenge(const std::string& id) const;
  const Grade* find(const std::string& model, const std::string& challenge) const;
};

/// Grade points of a letter, 4.0 for A in steps of a third; nothing for a letter that is none.
std::optional<double> letter_points(std::string_view letter);

/// The letter with the nearest points, or the two that they lie midway between.
std::vector<std::string> nearest_letters(double points);

/// Throws UserError (file, line, key, what was wanted) for a file that is no judgement, contradicts
/// its own lists of models and challenges, or claims that something was executed.
Judgement read_judgement(const std::filesystem::path& file);
Judgement judgement_from_yaml(const std::string& text, const std::string& shown_name);

}  // namespace gauntlet
