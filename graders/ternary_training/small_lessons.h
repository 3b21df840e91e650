#pragma once

#include <cstdint>
#include <vector>

#include "lesson.h"
#include "markov.h"
#include "network.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// A model that trains in milliseconds: vocab 24, width 32, one layer.
TernaryModel small_model();

/// Text for a model: from a random source over its first `symbols` ids, which small models learn a
/// part of at once.
Text source_text(Rng& rng, std::int64_t symbols, std::int64_t tokens);

/// A lesson of the small model, one document of 1,500 tokens, ended by tokens alone.
Lesson small_lesson(Rng& rng, std::int64_t max_tokens = 2'000);

/// A lesson's end: checkpoint and network, read and checked.
struct Learnt {
  Outcome outcome;
  Checkpoint checkpoint;
  double train_nll;  // measured
};

/// Trains, within the lesson's tokens, and reads the checkpoint.
Learnt learn(Probe& probe, const Lesson& lesson);

/// The likelihood of the training text has to be what the solution says: another one at odd shapes
/// means that it trained another model than it wrote. Only some checks ask, so that one wrong claim
/// does not fail every check that trains.
void require_claim(Probe& probe, const Learnt& learnt);

/// Nats a token of a text by counting its own tokens.
double own_entropy(const Text& text);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
