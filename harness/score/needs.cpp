// SPDX-License-Identifier: Apache-2.0
#include "harness/score/needs.h"

#include "harness/core/files.h"
#include "harness/core/names.h"
#include "harness/core/yaml.h"

namespace gauntlet {
namespace {

constexpr NameTable<Measure, 4> kMeasures{"measure",
                                          {"sections", "lowest_score", "speed", "challenges"}};

std::array<double, 4> read_weights(YamlFields fields) {
  std::array<double, 4> weights{};
  double sum = 0;
  for (const auto& name : fields.keys()) {
    const double weight = fields.number(name);
    if (!(weight > 0)) fields.refuse(name, "must be more than 0");
    try {
      weights.at(static_cast<std::size_t>(section_named(name))) = weight;
    } catch (const std::invalid_argument& error) {
      fields.refuse(name, error.what());
    }
    sum += weight;
  }
  if (sum == 0) fields.refuse("sections", "must name a section and its weight");
  return weights;
}

Need read_need(const std::string& id, YamlFields fields) {
  Need need;
  need.id = id;
  need.title = fields.text("title");
  try {
    need.measure = kMeasures.named(fields.text("measure"));
  } catch (const std::invalid_argument& error) {
    fields.refuse("measure", error.what());
  }
  if (need.measure == Measure::sections) need.sections = read_weights(fields.fields("sections"));
  if (fields.has("rounds")) need.rounds = fields.numbers("rounds");
  if (fields.has("veto")) {
    need.critical_veto = fields.text("veto") == "critical";
    if (!need.critical_veto) fields.refuse("veto", "must be 'critical'");
  }
  fields.refuse_unknown();
  return need;
}

}  // namespace

std::string_view name_of(Measure measure) {
  return kMeasures.of(measure);
}

std::vector<Need> load_needs(const std::filesystem::path& file) {
  return needs_from_yaml(read_file(file), file.string());
}

std::vector<Need> needs_from_yaml(const std::string& text, const std::string& shown_name) {
  YamlFields fields = YamlFields::of_text(text, shown_name);
  std::vector<Need> needs;
  for (const auto& id : fields.keys()) needs.push_back(read_need(id, fields.fields(id)));
  return needs;
}

}  // namespace gauntlet
