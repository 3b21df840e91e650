// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "contract.h"
#include "graders/kit/domain.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// What the contract allows each of its functions: the classes of every argument, and what of them
/// goes together. What the classes mean is in drawing.h and drawing_models.h; that of "before" is
/// left to whoever asks.
const kit::Domain& quantize_domain();
const kit::Domain& layer_domain();
const kit::Domain& forward_domain();
const kit::Domain& training_domain();

/// The largest model of these classes.
TernaryModel largest_model(const kit::Assignment& choice);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
