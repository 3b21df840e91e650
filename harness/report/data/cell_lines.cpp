// SPDX-License-Identifier: Apache-2.0
#include "harness/report/data/cell_lines.h"

#include <algorithm>
#include <fmt/format.h>
#include <sstream>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/report/data/fold.h"
#include "harness/report/data/packing.h"
#include "harness/store/observation_json.h"

namespace gauntlet {
namespace {

constexpr std::size_t kKeptSummary = 120;  // bytes of what was found
constexpr const char* kColumnSchema = "gauntlet.column/3";
constexpr const char* kLongSchema = "gauntlet.column/2";   // facts have no numbers
constexpr const char* kPlainSchema = "gauntlet.column/1";  // nothing is packed

/// What most checks say; a line leaves it out.
const Json& usual_check() {
  static const Json usual = Json::parse(R"({"section": "correctness", "severity": "major",
      "weight": 1.0, "verdict": "passed", "earned": 1.0, "cases": 1, "seconds": 0.0,
      "speeds": [], "facts": [], "exhibits": [], "curves": []})");
  return usual;
}

/// What was found, in a line; its evidence is with whoever graded. The numbers of the first miss
/// stand in the summary.
void shorten_finding(Json& check) {
  if (!check.contains("finding")) return;
  Json& finding = check["finding"];
  finding.erase("miss");
  finding.erase("evidence");
  finding["summary"] = printable(finding.at("summary").get_ref<const std::string&>(), kKeptSummary);
}

/// A cell without its checks.
Json frame_of(const PublishedCell& cell) {
  Json frame = shortened(Json::parse(to_json(cell.seen)));
  frame.erase("checks");
  frame["build"]["seconds"] = 0.0;
  frame["provenance"].erase("files");  // their digest together is there
  frame["receipt"] = {{"commitment", cell.commitment}, {"closing", cell.closing}};
  return frame;
}

std::vector<Json> checks_of(const PublishedCell& cell) {
  Json document = shortened(Json::parse(to_json(cell.seen)));
  std::vector<Json> checks;
  for (auto& check : document.at("checks")) {
    check["seconds"] = 0.0;
    shorten_finding(check);
    for (const auto& item : usual_check().items())  // so that those who have some can be folded
      if (item.value().is_array() && check.at(item.key()).empty()) check.erase(item.key());
    checks.push_back(std::move(check));
  }
  return checks;
}

/// The ids of all checks: each cell's in its order, those that it alone has after what precedes
/// them there.
std::vector<std::string> ids_of(const std::vector<std::vector<Json>>& cells) {
  std::vector<std::string> ids;
  for (const auto& checks : cells) {
    auto next = ids.begin();
    for (const Json& check : checks) {
      const std::string id = check.at("id");
      const auto known = std::find(ids.begin(), ids.end(), id);
      next = std::next(known == ids.end() ? ids.insert(next, id) : known);
    }
  }
  return ids;
}

// What says which check it is, in the order of a line's list "is".
constexpr const char* kInfo[] = {"detects", "section", "severity", "weight"};

/// What it is becomes one list, up to the last thing that is not usual.
void join_info(Json& line) {
  Json is = Json::array();
  std::size_t used = 0;
  for (const char* key : kInfo) {
    is.push_back(line.value(key, usual_check().value(key, Json())));
    if (line.erase(key) > 0) used = is.size();
  }
  is.erase(is.begin() + static_cast<std::ptrdiff_t>(used), is.end());
  Json joined{{"id", line.at("id")}, {"is", is}};
  joined.update(line);
  line = joined;
}

/// Lines of earlier schemas have no list.
void split_info(Json& line) {
  const Json is = line.value("is", Json::array());
  for (std::size_t i = 0; i < is.size(); ++i) line[kInfo[i]] = is[i];
  line.erase("is");
}

/// A check as the cells that were asked it saw it.
Json check_line(const std::string& id, const std::vector<std::vector<Json>>& cells) {
  std::vector<const Json*> seen;
  Json asked = Json::array();
  for (std::size_t i = 0; i < cells.size(); ++i)
    for (const Json& check : cells[i])
      if (check.at("id") == id) {
        seen.push_back(&check);
        asked.push_back(i);
      }
  Json line = fold(seen);
  if (asked.size() < cells.size()) line["asked"] = asked;
  for (const auto& item : usual_check().items())
    if (line.value(item.key(), Json()) == item.value()) line.erase(item.key());
  join_info(line);
  return line;
}

void add_check(const Json& line, const Shorthand& shorthand, std::vector<Json>& cells) {
  std::vector<std::size_t> asked;
  if (line.contains("asked"))
    asked = line.at("asked").get<std::vector<std::size_t>>();
  else
    for (std::size_t i = 0; i < cells.size(); ++i) asked.push_back(i);
  Json folded = line;
  folded.erase("asked");
  split_info(folded);
  for (std::size_t k = 0; k < asked.size(); ++k) {
    Json check = usual_check();
    check.update(unfold(folded, k).value_or(Json::object()));
    unpack(shorthand, check);
    if (check.contains("finding")) check["finding"].emplace("evidence", Json::array());
    cells.at(asked[k])["checks"].push_back(std::move(check));
  }
}

PublishedCell cell_from(Json document, const std::string& shown_name) {
  PublishedCell cell;
  const Json receipt = document.at("receipt");
  document.erase("receipt");
  restore_points(document);
  cell.seen = observation_from_json(
      document.dump(), fmt::format("{}, {}", shown_name, document.at("submission").dump()));
  cell.commitment = receipt.at("commitment");
  cell.closing = receipt.at("closing");
  if (cell.closing.empty()) cell.seen.unproven = "no receipt fitted when it was published";
  return cell;
}

}  // namespace

std::string lines_of(const std::vector<PublishedCell>& cells) {
  std::vector<Json> frames;
  std::vector<std::vector<Json>> checks;
  std::vector<const Json*> to_fold;
  for (const auto& cell : cells) {
    frames.push_back(frame_of(cell));
    checks.push_back(checks_of(cell));
  }
  const Shorthand shorthand{speed_fields(checks), common_facts(checks)};
  for (auto& cell : checks)
    for (Json& check : cell) pack(shorthand, check);
  for (const Json& frame : frames) to_fold.push_back(&frame);
  const Json head{{"schema", kColumnSchema},
                  {"cells", cells.size()},
                  {"speeds", shorthand.speeds},
                  {"facts", shorthand.facts},
                  {"frame", fold(to_fold)}};
  std::string text = json_line(head);
  for (const auto& id : ids_of(checks)) text += json_line(check_line(id, checks));
  return text;
}

std::vector<PublishedCell> cells_from_lines(const std::string& text,
                                            const std::string& shown_name) {
  std::vector<PublishedCell> cells;
  std::vector<Json> documents;
  Shorthand shorthand;
  std::istringstream lines(text);
  std::string line;
  int number = 0;
  try {
    while (std::getline(lines, line)) {
      const Json json = Json::parse(line);
      if (number++ > 0) {
        add_check(json, shorthand, documents);
        continue;
      }
      const Json& schema = json.at("schema");
      if (schema == kColumnSchema || schema == kLongSchema)
        shorthand.speeds = json.at("speeds").get<std::vector<std::string>>();
      if (schema == kColumnSchema)
        shorthand.facts = json.at("facts").get<std::vector<std::string>>();
      else if (schema != kLongSchema && schema != kPlainSchema)
        throw UserError(
            fmt::format("{}:1: schema: must be \"{}\"; ./gauntlet report of this "
                        "version writes it",
                        shown_name, kColumnSchema));
      for (std::size_t i = 0; i < json.at("cells").get<std::size_t>(); ++i) {
        documents.push_back(unfold(json.at("frame"), i).value_or(Json::object()));
        documents.back()["checks"] = Json::array();
      }
    }
    for (Json& document : documents) cells.push_back(cell_from(std::move(document), shown_name));
  } catch (const UserError&) {
    throw;
  } catch (const std::exception& error) {  // of nlohmann, or a number beyond its list
    throw UserError(fmt::format("{}:{}: is damaged ({}); get it back from git", shown_name, number,
                                error.what()));
  }
  return cells;
}

}  // namespace gauntlet
