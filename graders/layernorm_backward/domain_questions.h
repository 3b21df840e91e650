// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "graders/kit/domain.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// The domain and how a call of it is asked, for every group that has it asked.
std::vector<kit::DomainQuestion> domain_questions();

}  // namespace gauntlet::GAUNTLET_CHALLENGE
