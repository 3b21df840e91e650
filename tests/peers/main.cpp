// SPDX-License-Identifier: Apache-2.0
// The protocols of public graders, put to our mutants and honest variants.
//
//   gauntlet_peers [CHALLENGE...]     prints the table; all challenges with questions when none is
//                                     named
//   gauntlet_peers --write            writes it, and the protocols, into docs/peers.md
//   gauntlet_peers --protocols        writes the protocols alone, and tries nobody
//   gauntlet_peers --names [...]      says of each mutant who rejects it

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/grading/audit_suite.h"
#include "tests/peers/page.h"
#include "tests/peers/referee.h"

namespace gauntlet::peers {
namespace {

namespace fs = std::filesystem;

Grader grader_of(const std::string& id) {
  for (const GraderEntry& entry : all_graders())
    if (entry.id == id) return entry.make();
  throw UserError(fmt::format("{} is not part of this build", id));
}

void show(const std::string& what, const std::vector<Peer>& peers, const std::vector<bool>& row) {
  std::string who;
  for (std::size_t peer = 0; peer < peers.size(); ++peer)
    if (row[peer]) who += " " + peers[peer].name;
  fmt::print("{}:{}\n", what, who.empty() ? " nobody" : who);
  std::fflush(stdout);
}

Tally tally_of(const GradingEnvironment& environment, const std::string& id,
               const std::vector<Peer>& peers, bool names) {
  const AuditSuite suite = load_audit_suite(environment.root, id, Device::cpu, grader_of(id));
  const Referee referee(environment, load_challenge(environment.root, id), peers);
  Tally tally{id, {}, {}};
  for (const Mutant& mutant : suite.mutants) {
    tally.mutants.push_back(referee.rejections(mutant.solution));
    if (names) show(id + " " + mutant.name, peers, tally.mutants.back());
  }
  for (const HonestVariant& variant : suite.honest) {
    tally.honest.push_back(referee.rejections(variant.solution));
    if (names) show(id + " honest " + variant.name, peers, tally.honest.back());
  }
  fmt::print(stderr, "{}: {} mutants, {} honest variants\n", id, tally.mutants.size(),
             tally.honest.size());
  return tally;
}

void write_part(const fs::path& page, const std::string& name, const std::string& text) {
  write_file(page, with_part(read_file(page), name, text));
}

int run(std::vector<std::string> arguments) {
  const auto take = [&](const char* option) {
    return std::erase(arguments, std::string(option)) > 0;
  };
  const bool write = take("--write");
  const bool names = take("--names");
  const bool protocols = take("--protocols");
  const fs::path root = GAUNTLET_ROOT;
  const fs::path page = root / "docs/peers.md";
  const std::vector<Peer> peers = read_peers(root / "tests/peers");
  if (write || protocols) write_part(page, "protocols", protocol_list(peers));
  if (protocols) return 0;
  if (write && !arguments.empty()) throw UserError("--write is for all challenges: name none");
  if (arguments.empty()) arguments = challenges_with_questions();
  const GradingEnvironment environment{root, fs::path(GAUNTLET_BIN) / "gauntlet-worker",
                                       root / "build/cache", "peers"};
  std::vector<Tally> tallies;
  for (const std::string& id : arguments)
    tallies.push_back(tally_of(environment, id, peers, names));
  const std::string table = kill_table(peers, tallies);
  fmt::print("{}", table);
  if (write) write_part(page, "table", table);
  return 0;
}

}  // namespace
}  // namespace gauntlet::peers

int main(int argc, char** argv) try {
  return gauntlet::peers::run({argv + 1, argv + argc});
} catch (const std::exception& error) {
  fmt::print(stderr, "gauntlet_peers: {}\n", error.what());
  return 1;
}
