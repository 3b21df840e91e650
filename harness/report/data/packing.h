// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harness/store/json_fields.h"

namespace gauntlet {

/// The same value in fewer letters: numbers rounded, points of curves as pairs, and of drawn curves
/// those points that a reader can see.
Json shortened(const Json& value);

/// With points as observations have them.
void restore_points(Json& value);

/// The keys of all timed cases of some checks but the case's name, in the order they are met.
std::vector<std::string> speed_fields(const std::vector<std::vector<Json>>& checks);

/// Names of facts, with their units, that are met often enough for a number to pay.
std::vector<std::string> common_facts(const std::vector<std::vector<Json>>& checks);

/// What the lines of a column are short for.
struct Shorthand {
  std::vector<std::string> speeds;  // the fields of a timed case, in this order
  std::vector<std::string> facts;   // "#0" stands for the first of these
};

/// A check's timed cases as arrays of the shorthand's fields under the names of the cases, and its
/// facts under their names and units, so that what several cells share in them can be folded. Lists
/// with names that such an object could not hold stay lists.
void pack(const Shorthand& shorthand, Json& check);
void unpack(const Shorthand& shorthand, Json& check);

}  // namespace gauntlet
