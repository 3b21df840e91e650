// SPDX-License-Identifier: Apache-2.0
#include "harness/store/observation_json.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/store/json_fields.h"

namespace gauntlet {
namespace {

std::string observation_schema() {
  return fmt::format("gauntlet.observation/{}", CellObservation::kSchema);
}

Json to(const Miss& miss) {
  return {{"where", miss.where},
          {"got", json_number(miss.got)},
          {"want", json_number(miss.want)},
          {"allowed", json_number(miss.allowed)},
          {"count", miss.count},
          {"of", miss.of}};
}

// No verdict: a finding's is its check's.
Json to(const Finding& finding) {
  Json json{{"case", finding.case_name},
            {"summary", finding.summary},
            {"evidence", Json(finding.evidence)}};
  if (finding.miss) json["miss"] = to(*finding.miss);
  return json;
}

/// Zero says that there is none; it reads back as what is absent.
void set_unless_zero(Json& json, const char* key, double value) {
  if (value != 0) json[key] = json_number(value);
}

Json to(const SpeedMeasurement& speed) {
  Json json{{"case", speed.case_name},
            {"rounds", speed.rounds},
            {"solution_ns", json_number(speed.solution_ns)},
            {"reference_ns", json_number(speed.reference_ns)},
            {"ratio", json_number(speed.ratio)},
            {"low", json_number(speed.low)},
            {"high", json_number(speed.high)},
            {"noise_low", json_number(speed.noise_low)},
            {"noise_high", json_number(speed.noise_high)}};
  if (speed.ceiling_share) json["ceiling_share"] = json_number(*speed.ceiling_share);
  if (speed.reference_ceiling_share)
    json["reference_ceiling_share"] = json_number(*speed.reference_ceiling_share);
  set_unless_zero(json, "floor_bytes", speed.floor_bytes);
  set_unless_zero(json, "floor_flops", speed.floor_flops);
  set_unless_zero(json, "input_bytes", speed.input_bytes);
  if (speed.processor_ratio) json["processor_ratio"] = json_number(*speed.processor_ratio);
  return json;
}

Json to(const Fact& fact) {
  Json json{{"name", fact.name}, {"value", json_number(fact.value)}, {"unit", fact.unit}};
  if (fact.answers) json["answers"] = name_of(*fact.answers);
  if (fact.range) {
    json["low"] = json_number(fact.range->low);
    json["high"] = json_number(fact.range->high);
  }
  return json;
}

Json to(const StatedClaim& claim) {
  Json json{{"claim", name_of(claim.kind)}};
  if (const auto* bound = std::get_if<Bound>(&claim.value))
    json["value"] = name_of(*bound);
  else
    json["value"] = json_number(std::get<double>(claim.value));
  return json;
}

Json to(const Exhibit& exhibit) {
  return {{"title", exhibit.title}, {"lines", Json(exhibit.lines)}};
}

Json to(const std::pair<double, double>& point) {
  return {{"x", json_number(point.first)}, {"y", json_number(point.second)}};
}

Json to(const Curve& curve);
Json to(const CheckObservation& check);

template <class T>
Json list_of(const std::vector<T>& items) {
  Json json = Json::array();
  for (const T& item : items) json.push_back(to(item));
  return json;
}

Json to(const Curve& curve) {
  return {
      {"title", curve.title}, {"x", curve.x}, {"y", curve.y}, {"points", list_of(curve.points)}};
}

Json to(const Growth& growth) {
  Json json{{"axis", growth.axis}, {"points", list_of(growth.points)}};
  if (!growth.fault.empty()) json["fault"] = growth.fault;
  return json;
}

Json to(const CheckObservation& check) {
  Json json{{"id", check.info.id},
            {"detects", check.info.detects},
            {"section", name_of(check.info.section)},
            {"weight", json_number(check.info.weight)},
            {"severity", name_of(check.info.severity)},
            {"verdict", name_of(check.verdict)},
            {"earned", json_number(check.earned)},
            {"cases", check.cases},
            {"seconds", json_number(check.seconds)}};
  if (check.finding) json["finding"] = to(*check.finding);
  json["speeds"] = list_of(check.speeds);
  json["facts"] = list_of(check.facts);
  json["exhibits"] = list_of(check.exhibits);
  json["curves"] = list_of(check.curves);
  if (check.workspace) json["workspace"] = to(*check.workspace);
  return json;
}

Json to(const BuildRecord& build) {
  return {{"ok", build.ok},
          {"stopped", build.stopped},
          {"compiler", build.compiler},
          {"flags", build.flags},
          {"warnings", build.warnings},
          {"messages", build.messages},
          {"seconds", json_number(build.seconds)}};
}

Json to(const Provenance& provenance) {
  Json json{{"gauntlet_version", provenance.gauntlet_version},
            {"grader_digest", provenance.grader_digest},
            {"submission_digest", provenance.submission_digest},
            {"prompt_digest", provenance.prompt_digest},
            {"cpu", provenance.cpu},
            {"cores", provenance.cores},
            {"kernel", provenance.kernel},
            {"sandbox", provenance.sandbox},
            {"started", provenance.started},
            {"copy_gb_per_s", json_number(provenance.copy_gb_per_s)},
            {"fma_gflop_per_s", json_number(provenance.fma_gflop_per_s)}};
  set_unless_zero(json, "cache_bytes", provenance.cache_bytes);
  set_unless_zero(json, "read_gb_per_s", provenance.read_gb_per_s);
  set_unless_zero(json, "cache_gb_per_s", provenance.cache_gb_per_s);
  if (!provenance.constraint.empty()) json["constraint"] = provenance.constraint;
  return json;
}

Miss miss_from(const JsonFields& in) {
  return {in.text("where"),     in.number("got"),    in.number("want"),
          in.number("allowed"), in.integer("count"), in.integer("of")};
}

Finding finding_from(const JsonFields& in, Verdict verdict) {
  Finding finding{verdict, in.text("case"), in.text("summary"), in.texts("evidence"), {}};
  if (in.has("miss")) finding.miss = miss_from(in.fields("miss"));
  return finding;
}

/// For what older documents of the schema do not have.
double number_or_zero(const JsonFields& in, const std::string& key) {
  return in.has(key) ? in.number(key) : 0;
}

SpeedMeasurement speed_from(const JsonFields& in) {
  SpeedMeasurement speed;
  speed.case_name = in.text("case");
  speed.rounds = static_cast<int>(in.integer("rounds"));
  speed.solution_ns = in.number("solution_ns");
  speed.reference_ns = in.number("reference_ns");
  speed.ratio = in.number("ratio");
  speed.low = in.number("low");
  speed.high = in.number("high");
  speed.noise_low = in.number("noise_low");
  speed.noise_high = in.number("noise_high");
  if (in.has("ceiling_share")) speed.ceiling_share = in.number("ceiling_share");
  if (in.has("reference_ceiling_share"))
    speed.reference_ceiling_share = in.number("reference_ceiling_share");
  speed.floor_bytes = number_or_zero(in, "floor_bytes");
  speed.floor_flops = number_or_zero(in, "floor_flops");
  speed.input_bytes = number_or_zero(in, "input_bytes");
  if (in.has("processor_ratio")) speed.processor_ratio = in.number("processor_ratio");
  return speed;
}

Fact fact_from(const JsonFields& in) {
  Fact fact{in.text("name"), in.number("value"), in.text("unit")};
  if (in.has("answers")) fact.answers = in.word("answers", claim_kind_named);
  if (in.has("low")) fact.range = Interval{in.number("low"), in.number("high")};
  return fact;
}

Growth growth_from(const JsonFields& in) {
  Growth growth{in.text("axis"), {}, in.has("fault") ? in.text("fault") : ""};
  for (const auto& point : in.list("points"))
    growth.points.emplace_back(point.number("x"), point.number("y"));
  return growth;
}

StatedClaim stated_claim_from(const JsonFields& in) {
  const ClaimKind kind = in.word("claim", claim_kind_named);
  if (kind == ClaimKind::bound) return {kind, in.word("value", bound_named)};
  return {kind, in.number("value")};
}

Curve curve_from(const JsonFields& in) {
  Curve curve{in.text("title"), in.text("x"), in.text("y"), {}};
  for (const auto& point : in.list("points"))
    curve.points.emplace_back(point.number("x"), point.number("y"));
  return curve;
}

bool is_check_id(const std::string& id) {
  return !id.empty() && id.size() <= 80 && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

/// What the rest of the program relies on, so that an edited file cannot buy a grade. The id
/// becomes part of commands that people copy.
void require_sound(const JsonFields& in, const CheckObservation& check) {
  if (!is_check_id(check.info.id)) in.refuse("id", "must be snake_case, at most 80 letters");
  if (!(check.info.weight > 0 && check.info.weight <= 1000))
    in.refuse("weight", "must be more than 0 and at most 1000");
  if (!(check.earned >= 0 && check.earned <= 1)) in.refuse("earned", "must lie between 0 and 1");
  if ((check.verdict == Verdict::passed) == check.finding.has_value())
    in.refuse("finding", "must be there exactly when the verdict is not 'passed'");
  if (check.verdict == Verdict::passed && check.cases < 1)
    in.refuse("cases", "a check that ran no case cannot have passed");
}

CheckObservation check_from(const JsonFields& in) {
  CheckObservation check;
  // What a check detects was called "attacks" until November 2026.
  const std::string fault = in.text(in.has("attacks") ? "attacks" : "detects");
  check.info = {in.text("id"), fault, in.word("section", section_named), in.number("weight"),
                in.word("severity", severity_named)};
  check.verdict = in.word("verdict", verdict_named);
  check.earned = in.number("earned");
  check.cases = static_cast<int>(in.integer("cases"));
  check.seconds = in.number("seconds");
  if (in.has("finding")) check.finding = finding_from(in.fields("finding"), check.verdict);
  for (const auto& speed : in.list("speeds")) check.speeds.push_back(speed_from(speed));
  for (const auto& fact : in.list("facts")) check.facts.push_back(fact_from(fact));
  for (const auto& exhibit : in.list("exhibits"))
    check.exhibits.push_back({exhibit.text("title"), exhibit.texts("lines")});
  for (const auto& curve : in.list("curves")) check.curves.push_back(curve_from(curve));
  if (in.has("workspace")) check.workspace = growth_from(in.fields("workspace"));
  require_sound(in, check);
  return check;
}

BuildRecord build_from(const JsonFields& in) {
  return {in.truth("ok"),
          in.truth("stopped"),
          in.text("compiler"),
          in.text("flags"),
          static_cast<int>(in.integer("warnings")),
          in.text("messages"),
          in.number("seconds")};
}

Provenance provenance_from(const JsonFields& in) {
  return {in.text("gauntlet_version"),
          in.text("grader_digest"),
          in.text("submission_digest"),
          in.text("prompt_digest"),
          in.text("cpu"),
          static_cast<int>(in.integer("cores")),
          in.text("kernel"),
          in.text("sandbox"),
          in.text("started"),
          in.number("copy_gb_per_s"),
          in.number("fma_gflop_per_s"),
          number_or_zero(in, "cache_bytes"),
          number_or_zero(in, "read_gb_per_s"),
          number_or_zero(in, "cache_gb_per_s"),
          in.has("constraint") ? in.text("constraint") : ""};
}

}  // namespace

std::string to_json(const CellObservation& cell) {
  Json json{{"schema", observation_schema()}};
  put_cell_key(json, cell.key);
  json["seed"] = cell.seed.text();
  json["build"] = to(cell.build);
  json["checks"] = list_of(cell.checks);
  json["provenance"] = to(cell.provenance);
  if (!cell.stated_claims.empty()) json["stated_claims"] = list_of(cell.stated_claims);
  if (!cell.claims_fault.empty()) json["claims_fault"] = cell.claims_fault;
  if (cell.time_growth) json["time_growth"] = to(*cell.time_growth);
  return json_text(json);
}

CellObservation observation_from_json(const std::string& text, const std::string& shown_name) {
  const JsonFields in = JsonFields::of_document(text, shown_name, observation_schema());
  CellObservation cell;
  cell.key = in.cell_key();
  cell.seed = in.seed("seed");
  cell.build = build_from(in.fields("build"));
  for (const auto& check : in.list("checks")) cell.checks.push_back(check_from(check));
  cell.provenance = provenance_from(in.fields("provenance"));
  if (in.has("stated_claims"))
    for (const auto& claim : in.list("stated_claims"))
      cell.stated_claims.push_back(stated_claim_from(claim));
  if (in.has("claims_fault")) cell.claims_fault = in.text("claims_fault");
  if (in.has("time_growth")) cell.time_growth = growth_from(in.fields("time_growth"));
  return cell;
}

}  // namespace gauntlet
