// SPDX-License-Identifier: Apache-2.0
#include "harness/store/observation_json.h"

#include <clocale>
#include <cmath>
#include <doctest/doctest.h>

#include "harness/core/error.h"
#include "harness/store/json_fields.h"
#include "tests/store/sample.h"
#include "tests/support/text.h"

using namespace gauntlet;

namespace {

std::string observation_complaint(const std::string& text) {
  try {
    observation_from_json(text, "o.json");
  } catch (const UserError& error) {
    return error.what();
  }
  return "no complaint";
}

}  // namespace

TEST_CASE("what is written is read back, byte for byte") {
  const std::string text = to_json(sample::full_cell());
  CHECK(to_json(observation_from_json(text, "o.json")) == text);
  CHECK(text.back() == '\n');
}

TEST_CASE("a cell's size, device and attempt are read back; the first attempt is not written") {
  CellObservation cell = sample::full_cell();
  CHECK(to_json(cell).find("attempt") == std::string::npos);
  cell.key = {"bravo", "first", "large", Device::cuda, 12};
  CHECK(observation_from_json(to_json(cell), "o.json").key == cell.key);
}

TEST_CASE("an observation from before a field had its name is read") {
  const std::string text = to_json(sample::full_cell());
  std::string older = text;
  const std::string now = "\"detects\":";
  for (std::size_t at = 0; (at = older.find(now, at)) != std::string::npos;)
    older.replace(at, now.size(), "\"attacks\":");
  REQUIRE(older != text);
  CHECK(to_json(observation_from_json(older, "o.json")) == text);
}

TEST_CASE("numbers that JSON has no word for survive") {
  const CellObservation read = observation_from_json(to_json(sample::full_cell()), "o.json");
  const Miss& miss = *read.checks.at(1).finding->miss;
  CHECK(std::isnan(miss.got));
  CHECK(miss.want == -std::numeric_limits<double>::infinity());
  CHECK(miss.allowed == 5.3e-5);
  CHECK(read.seed == 0xfedcba9876543210);
}

TEST_CASE("what a submission claims, and what answers it, is read back") {
  const CellObservation read = observation_from_json(to_json(sample::full_cell()), "o.json");
  REQUIRE(read.stated_claims.size() == 2);
  CHECK(std::get<Bound>(read.stated_claims[0].value) == Bound::compute);
  CHECK(std::get<double>(read.stated_claims[1].value) == 1.5);
  CHECK(read.time_growth->fault == "SIGSEGV");
  CHECK(read.time_growth->points.at(1) == std::pair(128.0, 2000.0));
  const CheckObservation& timed = read.checks.at(2);
  CHECK(timed.workspace->axis == "rows");
  CHECK(timed.facts.at(1).answers == ClaimKind::peak_workspace);
  CHECK(timed.facts.at(1).range->low == 0.25);
  CHECK_FALSE(timed.facts.at(0).answers);
  CHECK(timed.speeds.at(0).input_bytes == 4e6);
  CHECK(read.provenance.cache_bytes == 32e6);
  CHECK(observation_complaint(replaced(to_json(read), "\"time_exponent\"", "\"speed\""))
            .find("o.json: stated_claims[1].claim: 'speed' is no claim") == 0);
}

TEST_CASE("what races measure beside the ratio is read back, and older races have none of it") {
  CellObservation cell = sample::full_cell();
  const CellObservation older = observation_from_json(to_json(cell), "o.json");
  CHECK_FALSE(older.checks.at(2).speeds.at(0).processor_ratio);
  CHECK(older.provenance.read_gb_per_s == 0);
  CHECK(older.provenance.cache_gb_per_s == 0);
  cell.checks.at(2).speeds.at(0).processor_ratio = 1.25;
  cell.provenance.read_gb_per_s = 40;
  cell.provenance.cache_gb_per_s = 200;
  const CellObservation read = observation_from_json(to_json(cell), "o.json");
  CHECK(read.checks.at(2).speeds.at(0).processor_ratio == 1.25);
  CHECK(read.provenance.read_gb_per_s == 40);
  CHECK(read.provenance.cache_gb_per_s == 200);
}

TEST_CASE("the constraint on a cluster's nodes is read back, and elsewhere nothing is said of it") {
  CellObservation cell = sample::full_cell();
  CHECK(to_json(cell).find("constraint") == std::string::npos);
  cell.provenance.constraint = "epyc&quiet";
  CHECK(observation_from_json(to_json(cell), "o.json").provenance.constraint == "epyc&quiet");
}

TEST_CASE("a finding has the verdict of its check") {
  const CellObservation read = observation_from_json(to_json(sample::full_cell()), "o.json");
  CHECK(read.checks.at(3).verdict == Verdict::unmeasured);
  CHECK(read.checks.at(3).finding->verdict == Verdict::unmeasured);
  CHECK_FALSE(read.checks.at(0).finding.has_value());
  CHECK(read.checks.at(2).speeds.at(0).ceiling_share == 0.5);
  CHECK_FALSE(read.checks.at(2).speeds.at(0).reference_ceiling_share.has_value());
}

TEST_CASE("doubles are written in their shortest exact form") {
  CellObservation cell = sample::cell();
  cell.build.seconds = 0.1;
  CHECK(to_json(cell).find("\"seconds\": 0.1\n") != std::string::npos);
  for (const double value : {1.0 / 3, 1e-300, 5e-324, 123456789.123456789}) {
    cell.build.seconds = value;
    CHECK(observation_from_json(to_json(cell), "o").build.seconds == value);
  }
}

TEST_CASE("a file of another schema is refused with the one that is wanted") {
  const std::string text =
      replaced(to_json(sample::cell()), "gauntlet.observation/2", "gauntlet.observation/3");
  CHECK(observation_complaint(text).find(
            "o.json: schema: is 'gauntlet.observation/3', this program reads "
            "'gauntlet.observation/2'") == 0);
}

TEST_CASE("a bad file is told with the file and the field") {
  const std::string good = to_json(sample::full_cell());
  CHECK(observation_complaint("{").find("o.json: is no JSON") == 0);
  CHECK(observation_complaint("[]") == "o.json: must be a JSON object");
  CHECK(observation_complaint(replaced(good, "\"seed\": \"0x", "\"seed\": \"1x")) ==
        "o.json: seed: must be a number written as \"0x...\", of 64 digits at most");
  CHECK(observation_complaint(replaced(good, "\"verdict\": \"wrong\"", "\"verdict\": \"fine\""))
            .find("o.json: checks[1].verdict: 'fine' is no verdict") == 0);
  CHECK(observation_complaint(replaced(good, "\"ok\": true", "\"ok\": 1")) ==
        "o.json: build.ok: must be true or false");
  CHECK(observation_complaint(replaced(good, "\"kernel\"", "\"colonel\"")) ==
        "o.json: provenance.kernel: is missing");
}

TEST_CASE("an edited file cannot buy a grade") {
  const std::string good = to_json(sample::full_cell());
  CHECK(observation_complaint(replaced(good, "\"earned\": 1.0", "\"earned\": 100")) ==
        "o.json: checks[0].earned: must lie between 0 and 1");
  CHECK(observation_complaint(replaced(good, "\"earned\": 1.0", "\"earned\": \"nan\"")) ==
        "o.json: checks[0].earned: must lie between 0 and 1");
  CHECK(observation_complaint(replaced(good, "\"weight\": 1.0", "\"weight\": -1")) ==
        "o.json: checks[0].weight: must be more than 0 and at most 1000");
  CHECK(observation_complaint(replaced(good, "\"weight\": 1.0", "\"weight\": 1e308")) ==
        "o.json: checks[0].weight: must be more than 0 and at most 1000");
  CHECK(
      observation_complaint(replaced(good, "\"verdict\": \"wrong\"", "\"verdict\": \"passed\"")) ==
      "o.json: checks[1].finding: must be there exactly when the verdict is not 'passed'");
  CHECK(observation_complaint(replaced(good, "\"cases\": 3", "\"cases\": 0")) ==
        "o.json: checks[0].cases: a check that ran no case cannot have passed");
  CHECK(observation_complaint(replaced(good, "\"id\": \"base\"", "\"id\": \"x; rm -r .\"")) ==
        "o.json: checks[0].id: must be snake_case, at most 80 letters");
}

TEST_CASE("a field that a newer program added is ignored") {
  const std::string text =
      replaced(to_json(sample::cell()), "\"device\"", "\"mood\": \"good\",\n  \"device\"");
  CHECK(observation_complaint(text) == "no complaint");
}

TEST_CASE("bytes that are no UTF-8 leave valid JSON") {
  CHECK(Json::parse(to_json(sample::full_cell())).is_object());
}
