// strategy: walk down the parent array, one lazy argmax a level
// SPDX-License-Identifier: Apache-2.0
#include "whole.h"
