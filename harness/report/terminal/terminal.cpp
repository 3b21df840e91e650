// SPDX-License-Identifier: Apache-2.0
#include "harness/report/terminal/terminal.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/core/text.h"
#include "harness/report/text/phrases.h"
#include "harness/score/judge_claims.h"

namespace gauntlet {
namespace {

constexpr std::size_t kMessageBytes = 2000;
constexpr std::size_t kShownChecks = 4;  // of those that saw the same thing

/// Text from a stranger, in a line with other text.
std::string in_line(std::string_view text) {
  return one_line(text, 400);
}

std::size_t characters(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string indented(const std::string& text, const std::string& indent) {
  std::string result;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    result += indent + text.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return result;
}

Paint paint_of(const CellScore& score) {
  if (!score.score) return Paint::dim;
  if (*score.score < 70) return Paint::bad;
  return score.capped() ? Paint::fair : Paint::good;
}

/// A cell, then how far the attempts lie apart where they are several.
std::string cell_and_spread(const Board& board, const std::string& submission,
                            const std::string& challenge, const Signs& signs) {
  const std::string text = cell_text(board.find(submission, challenge), signs);
  const auto summary = attempts_in(board, submission, challenge);
  return summary ? text + " " + spread_text(*summary, board.attempts(submission).size(), signs)
                 : text;
}

std::string mean_and_spread(const Rubric& rubric, const Board& board, const std::string& submission,
                            const Signs& signs) {
  const std::string text = mean_text(rubric, board.mean(submission), signs);
  const auto summary =
      board.attempts(submission).empty() ? std::nullopt : attempts_overall(board, submission);
  return summary ? text + " " + spread_text(*summary, board.attempts(submission).size(), signs)
                 : text;
}

std::string legend(const std::string& table, bool absent, bool several,
                   const TerminalStyle& style) {
  const Signs& signs = signs_of(style);
  std::vector<std::string> notes;
  const auto note = [&](const std::string& sign, const std::string& meaning) {
    if (table.find(sign) != std::string::npos) notes.push_back(sign + " " + meaning);
  };
  if (absent) notes.push_back(signs.absent + " did not take part");
  note(signs.capped, "capped by a failed check");
  note(signs.partial, "partial, what was not measured counts as failed");
  note(signs.unmeasured, "not measurable here");
  note(signs.broken, "the grader failed, grade again");
  if (several) notes.push_back(fmt::format("lowest{}best#number {}", signs.to, kSpread));
  std::string line;
  for (const auto& one : notes) line += (line.empty() ? "" : "   ") + one;
  if (!line.empty()) line += "\n";
  if (table.find(signs.unproven) != std::string::npos)
    line += fmt::format("{} {}\n", signs.unproven, kUnproven);
  return line;
}

std::string counts(const CellObservation& cell) {
  const auto passed = std::count_if(cell.checks.begin(), cell.checks.end(), [](const auto& check) {
    return check.verdict == Verdict::passed;
  });
  return fmt::format("{} of {} checks passed", passed, cell.checks.size());
}

/// A line for each finding; checks that saw the very same thing share one.
std::string finding_lines(const CellObservation& cell) {
  struct Line {
    Verdict verdict;
    std::string seen;
    std::vector<std::string> checks;
  };
  std::vector<Line> lines;
  for (const auto& check : cell.checks) {
    if (!check.finding) continue;
    const std::string seen = in_line(check.finding->summary);
    auto line = std::find_if(lines.begin(), lines.end(), [&](const Line& other) {
      return other.verdict == check.verdict && other.seen == seen;
    });
    if (line == lines.end()) line = lines.insert(line, {check.verdict, seen, {}});
    line->checks.push_back(fmt::format("{} ({})", check.info.id, name_of(check.info.severity)));
  }
  std::string text;
  for (Line& line : lines) {
    const std::size_t more =
        line.checks.size() > kShownChecks ? line.checks.size() - kShownChecks : 0;
    if (more > 0) line.checks.resize(kShownChecks);
    if (more > 0) line.checks.push_back(fmt::format("{} more", more));
    text += fmt::format("  {:<11} {}: {}\n", name_of(line.verdict), sentence_list(line.checks),
                        line.seen);
  }
  return text;
}

std::string build_failure(const CellObservation& cell) {
  if (cell.build.ok) return "";
  return "  BUILD FAILED\n" + indented(printable(cell.build.messages, kMessageBytes), "    ");
}

std::string cost(const Rubric& rubric, const CellScore& score, const CheckObservation& check) {
  const Severity severity =
      check.verdict == Verdict::cheated ? Severity::fatal : check.info.severity;
  const double cap = rubric.cap_of(severity);
  std::string text = fmt::format("{}, weight {:g} of section {}", name_of(check.info.severity),
                                 check.info.weight, name_of(check.info.section));
  if (blames_submission(check.verdict) && cap < 100)
    text += fmt::format("; failing it caps the score at {}", points(cap));
  const double without = score_without_cap(score, check.info.id);
  if (score.score && without > *score.score) {
    const Grade grade = grade_of(rubric, {without, without});
    text += fmt::format("\n  Would score {} ({}) without this cap.", grade.printed, grade.letter);
  }
  return text;
}

std::string numbers(const Miss& miss) {
  return fmt::format("  got      {:.9g}\n  wanted   {:.9g} +- {:.2g}   at {}, {} of {} are off\n",
                     miss.got, miss.want, miss.allowed, in_line(miss.where), miss.count, miss.of);
}

std::string speed_lines(const Rubric& rubric, const CellObservation& cell) {
  std::string lines;
  for (const auto& check : cell.checks)
    for (const auto& speed : check.speeds) {
      lines += fmt::format("  {}: {}, {:.2f}x the reference's speed, 99% {:.2f}-{:.2f}",
                           in_line(speed.case_name), rubric.speed_verdict(speed), speed.ratio,
                           speed.low, speed.high);
      lines += fmt::format("; reference against itself {:.2f}-{:.2f}", speed.noise_low,
                           speed.noise_high);
      if (const auto share = ceiling_share(speed.ceiling_share))
        lines += fmt::format("; {:.0f}% of the ceiling", *share * 100);
      if (speed.processor_ratio)
        lines += fmt::format("; {:.2f}x by processor time", *speed.processor_ratio);
      lines += "\n";
    }
  return lines;
}

std::string claim_line(const JudgedClaim& one) {
  std::string line = fmt::format("  {} claim: {} {}; ", name_of(one.verdict),
                                 name_of(one.claim.kind), claimed_text(one.claim));
  if (!one.measured.empty()) line += fmt::format("measured {}; ", in_line(one.measured));
  return line + in_line(one.why) + "\n";
}

/// What the submission says of itself: what measurement contradicts, or the rest.
std::string claim_lines(const CellObservation& cell, bool contradicted) {
  std::string lines;
  for (const JudgedClaim& one : judge_claims(cell))
    if ((one.verdict == ClaimVerdict::refuted) == contradicted) lines += claim_line(one);
  return lines;
}

std::string claims_fault_line(const CellObservation& cell) {
  if (cell.claims_fault.empty()) return "";
  return fmt::format("  its claims cannot be read: {}\n", in_line(cell.claims_fault));
}

}  // namespace

const Signs& signs_of(const TerminalStyle& style) {
  return style.unicode ? unicode_signs() : ascii_signs();
}

std::string painted(const TerminalStyle& style, Paint paint, const std::string& text) {
  if (!style.color || paint == Paint::plain) return text;
  const char* code = paint == Paint::good   ? "32"
                     : paint == Paint::fair ? "33"
                     : paint == Paint::bad  ? "31"
                                            : "2";
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string aligned(const std::vector<std::vector<std::string>>& rows, std::size_t left) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], characters(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - characters(row[i]), ' ');
      line += (i == 0 ? "" : "  ") + (i < left ? row[i] + space : space + row[i]);
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    text += line + "\n";
  }
  return text;
}

std::string terminal_table(const Rubric& rubric, const Board& board,
                           const std::vector<std::string>& submissions,
                           const std::vector<std::string>& challenges, const TerminalStyle& style) {
  constexpr int kColumn = 24;  // a long challenge name and the gap
  const auto per_table = static_cast<std::size_t>(std::max(1, (style.width - kColumn) / kColumn));
  std::string text;
  for (std::size_t begin = 0; begin < challenges.size(); begin += per_table) {
    const std::size_t end = std::min(begin + per_table, challenges.size());
    std::vector<std::vector<std::string>> rows{{"Submission"}};
    for (std::size_t i = begin; i < end; ++i) rows[0].push_back(challenges[i]);
    if (end == challenges.size()) rows[0].push_back("Mean");
    for (const auto& submission : submissions) {
      const std::size_t made = board.attempts(submission).size();
      rows.push_back({made == 0 ? submission : fmt::format("{}, {} attempts", submission, made)});
      for (std::size_t i = begin; i < end; ++i)
        rows.back().push_back(cell_and_spread(board, submission, challenges[i], signs_of(style)));
      if (end == challenges.size())
        rows.back().push_back(mean_and_spread(rubric, board, submission, signs_of(style)));
    }
    text += aligned(rows) + "\n";
  }
  return text;
}

std::string terminal_matrix(const Rubric& rubric, const Board& board,
                            const std::vector<std::string>& challenges,
                            const TerminalStyle& style) {
  const std::string text = terminal_table(rubric, board, board.submissions(), challenges, style);
  const auto takes_part_everywhere = [&](const std::string& submission) {
    return std::all_of(challenges.begin(), challenges.end(),
                       [&](const auto& id) { return board.find(submission, id); });
  };
  const bool absent =
      !std::all_of(board.submissions().begin(), board.submissions().end(), takes_part_everywhere);
  const bool several =
      std::any_of(board.submissions().begin(), board.submissions().end(),
                  [&](const auto& submission) { return !board.attempts(submission).empty(); });
  return text + legend(text, absent, several, style);
}

std::string terminal_cell(const BoardCell& scored, const CellObservation& cell,
                          const TerminalStyle& style, const std::string& note) {
  const CellScore& score = scored.score;
  std::string text =
      fmt::format("{} {}  {}", cell.key.row(), cell.key.column(),
                  painted(style, paint_of(score), grade_text(score, signs_of(style))));
  if (score.capped()) text += "  " + cap_text(score);
  if (!score.failed_to_build) text += "  " + counts(cell);
  if (score.partial()) text += "  not measured: " + sentence_list(score.not_measured);
  if (score.broken > 0) text += fmt::format("  incomplete: {} checks broke", score.broken);
  if (!note.empty()) text += "  " + note;
  text += "\n";
  if (score.unproven) text += fmt::format("  {}: {}\n", kUnproven, in_line(cell.unproven));
  text += build_failure(cell);
  return text + finding_lines(cell) + claim_lines(cell, true) + claims_fault_line(cell);
}

std::string terminal_details(const Rubric& rubric, const BoardCell& scored,
                             const CellObservation& cell, const TerminalStyle& style) {
  std::vector<std::vector<std::string>> rows{{"  Section", "weight", "score", "measured in full"}};
  for (const auto& section : scored.score.sections)
    rows.push_back({fmt::format("  {}", name_of(section.section)),
                    points(rubric.weight_of(section.section)),
                    section_text(section, signs_of(style)),
                    fmt::format("{} of {}", section.measured, section.total)});
  return terminal_cell(scored, cell, style) + "\n" + aligned(rows) + speed_lines(rubric, cell) +
         claim_lines(cell, false);
}

std::string terminal_check(const Rubric& rubric, const BoardCell& scored,
                           const CellObservation& cell, const CheckObservation& check,
                           const TerminalStyle& style) {
  const Paint paint = check.verdict == Verdict::passed   ? Paint::good
                      : blames_submission(check.verdict) ? Paint::bad
                                                         : Paint::fair;
  std::string text = fmt::format("{}  {} {}/{}\n  detects  {}\n  stake    {}\n",
                                 painted(style, paint, std::string(name_of(check.verdict))),
                                 cell.key.row(), cell.key.column(), check.info.id,
                                 in_line(check.info.detects), cost(rubric, scored.score, check));
  text += fmt::format("  ran      {} cases", check.cases);
  text += check.seconds > 0 ? fmt::format(" in {:.2f} s\n", check.seconds) : "\n";
  if (check.finding) {
    const Finding& finding = *check.finding;
    if (!finding.case_name.empty())
      text += fmt::format("  case     {}\n", in_line(finding.case_name));
    text += fmt::format("  saw      {}\n", one_line(finding.summary, kMessageBytes));
    if (finding.miss) text += numbers(*finding.miss);
    for (const auto& line : finding.evidence)
      text += indented(printable(line, kMessageBytes), "    ");
  }
  for (const auto& fact : check.facts)
    text += fmt::format("  measured {}: {:.6g} {}\n", in_line(fact.name), fact.value,
                        in_line(fact.unit));
  return text + fmt::format("  Reproduce:  {}\n", rerun_command(cell, check.info.id));
}

}  // namespace gauntlet
