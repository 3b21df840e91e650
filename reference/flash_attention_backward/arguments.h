// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "contract.h"

namespace attention {

/// What the contract says about these arguments: FLASH_ATTENTION_OK, or why nothing can be done.
int64_t judge(const FlashAttentionBackwardArgs& args);

}  // namespace attention
