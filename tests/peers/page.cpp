// SPDX-License-Identifier: Apache-2.0
#include "tests/peers/page.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/core/error.h"

namespace gauntlet::peers {
namespace {

using Rows = std::vector<std::vector<bool>>;

std::ptrdiff_t rejected_by(const Rows& rows, std::size_t peer) {
  return std::ranges::count_if(rows, [&](const std::vector<bool>& row) { return row[peer]; });
}

std::ptrdiff_t rejected_by_any(const Rows& rows) {
  return std::ranges::count_if(
      rows, [](const std::vector<bool>& row) { return std::ranges::find(row, true) != row.end(); });
}

void append(Rows& all, const Rows& more) {
  all.insert(all.end(), more.begin(), more.end());
}

std::string shares(const std::vector<Tally>& tallies, Rows Tally::*part, const auto& count) {
  std::string cells;
  Rows all;
  for (const Tally& tally : tallies) {
    cells += fmt::format(" {} |", count(tally.*part));
    append(all, tally.*part);
  }
  return cells + fmt::format(" {} |", count(all));
}

std::string row_of(const std::string& name, const std::vector<Tally>& tallies, const auto& count) {
  Rows honest;
  for (const Tally& tally : tallies) append(honest, tally.honest);
  return fmt::format("| {} |{} {} of {} |\n", name, shares(tallies, &Tally::mutants, count),
                     count(honest), honest.size());
}

std::string sizes_of(const Peer& peer) {
  return fmt::format("{} {}", peer.shapes.size(), peer.shapes.size() == 1 ? "shape" : "shapes");
}

std::string tolerance_of(const Peer& peer) {
  const Regime& first = peer.regimes.front();
  const char* join = peer.rule == Peer::Rule::both_in_one ? "+" : "or";
  std::string text = fmt::format("atol {} {} rtol {}", first.atol, join, first.rtol);
  if (peer.matched < 1) text += fmt::format(", of {} % of the elements", peer.matched * 100);
  return text;
}

}  // namespace

std::string kill_table(const std::vector<Peer>& peers, const std::vector<Tally>& tallies) {
  std::string text = "| Rejected by |";
  std::string line = "| --- |";
  for (const Tally& tally : tallies) {
    text += fmt::format(" {} |", tally.challenge);
    line += " --: |";
  }
  text += " all mutants | honest variants |\n" + line + " --: | --: |\n";
  for (std::size_t peer = 0; peer < peers.size(); ++peer)
    text += row_of(peers[peer].name, tallies,
                   [&](const Rows& rows) { return rejected_by(rows, peer); });
  text += row_of("any of them", tallies, [](const Rows& rows) { return rejected_by_any(rows); });
  std::string cells =
      shares(tallies, &Tally::mutants, [](const Rows& rows) { return rows.size(); });
  return text + fmt::format("| *mutants tried* |{} |\n", cells);
}

std::string protocol_list(const std::vector<Peer>& peers) {
  std::string text;
  for (const Peer& peer : peers) {
    text += fmt::format(
        "**{}**: {}, {} {} of {} numbers for each{}; {}.\n\n", peer.name, sizes_of(peer),
        peer.trials, peer.trials == 1 ? "draw" : "draws",
        peer.numbers == Peer::Numbers::uniform ? "uniform" : "normal",
        peer.regimes.size() == 1 ? "" : fmt::format(", at {} scales", peer.regimes.size()),
        tolerance_of(peer));
    for (const Source& source : peer.sources)
      text += fmt::format("- {}: {} ({})\n", fmt::join(source.of, ", "), source.says,
                          source.repository.empty()
                              ? "our choice"
                              : fmt::format("{}@{}, `{}`", source.repository,
                                            source.commit.substr(0, 7), source.file));
    text += "\n";
  }
  text.pop_back();
  return text;
}

std::string with_part(const std::string& page, const std::string& name, const std::string& text) {
  const std::string begin = fmt::format("<!-- begin {} -->\n", name);
  const std::string end = fmt::format("<!-- end {} -->", name);
  const std::size_t from = page.find(begin);
  const std::size_t to = page.find(end);
  if (from == std::string::npos || to == std::string::npos || to < from)
    throw UserError(fmt::format("the page has no part '{}'", name));
  return page.substr(0, from + begin.size()) + "\n" + text + "\n" + page.substr(to);
}

}  // namespace gauntlet::peers
