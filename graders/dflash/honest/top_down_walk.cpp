// strategy: walk down the parent array, one lazy argmax a level
// uses: where siblings carry the same token either may be followed, here the first; rows of logits
// that are not on the way need not be read
// SPDX-License-Identifier: Apache-2.0
#include "whole.h"
