// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "call.h"
#include "graders/kit/domain.h"
#include "problem.h"

/// Calls of given classes of the domain.
namespace gauntlet::GAUNTLET_CHALLENGE {

/// One call of dflash_build or dflash_verify.
struct TreeCase {
  std::shared_ptr<const Language> language;
  Batch batch;
  CallOptions options;
};
TreeCase build_case(const kit::Assignment& choice, Rng& rng);
TreeCase verify_case(const kit::Assignment& choice, Rng& rng);

/// The same trees in another language, which says other things of the same vocabulary.
void translate(const kit::Assignment& choice, Rng& rng, TreeCase& made);

/// One call of dflash_generate.
struct RequestCase {
  std::shared_ptr<const Language> language;
  Problem problem;
  CallOptions options;
};
RequestCase generate_case(const kit::Assignment& choice, Rng& rng);

/// A drafted tree has one path at most that spells what is right.
bool one_path(const kit::Assignment& choice);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
