// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/wild_text.h"

#include <fmt/format.h>

#include "harness/core/files.h"
#include "harness/core/text.h"

namespace gauntlet {
namespace {

namespace fs = std::filesystem;
using Fate = WildRow::Fate;

std::string_view word_for(Fate fate) {
  switch (fate) {
    case Fate::killed_by_two:
      return "killed";
    case Fate::killed_by_one:
      return "one check";
    case Fate::survives:
      return "survives";
    case Fate::equivalent:
      return "equivalent";
  }
  return "";
}

Paint paint_for(Fate fate) {
  if (fate == Fate::killed_by_two) return Paint::good;
  if (fate == Fate::killed_by_one) return Paint::fair;
  return fate == Fate::survives ? Paint::bad : Paint::dim;
}

/// "graders/ID/honest/two_pass.cpp", "reference/ID/solution.cpp".
fs::path source_of(const WildFrame& frame, const WildMutant& mutant) {
  const fs::path file = mutant.file;
  const std::string folder = file.parent_path();
  return folder == "reference" ? fs::path(folder) / frame.challenge / file.filename()
                               : fs::path("graders") / frame.challenge / file;
}

bool whole(const WildReport& report) {
  return std::ssize(report.rows) == report.to_grade;
}

}  // namespace

fs::path wild_folder(const WildFrame& frame, const WildMutant& mutant) {
  std::string name =
      fmt::format("{}-{}-{}", fs::path(mutant.file).stem().string(), mutant.site.line, mutant.rule);
  if (mutant.site.place > 1) name += fmt::format("-{}", mutant.site.place);
  return frame.cache / "wild" / name / frame.challenge;
}

void keep_wild(const WildFrame& frame, const WildMutant& mutant) {
  const fs::path folder = wild_folder(frame, mutant);
  fs::remove_all(folder);
  for (const SolutionSource::File& file : mutant.solution.files)
    write_file(folder / file.name, file.content);
}

std::string wild_row_text(const WildFrame& frame, const WildRow& row, const TerminalStyle& style) {
  const WildMutant& mutant = row.mutant;
  const std::string source = source_of(frame, mutant).string();
  std::string text = fmt::format(
      "  {} {}:{} {}", painted(style, paint_for(row.fate()), std::string(word_for(row.fate()))),
      source, mutant.site.line, mutant.rule);
  if (mutant.site.place > 1) text += fmt::format(", place {}", mutant.site.place);
  if (!row.killers.empty()) text += ", killed by " + sentence_list(row.killers);
  if (row.hung) text += ", some of which waited in vain for its end";
  text += fmt::format("\n    - {}\n    + {}\n", printable(mutant.site.before, 500),
                      printable(mutant.site.after, 500));
  if (!row.equivalent.empty()) text += fmt::format("    {}\n", row.equivalent);
  if (row.fate() != Fate::survives && row.fate() != Fate::killed_by_one) return text;
  const fs::path kept = wild_folder(frame, mutant) / mutant.part;
  text += fmt::format("    see it:    diff -u {} {}\n", source,
                      kept.lexically_proximate(frame.root).string());
  text += fmt::format("    ask again: ./gauntlet audit -c {} --wild 1 --seed {} --only {}\n",
                      frame.challenge, frame.seed.text(), mutant.name());
  return text;
}

std::string wild_summary(const WildFrame& frame, const WildReport& report) {
  std::string text = frame.challenge + ": ";
  if (!whole(report)) text += fmt::format("PARTIAL, {} of ", report.rows.size());
  text += fmt::format(
      "{} wild mutants graded: {} killed by two checks, {} by one, {} survived, {} cannot be "
      "noticed; ",
      report.to_grade, report.count(Fate::killed_by_two), report.count(Fate::killed_by_one),
      report.count(Fate::survives), report.count(Fate::equivalent));
  if (report.waiting > 0)
    text +=
        fmt::format("{} ran out of time and are still to be asked again alone; ", report.waiting);
  if (const int again = report.asked_again - report.waiting; again > 0)
    text += fmt::format(
        "{} ran out of time and were asked again alone, and {} of them did not end then either; ",
        again, report.count_hung());
  return text + fmt::format("of {} drawn {} did not compile and {} were the same code (seed {})\n",
                            report.drawn, report.not_built, report.same_code, frame.seed.text());
}

Json wild_document(const WildFrame& frame, const WildReport& report) {
  Json document{{"challenge", frame.challenge},
                {"seed", frame.seed.text()},
                {"partial", !whole(report)},
                {"ok", whole(report) && report.ok()},
                {"drawn", report.drawn},
                {"not_built", report.not_built},
                {"same_code", report.same_code},
                {"to_grade", report.to_grade},
                {"graded", report.rows.size()},
                {"killed_by_two", report.count(Fate::killed_by_two)},
                {"killed_by_one", report.count(Fate::killed_by_one)},
                {"survived", report.count(Fate::survives)},
                {"equivalent", report.count(Fate::equivalent)},
                {"asked_again", report.asked_again},
                {"waiting", report.waiting},
                {"hung", report.count_hung()},
                {"problems", report.problems},
                {"mutants", Json::array()}};
  for (const WildRow& row : report.rows)
    document["mutants"].push_back({{"name", row.mutant.name()},
                                   {"file", row.mutant.file},
                                   {"line", row.mutant.site.line},
                                   {"rule", row.mutant.rule},
                                   {"before", row.mutant.site.before},
                                   {"after", row.mutant.site.after},
                                   {"place", row.mutant.site.place},
                                   {"variant", row.mutant.variant},
                                   {"fate", word_for(row.fate())},
                                   {"killers", row.killers},
                                   {"hung", row.hung},
                                   {"reason", row.equivalent}});
  return document;
}

}  // namespace gauntlet
