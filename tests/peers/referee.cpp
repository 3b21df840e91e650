// SPDX-License-Identifier: Apache-2.0
#include "tests/peers/referee.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/build/solution.h"
#include "harness/core/error.h"
#include "harness/grading/reference_sessions.h"

namespace gauntlet::peers {

Referee::Referee(const GradingEnvironment& environment, Challenge challenge,
                 const std::vector<Peer>& peers)
    : environment_(environment), challenge_(std::move(challenge)), peers_(peers) {
  const MakeQuestion make = question_of(challenge_.id);
  if (make == nullptr) throw UserError(fmt::format("there are no questions for {}", challenge_.id));
  for (const Peer& peer : peers_) {
    std::vector<Asked>& asked = asked_.emplace_back();
    for (std::size_t shape = 0; shape < peer.shapes.size(); ++shape)
      for (int trial = 0; trial < peer.trials; ++trial)
        for (const Regime& regime : peer.regimes) {
          Rng rng(derive(42, fmt::format("{}/{}/{}/{}", challenge_.id, peer.name, shape, trial)));
          asked.push_back(
              {&regime, make(rng, {peer.numbers, peer.indices, peer.shapes[shape], regime})});
        }
  }
}

std::vector<bool> Referee::rejections(const SolutionSource& solution) const {
  const BuiltSolution built = build_subject(solution, challenge_, environment_.cache);
  if (!built.record.ok) throw Broken(OwnFault::own_solution, built.record.messages);
  const std::unique_ptr<Session> session = worker_session(environment_, challenge_, built.library);
  std::vector<bool> rejected;
  for (std::size_t peer = 0; peer < peers_.size(); ++peer) {
    session->restart();
    rejected.push_back(rejects(peer, *session));
  }
  return rejected;
}

bool Referee::rejects(std::size_t peer, Session& session) const {
  Probe probe({peers_[peer].name, ""}, 42, {.solution = session});
  const auto accepted = [&](const Regime& regime, const Part& part) {
    return accepts(peers_[peer], regime, part);
  };
  try {
    for (const auto& [regime, question] : asked_[peer])
      for (int call = 0; call < peers_[peer].calls; ++call)
        for (const Part& part : question->ask(probe))
          if (!accepted(*regime, part)) return true;
  } catch (const CheckEnded&) {  // it crashed, hung, or refused
    return true;
  }
  return false;
}

}  // namespace gauntlet::peers
