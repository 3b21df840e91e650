// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>

#include "harness/cli/exit_codes.h"
#include "harness/cli/report_input.h"
#include "harness/cli/verbs.h"
#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/report/terminal/terminal_compare.h"
#include "harness/run/submissions.h"
#include "harness/store/reuse.h"

namespace gauntlet {
namespace {

constexpr std::size_t kMost = 6;  // columns that a reader can still compare

/// "submissions/alpha/" is alpha.
std::string name_in(const std::string& word) {
  std::filesystem::path path(word);
  if (path.filename().empty()) path = path.parent_path();
  return path.filename().string();
}

/// Single attempts are compared where a word names one, all attempts together elsewhere.
Attempts attempts_named(const std::vector<std::string>& words) {
  const bool single = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word.find('#') != std::string::npos;
  });
  return single ? Attempts::apart : Attempts::together;
}

/// Local results, and those that the reports were made from where there are none.
class Results {
 public:
  Results(const Context& context, Attempts attempts)
      : attempts_(attempts),
        local_(context.store()),
        published_(published_cells(context)),
        published_cards_(report_data(context.workspace / "reports").cards()) {}

  /// What can be compared with one another.
  std::vector<std::string> submissions() const {
    std::vector<std::string> names;
    const auto add = [&](const CellKey& key) {
      if (!contains(names, row(key))) names.push_back(row(key));
    };
    for (const auto& key : local_.keys()) add(key);
    for (const auto& cell : published_) add(cell.key);
    return names;
  }

  void add(const std::string& submission, ReportInput& input) const {
    const auto local =
        load_all_marked(local_, [&](const CellKey& key) { return row(key) == submission; });
    for (const auto* cells : {&local, &published_})
      for (const auto& cell : *cells)
        if (row(cell.key) == submission && !has(input, cell)) {
          input.cells.push_back(cell);
          add_card(cell.key, input);
        }
  }

 private:
  std::string row(const CellKey& key) const {
    return attempts_ == Attempts::together ? key.submission_row() : key.row();
  }

  void add_card(const CellKey& key, ReportInput& input) const {
    if (input.cards.contains(key.generation())) return;
    if (auto card = local_.load_model_card(key))
      input.cards.emplace(key.generation(), *std::move(card));
    else if (const auto known = published_cards_.find(key.generation());
             known != published_cards_.end())
      input.cards.insert(*known);
  }

  static bool has(const ReportInput& input, const CellObservation& wanted) {
    return std::any_of(input.cells.begin(), input.cells.end(),
                       [&](const CellObservation& cell) { return cell.key == wanted.key; });
  }

  Attempts attempts_;
  ResultStore local_;
  std::vector<CellObservation> published_;
  std::map<std::string, ModelCard> published_cards_;
};

std::vector<std::string> named_submissions(const Results& results,
                                           const std::vector<std::string>& words) {
  const auto known = results.submissions();
  std::vector<std::string> names;
  for (const auto& word : words) {
    const std::string name = CellKey::of(name_in(word)).row();
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw UserError(
          fmt::format("no result of '{}'{}; there are results of {}", printable(name, 80),
                      did_you_mean(name, known), sentence_list(known)),
          kExitNothingMatched);
    if (is_reference_row(name))
      throw UserError(
          "the reference takes no part in comparisons: speeds are relative to it already");
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  for (const auto& name : names)
    if (CellKey::of(name).device != CellKey::of(names.front()).device)
      throw UserError(fmt::format("{} and {} ran on different devices, which are never compared",
                                  names.front(), name));
  if (names.size() < 2) throw UserError("compare needs two different submissions");
  if (names.size() > kMost)
    throw UserError(
        fmt::format("compare shows {} submissions at most; ./gauntlet report has all", kMost));
  return names;
}

std::string criteria_of(const Context& context, const Aggregate& all,
                        const std::vector<std::string>& challenges) {
  std::string text;
  for (const auto& challenge : challenges)
    for (const auto& pair : all.pairs)
      text += terminal_criteria(all, pair, challenge, context.style);
  return text;
}

}  // namespace

VerbResult compare(const Context& context, const CompareOptions& options) {
  const auto known = context.challenges();
  for (const auto& challenge : options.challenges) require_challenge(challenge, known);
  ReportInput input = report_frame(context);
  input.attempts = attempts_named(options.submissions);
  const Results results(context, input.attempts);
  for (const auto& name : named_submissions(results, options.submissions)) results.add(name, input);
  const Aggregate all = aggregate(input);
  VerbResult answer;
  answer.document = document(all);
  answer.document["schema"] = "gauntlet.compare/1";
  for (const char* key : {"differentiators", "failed_by_all", "passed_by_all", "picks", "ledger"})
    answer.document.erase(key);
  answer.text = terminal_comparison(all, context.style);
  answer.text += options.challenges.empty()
                     ? fmt::format("\nCheck by check: ./gauntlet compare {} {} -c CHALLENGE\n",
                                   all.submissions[0].name, all.submissions[1].name)
                     : criteria_of(context, all, options.challenges);
  return answer;
}

}  // namespace gauntlet
