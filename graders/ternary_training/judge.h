// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "call.h"
#include "network.h"
#include "oracle.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// Runs the call, which must succeed, and demands the right answer.
void require_quantized(Probe& probe, const QuantizeProblem& problem,
                       const CallOptions& options = {});
void require_logits(Probe& probe, const Checkpoint& checkpoint, const Text& token,
                    const CallOptions& options = {});

/// Which of a linear layer's three results a check looks at.
enum class Part { y, input_gradient, weight_gradient };
inline constexpr Part kParts[] = {Part::y, Part::input_gradient, Part::weight_gradient};
void require_gradient(Probe& probe, const LinearProblem& problem, Part part,
                      const CallOptions& options = {});
/// All three of one call.
void require_layer(Probe& probe, const LinearProblem& problem, const CallOptions& options = {});

/// The checkpoint that training wrote, which must be one of the model that was asked for.
Checkpoint require_checkpoint(Probe& probe, const TrainingRequest& request,
                              const TrainingResult& result);

/// What training left, read and checked.
struct TrainedModel {
  TrainingResult result;
  Checkpoint checkpoint;
  double train_nll;  // measured
};

/// Trains, within the tokens that were asked for, and reads the checkpoint.
TrainedModel require_trained(Probe& probe, const TrainingRequest& request);

/// The likelihood of the training text has to be what the solution says.
void require_train_nll(Probe& probe, double claimed, double measured);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
