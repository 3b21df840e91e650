// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "harness/store/json_fields.h"

namespace gauntlet {

/// Several JSON values of the same shape as one, in which what they share stands once. Where they
/// differ stands {"each": [...]} with a value for each of them, or, where that is shorter,
/// {"kinds": [A, B], "which": [0, 1, 0]} with each value once; what only some have is
/// {"some": [0, 2], "have": ...}. Null is a value that is absent. Lists of objects become objects
/// with the keys "0", "1" and so on.
Json fold(const std::vector<const Json*>& values);

/// What `place` was before it was folded.
std::optional<Json> unfold(const Json& folded, std::size_t place);

}  // namespace gauntlet
