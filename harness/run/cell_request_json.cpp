// SPDX-License-Identifier: Apache-2.0
#include "harness/run/cell_request_json.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/core/error.h"
#include "harness/core/names.h"
#include "harness/core/text.h"
#include "harness/store/json_fields.h"

namespace gauntlet {
namespace {

constexpr std::string_view kRequestSchema = "gauntlet.cell-request/1";

Json to(const SolutionSource::File& file) {
  return {{"name", file.name}, {"content", file.content}};
}

SolutionSource solution_from(const JsonFields& in, Device device) {
  SolutionSource solution;
  solution.device = device;
  for (const JsonFields& file : in.list("files")) {
    file.refuse_unknown({"name", "content"});
    solution.files.push_back({file.text("name"), file.text("content")});
  }
  if (in.has("claims")) solution.claims = in.text("claims");
  // Also tells text that JSON cannot carry as it was.
  if (const std::string digest = solution.digest(); in.text("sources") != digest)
    in.refuse("sources", fmt::format("must be {}, the digest of `files` and `claims`; the file was "
                                     "edited: write the request again",
                                     digest));
  return solution;
}

void require_grader(const JsonFields& in, const CellKey& key) {
  const std::string_view digest = grader_for(key.challenge).digest(key.device);
  if (in.text("grader") != digest)
    in.refuse("grader", fmt::format("is {}, this program has {}; use the checkout that wrote the "
                                    "request, or write it again here",
                                    printable(in.text("grader"), 80), digest));
}

std::vector<std::string> checks_from(const JsonFields& in, const CellKey& key) {
  std::vector<std::string> known;
  for (const CheckInfo& check : checks_of(key.challenge, key.device)) known.push_back(check.id);
  const std::vector<std::string> wanted = in.texts("only_checks");
  for (const std::string& id : wanted)
    if (!contains(known, id))
      in.refuse("only_checks", fmt::format("{} has no check '{}'{}", key.entry(), printable(id, 80),
                                           did_you_mean(id, known)));
  return wanted;
}

}  // namespace

std::string to_json(const CellRequest& request) {
  Json json{{"schema", kRequestSchema}};
  put_cell_key(json, request.key());
  json["grader"] = grader_for(request.challenge.id).digest(request.solution.device);
  json["sources"] = request.solution.digest();
  json["files"] = Json::array();
  for (const auto& file : request.solution.files) json["files"].push_back(to(file));
  if (request.solution.claims) json["claims"] = *request.solution.claims;
  if (request.seed) json["seed"] = request.seed->text();
  json["only_checks"] = Json(request.only_checks);
  json["audit"] = request.audit;
  json["races"] = request.races;
  json["grade_tests"] = request.grade_tests;
  if (request.null_solution) json["null_solution"] = name_of(*request.null_solution);
  return json_text(json);
}

CellRequest cell_request_from_json(const std::string& text, const std::string& shown_name,
                                   const std::filesystem::path& root) {
  const JsonFields in = JsonFields::of_document(text, shown_name, kRequestSchema);
  in.refuse_unknown({"schema", "submission", "challenge", "device", "attempt", "grader", "sources",
                     "files", "claims", "seed", "only_checks", "audit", "races", "grade_tests",
                     "null_solution"});
  const CellKey key = in.cell_key();
  CellRequest request;
  request.submission = key.submission;
  if (const std::string why = why_no_submission_name(key.submission); !why.empty())
    in.refuse("submission", why);
  request.attempt = key.attempt;
  try {
    request.challenge = load_challenge(root, key.column());
  } catch (const UserError& error) {
    in.refuse("challenge", error.what());
  }
  if (const std::string why = request.challenge.why_not_on(key.device); !why.empty())
    in.refuse("device", why);
  require_grader(in, key);
  request.solution = solution_from(in, key.device);
  if (in.has("seed")) request.seed = in.seed("seed");
  request.only_checks = checks_from(in, key);
  request.audit = in.truth("audit");
  request.races = in.truth("races");
  request.grade_tests = in.truth("grade_tests");
  if (in.has("null_solution")) request.null_solution = in.word("null_solution", null_kind_named);
  return request;
}

}  // namespace gauntlet
