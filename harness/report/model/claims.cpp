// SPDX-License-Identifier: Apache-2.0
#include "harness/report/model/claims.h"

#include <fmt/format.h>

#include "harness/core/error.h"
#include "harness/report/text/markdown.h"

namespace gauntlet {
namespace {

template <class Item>
std::string element(const char* list, const std::vector<Item>& items, const Item& item) {
  return fmt::format("/{}/{}", list, &item - items.data());
}

}  // namespace

std::string Claims::say(const std::string& id, const std::string& sentence, Json predicate) {
  if (!ids_.insert(id).second)
    throw Broken(OwnFault::bug, fmt::format("claim '{}' is made twice", id));
  claims_.push_back({{"id", id}, {"text", sentence}, {"predicate", std::move(predicate)}});
  return markdown::text(sentence);
}

Json Claims::document() const {
  return {{"schema", "gauntlet.claims/1"}, {"claims", claims_}};
}

std::string Claims::at(const ReportedCell& cell) const {
  return element("cells", aggregate_.cells, cell);
}

std::string Claims::at(const ReportedCell& cell, const ReportedCheck& check) const {
  return at(cell) + element("checks", cell.checks, check);
}

std::string Claims::at(const ReportedSubmission& submission) const {
  return element("submissions", aggregate_.submissions, submission);
}

std::string Claims::at(const ReportedPair& pair) const {
  return element("pairs", aggregate_.pairs, pair);
}

std::string Claims::at(const Pick& pick) const {
  return element("picks", aggregate_.picks, pick);
}

std::string Claims::at(const Differentiator& one) const {
  return element("differentiators", aggregate_.survey.differentiators, one);
}

namespace predicate {

Json equal(const std::string& at, const Json& value) {
  return {{"kind", "equal"}, {"at", at}, {"value", value}};
}

Json count(const std::vector<std::string>& at, const Json& value, std::size_t exactly) {
  return {{"kind", "count"}, {"at", at}, {"value", value}, {"exactly", exactly}};
}

Json greatest(const std::vector<std::string>& at, double by) {
  return {{"kind", "greatest"}, {"at", at}, {"by", by}};
}

Json least(const std::vector<std::string>& at, double by) {
  return {{"kind", "least"}, {"at", at}, {"by", by}};
}

Json near(const std::string& a, const std::string& b, double below) {
  return {{"kind", "near"}, {"at", {a, b}}, {"below", below}};
}

Json record(const std::string& pair) {
  return {{"kind", "record"}, {"at", pair}};
}

Json shape(const std::string& submission, std::string_view shape) {
  return {{"kind", "shape"}, {"at", submission}, {"shape", shape}};
}

Json pick(const std::string& pick) {
  return {{"kind", "pick"}, {"at", pick}};
}

Json differentiator(const std::string& differentiator) {
  return {{"kind", "differentiator"}, {"at", differentiator}};
}

Json outside(const std::string& stated_claim) {
  return {{"kind", "outside"}, {"at", stated_claim}};
}

Json costs(const std::string& check, const std::string& cell) {
  return {{"kind", "costs"}, {"at", check}, {"cell", cell}};
}

Json absent(const std::vector<std::string>& at) {
  return {{"kind", "absent"}, {"at", at}};
}

Json all(const std::vector<Json>& of) {
  return {{"kind", "all"}, {"of", of}};
}

}  // namespace predicate

}  // namespace gauntlet
