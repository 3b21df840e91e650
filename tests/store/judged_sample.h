// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace gauntlet::sample {

/// Three models on three challenges in two rounds, with one statement of each kind that is false.
inline std::string judgement_yaml() {
  return R"(title: A comparison
judged: solutions as text
executed: false
documents:
  - {id: page, title: The page, judge: A judge, date: 2026-04-27}
  - {id: board, title: The scoreboard, judge: Another judge, date: unknown, challenges: [one]}
models:
  - {id: alpha, name: Alpha}
  - {id: bravo, name: Bravo}
  - {id: charlie, name: Charlie}
challenges:
  - {id: one, name: The first, difficulty: medium, round: 1}
  - {id: two, name: The second, difficulty: medium, round: 1}
  - {id: three, name: The third, difficulty: hard, round: 2}
grades:
  document: page
  letters:
    one: {alpha: A (1st), bravo: A- (1st), charlie: B (3rd)}
    two: {alpha: B (2nd), bravo: A- (1st), charlie: B (tie 2nd)}
    three: {alpha: B, bravo: A- (tie)}
scores:
  - {document: board, challenge: one, model: alpha, overall: 80, dimensions: {Depth: 90, Tests: 80}}
  - {document: board, challenge: one, model: bravo, overall: 82, dimensions: {Depth: 82}}
pairs:
  - document: page
    models: [alpha, bravo]
    winners: {one: alpha (Narrow), two: Tie, three: bravo}
  - document: board
    models: [bravo, alpha]
    winners: {one: bravo}
statements:
  - {document: page, says: s0, took_part: {model: charlie, challenges: 3}}
  - {document: page, says: s1, only_complete: {model: alpha}}
  - {document: page, says: s2, shared: {models: [alpha, charlie], challenges: 3}}
  - {document: page, says: s3, record: {models: [bravo, alpha], verb: leads, figures: [1, 1, 1]}}
  - {document: page, says: s4, rank: {model: alpha, place: 1}}
  - {document: page, says: s5, mean: {model: alpha, letters: [A]}}
  - {document: page, says: s6, round: {model: alpha, round: 1, letter: A-, place: 1}}
  - {document: page, says: s7, place: {model: bravo, challenge: one, place: 1}}
  - {document: page, says: s8, grade: {model: charlie, challenge: two, letter: A}}
  - {document: page, says: s9, never_declines: {model: alpha}}
  - {document: page, says: s10, range: {model: alpha, letters: [A, A-]}}
  - {document: page, says: s11, narrowest_range: {model: alpha}}
  - {document: page, says: s12, wins: {models: [alpha, charlie], challenges: [one, two]}}
  - {document: page, says: s13, count: {number: 3, items: [a, b]}}
  - {document: board, says: s14, critical: {model: bravo, challenge: one}}
)";
}

}  // namespace gauntlet::sample
