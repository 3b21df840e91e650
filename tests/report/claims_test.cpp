// SPDX-License-Identifier: Apache-2.0
// Claims and records that do not hold are seen, whatever made them.
#include "harness/report/model/claims.h"

#include <doctest/doctest.h>

#include "harness/core/error.h"
#include "tests/report/claim_check.h"
#include "tests/report/demo.h"
#include "tests/report/rejudge.h"

using namespace gauntlet;

namespace {

Json numbers() {
  return document(aggregate(demo::input()));
}

/// One claim with this predicate, tried on the demo's numbers.
bool holds(const Json& predicate, const Json& aggregate = numbers()) {
  const Json claims{
      {"claims", Json::array({{{"id", "x"}, {"text", "X."}, {"predicate", predicate}}})}};
  return false_claims(aggregate, claims).empty();
}

const char* const kAlpha = "/submissions/0";  // mean 95.8, bravo 89.5
const char* const kBravo = "/submissions/1";

std::string mean(const char* submission) {
  return std::string(submission) + "/mean/score";
}

}  // namespace

TEST_CASE("the demo's numbers are sound as they are") {
  CHECK(unsound_numbers(numbers()).empty());
}

TEST_CASE("a number that was changed by hand is noticed") {
  const auto noticed = [](const char* where, const Json& value) {
    Json changed = numbers();
    const Json::json_pointer place(where);
    REQUIRE(changed.contains(place));
    changed[place] = value;
    return !unsound_numbers(changed).empty();
  };
  CHECK(noticed("/cells/0/score", 88.0));
  CHECK(noticed("/cells/0/letter", "B"));
  CHECK(noticed("/cells/0/printed", 89));
  CHECK(noticed("/cells/0/place", "2nd"));
  CHECK(noticed("/cells/0/checks/0/share", 0.5));
  CHECK(noticed("/pairs/0/record/won", 2));
  CHECK(noticed("/pairs/0/record/verb", "leads"));
  CHECK(noticed("/pairs/0/reversed/lost", 0));
  CHECK(noticed("/pairs/0/rows/0/margin", "Narrow"));
  CHECK(noticed("/pairs/0/rows/0/winner", -1));
  CHECK(noticed("/pairs/0/rows/0/difference", 20.0));
  CHECK(noticed("/pairs/0/mean_difference", 1.0));
  Json short_of_a_row = numbers();
  short_of_a_row["pairs"][0]["rows"].erase(1);
  CHECK_FALSE(unsound_numbers(short_of_a_row).empty());
}

TEST_CASE("each kind of predicate tells true from false") {
  CHECK(holds(predicate::equal("/cells/0/place", "1st=")));
  CHECK_FALSE(holds(predicate::equal("/cells/0/place", "2nd")));
  CHECK(holds(predicate::greatest({mean(kAlpha), mean(kBravo)}, 0)));
  CHECK_FALSE(holds(predicate::greatest({mean(kBravo), mean(kAlpha)}, 0)));
  CHECK_FALSE(holds(predicate::greatest({mean(kAlpha), mean(kBravo)}, 10)));
  CHECK(holds(predicate::least({mean(kBravo), mean(kAlpha)}, 0)));
  CHECK_FALSE(holds(predicate::least({mean(kAlpha), mean(kBravo)}, 0)));
  CHECK(holds(predicate::count({"/cells/0/place", "/cells/1/place"}, "1st=", 1)));
  CHECK_FALSE(holds(predicate::count({"/cells/0/place", "/cells/1/place"}, "1st=", 2)));
  CHECK(holds(predicate::absent({"/cells/0/nothing"})));
  CHECK_FALSE(holds(predicate::absent({"/cells/0/place"})));
  CHECK(holds(predicate::shape(kAlpha, "too short")));
  CHECK_FALSE(holds(predicate::shape(kAlpha, "rising")));
  CHECK(holds(predicate::outside("/cells/2/stated_claims/3")));
  CHECK_FALSE(holds(predicate::outside("/cells/2/stated_claims/2")));
  CHECK_FALSE(holds(predicate::outside("/cells/2/stated_claims/0")));  // a word, which has no place
  CHECK(holds(predicate::record("/pairs/0")));
  CHECK(holds(predicate::pick("/picks/0")));
  CHECK(holds(predicate::differentiator("/differentiators/0")));
  CHECK(holds(predicate::all({predicate::record("/pairs/0"), predicate::pick("/picks/0")})));
  CHECK_FALSE(holds(
      predicate::all({predicate::record("/pairs/0"), predicate::equal("/cells/0/place", "2nd")})));
}

TEST_CASE("a predicate over numbers that were changed does not hold any more") {
  Json changed = numbers();
  changed["picks"][0]["submission"] = "bravo";
  CHECK_FALSE(holds(predicate::pick("/picks/0"), changed));
  changed["differentiators"][0]["passed"] = 1;
  CHECK_FALSE(holds(predicate::differentiator("/differentiators/0"), changed));
  changed["pairs"][0]["record"]["won"] = 2;
  CHECK_FALSE(holds(predicate::record("/pairs/0"), changed));
  Json& claim = changed["cells"][2]["stated_claims"][3];
  claim["claimed"] = claim["possible_low"];
  CHECK_FALSE(holds(predicate::outside("/cells/2/stated_claims/3"), changed));
  claim["claimed"] = 1e6;
  claim["possible_high"] = "inf";
  CHECK_FALSE(holds(predicate::outside("/cells/2/stated_claims/3"), changed));
}

TEST_CASE("what nobody knows how to try does not hold") {
  CHECK_FALSE(holds(Json{{"kind", "obvious"}, {"at", "/cells/0"}}));
  CHECK_FALSE(holds(predicate::equal("/nowhere", 1)));
}

TEST_CASE("shapes are judged by steps and ends") {
  const auto shape = [](const std::vector<double>& means) {
    std::vector<RoundScore> rounds;
    for (const double mean : means)
      rounds.push_back({static_cast<int>(rounds.size()), 1, 1, Interval{mean, mean}});
    const Shape by_score = shape_of(demo::rubric(), rounds);
    Json json = numbers();
    json["submissions"][0]["rounds"] = Json::array();
    for (const double mean : means)
      json["submissions"][0]["rounds"].push_back({{"mean", mean}, {"high", mean}});
    CHECK(holds(predicate::shape(kAlpha, name_of(by_score)), json));
    return by_score;
  };
  CHECK(shape({80, 90}) == Shape::too_short);
  CHECK(shape({80, 81, 82.9}) == Shape::flat);
  CHECK(shape({80, 85, 83, 90}) == Shape::rising);  // the step down is within the tie band
  CHECK(shape({80, 90, 85, 95}) == Shape::unsteady);
  CHECK(shape({90, 85, 80}) == Shape::falling);
  CHECK(shape({80, 84, 81.5, 82}) == Shape::unsteady);  // ends where it began
}

TEST_CASE("a claim's id is used once, and its text is escaped on the page only") {
  const Aggregate all = aggregate(demo::input());
  Claims claims(all);
  CHECK(claims.say("a", "x | y", predicate::absent({})) == "x &#124; y");
  CHECK(claims.document()["claims"][0]["text"] == "x | y");
  CHECK_THROWS_AS(claims.say("a", "again", predicate::absent({})), Broken);
}
