// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/cache_explain.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/cli/report_input.h"
#include "harness/core/files.h"
#include "harness/core/text.h"
#include "harness/report/text/phrases.h"
#include "harness/store/observation_json.h"

namespace gauntlet {

namespace fs = std::filesystem;

namespace {

/// One of the things that follow from each other, and why it would be made again; empty where it
/// would be used.
struct Layer {
  std::string name;
  std::string why;
};

/// One cell, as it is asked for and as it is stored.
class Explanation {
 public:
  Explanation(const Context& context, const SubmissionFolder& submission, const CellKey& key)
      : context_(context),
        planned_(plan_cell(context.plan_terms(false), submission, key)),
        wanted_(observation_key(*planned_.wanted)) {
    const ResultStore store = context.store();
    if (auto stored = store.load(key)) {
      const auto receipt = store.load_receipt(key);
      const bool drawn = !receipt || receipt->seed_drawn;
      stored_ = ProvenCell{*std::move(stored), drawn};
      changes_ = changes(observation_key(*stored_, *planned_.wanted), wanted_);
      if (receipt && receipt->closing) closing_ = closing_digest(*receipt);
    }
    layers_ = {{"build", why_build()},
               {"observation", planned_.reused ? "" : planned_.why_run},
               {"score", why_score()},
               {"report", why_report()}};
  }

  std::string text() const {
    const CellKey& key = planned_.request.key();
    std::string text = stored_ ? fmt::format("{} {}: graded at {}\n", key.row(), key.column(),
                                             one_line(stored_->observation.provenance.started, 40))
                               : fmt::format("{} {}: never graded\n", key.row(), key.column());
    std::vector<std::vector<std::string>> rows;
    for (const KeyChange& change : changes_)
      rows.push_back({"  " + one_line(change.field, 120), short_value(change.before) + " ->",
                      short_value(change.after)});
    if (stored_)
      text += rows.empty() ? fmt::format("None of the {} fields of its key changed.\n",
                                         wanted_.fields().size())
                           : "Changed since:\n" + aligned(rows, 3);
    rows.clear();
    for (const Layer& layer : layers_)
      rows.push_back({"  " + layer.name,
                      layer.why.empty() ? "would be reused" : "stale: " + one_line(layer.why)});
    return text + "Of what is kept:\n" + aligned(rows, 2);
  }

  Json document() const {
    Json document{{"schema", "gauntlet.cache-explain/1"}};
    put_cell_key(document, planned_.request.key());
    document["key_format"] = CacheKey::kFormat;
    document["reused"] = planned_.reused.has_value();
    document["fields"] = Json::array();
    for (const CacheKey::Field& field : wanted_.fields())
      document["fields"].push_back({{"name", field.name}, {"value", field.value}});
    document["changed"] = Json::array();
    for (const KeyChange& change : changes_)
      document["changed"].push_back(
          {{"field", change.field}, {"before", change.before}, {"after", change.after}});
    document["layers"] = Json::array();
    for (const Layer& layer : layers_)
      document["layers"].push_back(
          {{"layer", layer.name}, {"reused", layer.why.empty()}, {"why", layer.why}});
    return document;
  }

 private:
  /// Not all that an observation depends on changes what is compiled.
  std::string why_build() const {
    const CellRequest& request = planned_.request;
    if (is_built(request.solution, request.challenge, context_.environment.cache)) return "";
    for (const KeyChange& change : changes_)
      for (const char* field : {"file ", "contract", "compiler", "flags", "cpu", "device"})
        if (change.field.starts_with(field))
          return fmt::format("{} changed, and it was not compiled since", change.field);
    return "it is not in the cache any more, or was never compiled here";
  }

  std::string why_score() const {
    const ResultStore store = context_.store();
    if (!planned_.reused) return "it follows from the observation";
    const fs::path file = store.score_file(planned_.request.key());
    if (!fs::exists(file)) return "there is none";
    const Rubric rubric = context_.rubric();
    const std::string kept = read_file(file, kResultFile);
    if (kept == to_json(score_cell(rubric, *planned_.reused), rubric)) return "";
    const auto in = JsonFields::of_document(kept, file.string(), "gauntlet.score/1");
    if (const std::string before = in.text("rubric_digest"); before != rubric.digest)
      return sentence_of({"", before, rubric.digest}, "the rubric");
    return "this version makes another score of the observation, or the file was edited";
  }

  std::string why_report() const {
    for (const PublishedCell& cell : report_data(context_.workspace / "reports").load()) {
      if (cell.seen.key != planned_.request.key() || cell.grade.empty()) continue;
      if (!planned_.reused) return "it follows from the score";
      if (cell.closing != closing_) return "it shows another run; ./gauntlet report takes this one";
      if (const std::string now = context_.rubric().digest; cell.rubric != now)
        return sentence_of({"", cell.rubric, now}, "the rubric");
      return "";
    }
    return "this cell is not in it";
  }

  const Context& context_;
  PlannedCell planned_;
  CacheKey wanted_;
  std::optional<ProvenCell> stored_;
  std::string closing_;  // digest of the receipt; empty when there is none
  std::vector<KeyChange> changes_;
  std::vector<Layer> layers_;
};

}  // namespace

VerbResult explain_cell(const Context& context, const std::string& submission,
                        const std::string& challenge) {
  const SubmissionFolder folder = find_submission(context.folders(), submission);
  const Explanation explanation(context, folder,
                                cell_named(folder, challenge, context.challenges()));
  return {explanation.text(), explanation.document()};
}

}  // namespace gauntlet
