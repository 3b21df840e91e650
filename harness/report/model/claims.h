// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/report/model/aggregate.h"
#include "harness/store/json_fields.h"

namespace gauntlet {

/// The sentences of a report that assert something, each with the predicate over aggregate.json by
/// which it can be tried again. Pages get such sentences from here only.
class Claims {
 public:
  explicit Claims(const Aggregate& aggregate) : aggregate_(aggregate) {}

  /// Records a plain sentence and gives it back as Markdown. An id is used once.
  std::string say(const std::string& id, const std::string& sentence, Json predicate);

  /// Schema "gauntlet.claims/1", the file claims.json.
  Json document() const;

  // Where things are in aggregate.json: "/cells/3".
  std::string at(const ReportedCell& cell) const;
  std::string at(const ReportedCell& cell, const ReportedCheck& check) const;
  std::string at(const ReportedSubmission& submission) const;
  std::string at(const ReportedPair& pair) const;
  std::string at(const Pick& pick) const;
  std::string at(const Differentiator& one) const;

 private:
  const Aggregate& aggregate_;
  std::set<std::string> ids_;
  Json claims_ = Json::array();
};

/// The closed set of predicates. claim_check.cpp says by itself what each of them means.
namespace predicate {

/// What stands there is `value`.
Json equal(const std::string& at, const Json& value);
/// Of the places, exactly so many hold `value`.
Json count(const std::vector<std::string>& at, const Json& value, std::size_t exactly);
/// The number at the first place is above those at all others, by `by` or more.
Json greatest(const std::vector<std::string>& at, double by);
Json least(const std::vector<std::string>& at, double by);
/// The numbers differ by less than `below`.
Json near(const std::string& a, const std::string& b, double below);
/// The pair's record follows from the cells of the two.
Json record(const std::string& pair);
/// The shape follows from the rounds of the submission.
Json shape(const std::string& submission, std::string_view shape);
/// The pick, or that there is none, follows from its candidates.
Json pick(const std::string& pick);
/// Who passed the check, and what is at stake, follow from the cells.
Json differentiator(const std::string& differentiator);
/// The number that a submission claims lies outside of those that measurement leaves possible.
Json outside(const std::string& stated_claim);
/// What the check of a cell costs it follows from the cell.
Json costs(const std::string& check, const std::string& cell);
/// Nothing stands at any of the places.
Json absent(const std::vector<std::string>& at);
Json all(const std::vector<Json>& of);

}  // namespace predicate

}  // namespace gauntlet
