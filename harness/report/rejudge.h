#pragma once

#include <string>
#include <vector>

#include "harness/store/json_fields.h"

namespace gauntlet {

/// A check that a score leaves out, or takes for passed with all its points.
struct WhatIf {
  std::string never_asked = {};
  std::string earned = {};
};

/// The score of one of aggregate.json's `cells`, from the shares and weights of its checks.
double rescored(const Json& rubric, const Json& cell, const WhatIf& what_if);

/// What is wrong with one of aggregate.json's `differentiators`, counted and scored anew.
std::string telling_complaint(const Json& aggregate, const Json& telling);

/// What is wrong with the record of a pair, one of aggregate.json's `pairs`, judged from the cells
/// of the two anew; empty when it follows from them.
std::string record_complaint(const Json& aggregate, const Json& pair);

/// Complaints about records, letters and places that do not follow from the cells' scores: a record
/// must add up to the number of challenges and be its own reverse, places must follow the scores
/// and skip after shared ones, no cap may lift a score, letters are those of the bands.
std::vector<std::string> unsound_numbers(const Json& aggregate);

}  // namespace gauntlet
