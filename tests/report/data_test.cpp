// SPDX-License-Identifier: Apache-2.0
// What a report keeps of its observations is enough to write it again.
#include <doctest/doctest.h>
#include <fstream>

#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/report/data/cell_lines.h"
#include "harness/report/data/fold.h"
#include "harness/report/data/packing.h"
#include "harness/report/data/report_data.h"
#include "harness/report/report.h"
#include "harness/store/observation_json.h"
#include "tests/report/random_table.h"

using namespace gauntlet;

namespace {

std::vector<PublishedCell> published(const ReportInput& input) {
  std::vector<PublishedCell> cells;
  for (const auto& cell : input.cells)
    cells.push_back({cell, published_grade(input.rubric, cell), input.rubric.digest,
                     "commitment of " + cell.key.submission, ""});
  std::sort(cells.begin(), cells.end(), by_name);
  return cells;
}

/// Folded and unfolded again.
std::vector<Json> there_and_back(const std::vector<Json>& values) {
  std::vector<const Json*> pointers;
  for (const Json& value : values) pointers.push_back(&value);
  const Json folded = fold(pointers);
  std::vector<Json> back;
  for (std::size_t i = 0; i < values.size(); ++i) back.push_back(unfold(folded, i).value());
  return back;
}

ReportInput demo_with_everything() {
  ReportInput input = demo::input();
  CheckObservation& check = input.cells[0].checks[0];
  check.exhibits = {{"what it wrote", {"\x1b[31m", ""}}};
  check.curves = {{"loss", "seconds", "nats", {{0, 6}, {1, 4.25}}}};
  check.workspace = Growth{"rows", {}, "it ended"};
  return input;
}

}  // namespace

TEST_CASE("what was folded comes back, whatever differs and wherever") {
  for (const char* text :
       {R"([1, 1])", R"([1, 2])", R"([{"a": 1}, {"a": 2}])", R"([{"a": 1}, {"b": 2}])",
        R"(["a long word", "b", "a long word", "a long word"])", R"([[], []])",
        R"([[], [{"a": 1}]])", R"([[{"a": 1}], [{"a": 1}, {"a": 2}]])",
        R"([{"a": [{"x": 1}, {"x": 2}]}, {"a": [{"x": 1}, {"x": 3}]}])", R"([["a"], ["b", "c"]])",
        R"([{"a": {}}, {"a": {}}])", R"([{"a": 1, "b": {"c": true}}, {"a": "1", "b": {}}])"}) {
    const auto values = Json::parse(text).get<std::vector<Json>>();
    INFO(text);
    CHECK(there_and_back(values) == values);
  }
}

TEST_CASE("what all share stands once") {
  const Json one{{"a", 1}, {"b", "same"}};
  const Json two{{"a", 2}, {"b", "same"}};
  CHECK(fold({&one, &two}).dump() == R"({"a":{"each":[1,2]},"b":"same"})");
}

TEST_CASE("what a check measured comes back from its pack") {
  const auto speed = [](const char* name, double ratio) {
    return Json{{"case", name}, {"rounds", 6}, {"ratio", ratio}};
  };
  const auto fact = [](const char* name, const char* unit, double value) {
    return Json{{"name", name}, {"value", value}, {"unit", unit}};
  };
  Json more = fact("peak", "MiB", 3);
  more["answers"] = "peak_workspace";
  Json with_bytes = speed("large", 0.5);
  with_bytes["input_bytes"] = 64;
  const Json check{{"speeds", {speed("small", 0.25), with_bytes}},
                   {"facts", {fact("error", "", 1.5), fact("error", "ulp", 2), more}}};
  const std::vector<std::vector<Json>> checks{{check, check}, {check, check}};
  Shorthand shorthand{speed_fields(checks), {}};
  CHECK(shorthand.speeds == std::vector<std::string>{"rounds", "ratio", "input_bytes"});
  Json packed = check;
  pack(shorthand, packed);
  CHECK(packed["speeds"].dump() == R"({"small":[6,0.25],"large":[6,0.5,64]})");
  CHECK(packed["facts"].dump() ==
        R"({"error\t":1.5,"error\tulp":2,"peak\tMiB":{"value":3,"answers":"peak_workspace"}})");
  unpack(shorthand, packed);
  CHECK(packed == check);

  CHECK(common_facts({{check, check, check}}).empty());
  shorthand.facts = common_facts(checks);
  CHECK(shorthand.facts == std::vector<std::string>{"error\t", "error\tulp", "peak\tMiB"});
  pack(shorthand, packed);
  CHECK(packed["facts"].dump() ==
        R"({"#0":1.5,"#1":2,"#2":{"value":3,"answers":"peak_workspace"}})");
  unpack(shorthand, packed);
  CHECK(packed == check);
}

TEST_CASE("facts are kept to four digits") {
  Json check{{"facts", {{{"name", "error"}, {"value", 0.123456}, {"unit", ""}}}}};
  pack({}, check);
  CHECK(check["facts"].dump() == R"({"error\t":0.1235})");
}

TEST_CASE("names that an object of theirs could not hold stay in a list") {
  for (const char* name : {"each", "kinds", "which", "some", "have", "0", "17", ""}) {
    Json check{{"speeds", {{{"case", name}, {"ratio", 1}}}}};
    const Json before = check;
    pack({{"ratio"}, {}}, check);
    CHECK(check == before);
  }
  Json numbered{{"facts", {{{"name", "#0"}, {"value", 1}, {"unit", "b"}}}}};
  const Json as_it_was = numbered;
  pack({{}, {"a\tb"}}, numbered);
  CHECK(numbered == as_it_was);
  Json twice{{"facts",
              {{{"name", "a"}, {"value", 1}, {"unit", "b"}},
               {{"name", "a"}, {"value", 2}, {"unit", "b"}}}}};
  const Json before = twice;
  pack({}, twice);
  CHECK(twice == before);
}

TEST_CASE("a curve keeps the points that a reader can see, and growth keeps all") {
  Json points = Json::array();
  for (int i = 0; i <= 1000; ++i)
    points.push_back({{"x", i}, {"y", i < 500 ? i : 500 + (i == 700 ? 20 : 0)}});
  const Json kept = shortened(Json{{"title", "loss"}, {"points", points}})["points"];
  CHECK(kept.size() < 20);
  for (const Json& seen : {Json{0, 0}, Json{700, 520}, Json{1000, 500}})
    CHECK(std::find(kept.begin(), kept.end(), seen) != kept.end());
  CHECK(shortened(Json{{"axis", "rows"}, {"points", points}})["points"].size() == points.size());
}

TEST_CASE("data of earlier versions are read") {
  // As it was written before measurements were packed.
  const std::string lines =
      R"({"schema":"gauntlet.column/1","cells":1,"frame":)" +
      [] {
        Json frame = Json::parse(to_json(demo::good("alpha", "first", 0.5)));
        frame.erase("checks");
        frame["receipt"] = {{"commitment", "c"}, {"closing", "d"}};
        return frame.dump();
      }() +
      "}\n" +
      R"({"id":"speed","detects":"slowness","section":"performance","severity":"minor",)"
      R"("speeds":{"0":{"case":"a case","rounds":9,"solution_ns":2000.0,"reference_ns":1000.0,)"
      R"("ratio":0.5,"low":0.4,"high":0.6,"noise_low":0.9,"noise_high":1.1}},)"
      R"("facts":{"0":{"name":"peak","value":3.0,"unit":"MiB"}}})"
      "\n";
  const auto cells = cells_from_lines(lines, "first.jsonl");
  REQUIRE(cells.size() == 1);
  REQUIRE(cells[0].seen.checks.size() == 1);
  CHECK(cells[0].seen.checks[0].speeds.at(0).ratio == 0.5);
  CHECK(cells[0].seen.checks[0].facts.at(0).name == "peak");
}

TEST_CASE("of a finding its summary is kept, cut where it is long") {
  ReportInput input = demo::input();
  input.cells = {demo::good("alpha", "first", 0.5)};
  const auto kept = [&](const std::string& summary) {
    input.cells[0].checks[0].verdict = Verdict::wrong;
    input.cells[0].checks[0].finding =
        Finding{Verdict::wrong, "a case", summary, {"a row of numbers"}, std::nullopt};
    const auto once = ReportData::as_kept(published(input));
    CHECK(lines_of(ReportData::as_kept(once)) == lines_of(once));
    return once.at(0).seen.checks.at(0).finding.value();
  };
  CHECK(kept("is wrong").summary == "is wrong");
  CHECK(kept("is wrong").case_name == "a case");
  CHECK(kept("is wrong").evidence.empty());
  CHECK(kept(std::string(120, 'x')).summary == std::string(120, 'x'));
  CHECK(kept(std::string(8000, 'x')).summary.size() <= 120);
}

TEST_CASE("cells that were saved are loaded as they were kept, and give the same report") {
  ReportInput attempts = demo::input();
  for (const char* row : {"alpha#2", "alpha@cuda", "alpha@cuda#2"})
    attempts.cells.push_back(demo::good(row, "first", 0.8));
  attempts.cards["alpha#2"] = demo::model_card("Alpha, once more", "high");
  for (const ReportInput& input : {demo_with_everything(), random_table(3, 5, 4, 12), attempts}) {
    const ScratchFolder folder("data");
    const ReportData data(folder.path());
    const auto cells = published(input);
    data.save(cells, input.cards);
    const auto loaded = data.load();
    const auto kept = ReportData::as_kept(cells);
    REQUIRE(loaded.size() == cells.size());
    ReportInput again = input;
    again.cells.clear();
    again.cards = data.cards();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      CHECK(loaded[i].seen.key == cells[i].seen.key);
      CHECK(to_json(loaded[i].seen) == to_json(kept[i].seen));
      CHECK(loaded[i].grade == cells[i].grade);
      CHECK(loaded[i].rubric == cells[i].rubric);
      CHECK(loaded[i].commitment == cells[i].commitment);
      CHECK(published_grade(input.rubric, loaded[i].seen) == cells[i].grade);
      again.cells.push_back(loaded[i].seen);
    }
    ReportInput from_kept = again;
    from_kept.cells.clear();
    for (const auto& cell : kept) from_kept.cells.push_back(cell.seen);
    CHECK(render_report(again) == render_report(from_kept));
  }
}

TEST_CASE("who is taken out of the grades has none") {
  const ScratchFolder folder("data");
  const ReportData data(folder.path());
  data.save(published(demo::input()), {});
  const std::string grades = read_file(folder.path() / "grades.jsonl");
  write_file(folder.path() / "grades.jsonl", grades.substr(grades.find('\n') + 1));  // alpha
  for (const auto& cell : data.load())
    CHECK(cell.grade.empty() == (cell.seen.key.submission == "alpha"));
}

TEST_CASE("what is gone is not kept, and a damaged line names file and line") {
  const ScratchFolder folder("data");
  const ReportData data(folder.path());
  auto cells = published(demo::input());
  data.save(cells, demo::input().cards);
  std::erase_if(cells, [](const auto& cell) { return cell.seen.key.challenge == "second"; });
  data.save(cells, {});
  CHECK_FALSE(std::filesystem::exists(folder.path() / "second.jsonl"));
  CHECK(data.cards().empty());
  for (const char* line : {"{", "{\"asked\":[99]}", "[]", "{\"id\":\"x\",\"weight\":-1}"}) {
    INFO(line);
    data.save(cells, {});
    const auto file = folder.path() / "first.jsonl";
    write_file(file, read_file(file) + line + "\n");
    try {
      data.load();
      FAIL_CHECK("was read");
    } catch (const UserError& error) {
      CHECK(std::string(error.what()).find("first.jsonl") != std::string::npos);
    }
  }
}
