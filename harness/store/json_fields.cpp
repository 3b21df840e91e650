// SPDX-License-Identifier: Apache-2.0
#include "harness/store/json_fields.h"

#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <set>

#include "harness/core/error.h"
#include "harness/core/text.h"

namespace gauntlet {
namespace {

// Ours have eight levels and thirty keys. nlohmann looks for a key from the first one on, and
// copies what is nested by calling itself.
constexpr int kMostNested = 32;
constexpr std::size_t kMostKeys = 200;

/// Refuses what no document of ours looks like while it is being read.
class ShapeGuard {
 public:
  explicit ShapeGuard(const std::string& shown_name) : shown_name_(shown_name) {}

  bool operator()(int depth, Json::parse_event_t event, const Json& parsed) {
    using Event = Json::parse_event_t;
    if (depth > kMostNested) refuse(fmt::format("nests deeper than {} levels", kMostNested));
    if (event == Event::object_start) keys_[depth + 1].clear();
    if (event != Event::key) return true;
    std::set<std::string>& keys = keys_[depth];
    const std::string& key = parsed.get_ref<const std::string&>();
    if (!keys.insert(key).second) refuse(fmt::format("'{}' is given twice", printable(key, 80)));
    if (keys.size() > kMostKeys) refuse(fmt::format("an object has more than {} keys", kMostKeys));
    return true;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw UserError(fmt::format(
        "{}: {}; Gauntlet writes no such file: take it from where it was published, or grade again",
        shown_name_, why));
  }

  const std::string& shown_name_;
  std::map<int, std::set<std::string>> keys_;  // of the objects that are open, by depth
};

}  // namespace

Json json_number(double value) {
  if (std::isfinite(value)) return value;
  if (std::isnan(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

std::string hex_number(std::uint64_t value) {
  return fmt::format("{:#018x}", value);
}

void put_cell_key(Json& document, const CellKey& key) {
  document["submission"] = key.submission;
  document["challenge"] = key.column();
  document["device"] = name_of(key.device);
  if (key.attempt != 1) document["attempt"] = key.attempt;
}

std::string json_text(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string json_line(const Json& document) {
  return document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

JsonFields::JsonFields(Json node, std::string file, std::string path)
    : node_(std::move(node)), file_(std::move(file)), path_(std::move(path)) {}

Json parsed_json(const std::string& text, const std::string& shown_name) {
  try {
    return Json::parse(text, [guard = ShapeGuard(shown_name)](int depth, Json::parse_event_t event,
                                                              const Json& parsed) mutable {
      return guard(depth, event, parsed);
    });
  } catch (const Json::exception& error) {
    throw UserError(fmt::format("{}: is no JSON: {}", shown_name, printable(error.what(), 300)));
  }
}

JsonFields JsonFields::of_document(const std::string& text, std::string shown_name,
                                   std::string_view schema) {
  Json parsed = parsed_json(text, shown_name);
  return of_document(std::move(parsed), std::move(shown_name), schema);
}

JsonFields JsonFields::of_document(Json parsed, std::string shown_name, std::string_view schema) {
  if (!parsed.is_object()) throw UserError(fmt::format("{}: must be a JSON object", shown_name));
  JsonFields fields(std::move(parsed), std::move(shown_name), "");
  if (const std::string found = fields.text("schema"); found != schema)
    fields.refuse("schema", fmt::format("is '{}', this program reads '{}'; grade again or use the "
                                        "Gauntlet that wrote it",
                                        printable(found, 80), schema));
  return fields;
}

bool JsonFields::has(const std::string& key) const {
  const auto found = node_.find(key);
  return found != node_.end() && !found->is_null();
}

const Json& JsonFields::required(const std::string& key) const {
  const auto found = node_.find(key);
  if (found == node_.end()) refuse(key, "is missing");
  return *found;
}

std::string JsonFields::text(const std::string& key) const {
  const Json& node = required(key);
  if (!node.is_string()) refuse(key, "must be text");
  return node.get<std::string>();
}

double JsonFields::number(const std::string& key) const {
  const Json& node = required(key);
  if (node.is_number()) return node.get<double>();
  if (node == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (node == "inf") return std::numeric_limits<double>::infinity();
  if (node == "-inf") return -std::numeric_limits<double>::infinity();
  refuse(key, "must be a number, \"nan\", \"inf\" or \"-inf\"");
}

std::int64_t JsonFields::integer(const std::string& key) const {
  const Json& node = required(key);
  if (!node.is_number_integer()) refuse(key, "must be a whole number");
  return node.get<std::int64_t>();
}

bool JsonFields::truth(const std::string& key) const {
  const Json& node = required(key);
  if (!node.is_boolean()) refuse(key, "must be true or false");
  return node.get<bool>();
}

std::uint64_t JsonFields::hex(const std::string& key) const {
  const std::string written = text(key);
  std::uint64_t value = 0;
  const char* end = written.data() + written.size();
  if (written.rfind("0x", 0) != 0) refuse(key, "must be a number written as \"0x...\"");
  const auto parsed = std::from_chars(written.data() + 2, end, value, 16);
  if (parsed.ec != std::errc() || parsed.ptr != end || written.size() == 2)
    refuse(key, "must be a 64-bit number written as \"0x...\"");
  return value;
}

Seed JsonFields::seed(const std::string& key) const {
  const std::string written = text(key);
  if (written.rfind("0x", 0) == 0)
    if (const auto seed = Seed::parse(written)) return *seed;
  refuse(key, "must be a number written as \"0x...\", of 64 digits at most");
}

CellKey JsonFields::cell_key() const {
  CellKey key;
  key.submission = text("submission");
  const std::string column = text("challenge");
  const std::size_t dot = column.find('.');
  key.challenge = column.substr(0, dot);
  if (dot != std::string::npos) key.size = column.substr(dot + 1);
  key.device = word("device", device_named);
  if (!has("attempt")) return key;
  const std::int64_t attempt = integer("attempt");
  if (attempt < 1 || attempt > CellKey::kMostAttempts)
    refuse("attempt", fmt::format("must be a number from 1 to {}", CellKey::kMostAttempts));
  key.attempt = static_cast<int>(attempt);
  return key;
}

std::vector<std::string> JsonFields::texts(const std::string& key) const {
  const Json& node = required(key);
  if (!node.is_array()) refuse(key, "must be a list");
  std::vector<std::string> values;
  for (const auto& item : node) {
    if (!item.is_string()) refuse(key, "must be a list of texts");
    values.push_back(item.get<std::string>());
  }
  return values;
}

JsonFields JsonFields::fields(const std::string& key) const {
  const Json& node = required(key);
  if (!node.is_object()) refuse(key, "must be an object");
  return JsonFields(node, file_, path_ + key + ".");
}

std::vector<JsonFields> JsonFields::list(const std::string& key) const {
  const Json& node = required(key);
  if (!node.is_array()) refuse(key, "must be a list");
  std::vector<JsonFields> items;
  for (const auto& item : node) {
    if (!item.is_object()) refuse(key, "must be a list of objects");
    items.push_back(JsonFields(item, file_, fmt::format("{}{}[{}].", path_, key, items.size())));
  }
  return items;
}

void JsonFields::refuse_unknown(const std::vector<std::string>& known) const {
  for (const auto& item : node_.items())
    if (!contains(known, item.key()))
      refuse(printable(item.key(), 80),
             fmt::format("is no field here{}; fields: {}", did_you_mean(item.key(), known),
                         sentence_list(known)));
}

void JsonFields::refuse(const std::string& key, const std::string& text) const {
  throw UserError(fmt::format("{}: {}{}: {}", file_, path_, key, text));
}

}  // namespace gauntlet
