// SPDX-License-Identifier: Apache-2.0
#include "harness/score/rubric.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "harness/core/digest.h"
#include "harness/core/files.h"
#include "harness/core/yaml.h"

namespace gauntlet {
namespace {

std::array<double, 4> read_sections(YamlFields fields) {
  std::array<double, 4> weights{};
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::string name(name_of(static_cast<Section>(i)));
    weights[i] = fields.number(name);
    if (!(weights[i] > 0)) fields.refuse(name, "must be more than 0");
  }
  fields.refuse_unknown();
  return weights;
}

std::array<double, 4> read_caps(YamlFields fields) {
  std::array<double, 4> caps{};
  for (std::size_t i = 0; i < caps.size(); ++i) {
    const std::string name(name_of(static_cast<Severity>(i)));
    caps[i] = fields.number(name);
    if (caps[i] < 0 || caps[i] > 100) fields.refuse(name, "must lie between 0 and 100");
    if (i > 0 && caps[i] > caps[i - 1])
      fields.refuse(name, "must not be higher than the cap of a milder failure");
  }
  fields.refuse_unknown();
  return caps;
}

std::vector<Rubric::Band> read_letters(YamlFields fields) {
  std::vector<Rubric::Band> letters;
  for (const auto& letter : fields.keys()) {
    const double at_least = fields.number(letter);
    if (!letters.empty() && at_least >= letters.back().at_least)
      fields.refuse(letter, "must begin below the letter before it");
    letters.push_back({letter, at_least});
  }
  if (letters.empty() || letters.back().at_least != 0)
    fields.refuse(letters.empty() ? "letters" : letters.back().letter,
                  "the last letter must begin at 0");
  return letters;
}

void read_comparison(YamlFields& fields, Rubric& rubric) {
  YamlFields ties = fields.fields("ties");
  rubric.tie_band = ties.number("band");
  if (rubric.tie_band < 0) ties.refuse("band", "must be 0 or more");
  rubric.mean_band = ties.number("mean_band");
  if (rubric.mean_band < 0) ties.refuse("mean_band", "must be 0 or more");
  ties.refuse_unknown();
  YamlFields margins = fields.fields("margins");
  rubric.narrow_below = margins.number("narrow_below");
  rubric.moderate_below = margins.number("moderate_below");
  if (rubric.narrow_below < rubric.tie_band)
    margins.refuse("narrow_below", "must not be below ties.band");
  if (rubric.moderate_below < rubric.narrow_below)
    margins.refuse("moderate_below", "must not be below narrow_below");
  margins.refuse_unknown();
}

void read_speed(YamlFields fields, Rubric& rubric) {
  rubric.full_ratio = fields.number("full_ratio");
  rubric.zero_ratio = fields.number("zero_ratio");
  if (!(rubric.zero_ratio > 0)) fields.refuse("zero_ratio", "must be more than 0");
  if (!(rubric.full_ratio > rubric.zero_ratio))
    fields.refuse("full_ratio", "must be more than zero_ratio");
  rubric.different_beyond = fields.number("different_beyond");
  if (!(rubric.different_beyond >= 1)) fields.refuse("different_beyond", "must be 1 or more");
  rubric.equal_within = fields.number("equal_within");
  if (!(rubric.equal_within >= 1)) fields.refuse("equal_within", "must be 1 or more");
  rubric.most_noise = fields.number("most_noise");
  if (!(rubric.most_noise > 0 && rubric.most_noise <= 1))
    fields.refuse("most_noise", "must be more than 0 and at most 1");
  fields.refuse_unknown();
}

void read_attempts(YamlFields fields, Rubric& rubric) {
  for (const auto& name : fields.texts("passing")) {
    try {
      rubric.passing.push_back(section_named(name));
    } catch (const std::invalid_argument& error) {
      fields.refuse("passing", error.what());
    }
  }
  if (rubric.passing.empty()) fields.refuse("passing", "must name a section or more");
  const std::int64_t resamples = fields.integer("resamples");
  if (resamples < 100 || resamples > 1'000'000)
    fields.refuse("resamples", "must be a number from 100 to 1000000");
  rubric.resamples = static_cast<int>(resamples);
  rubric.confidence = fields.number("confidence");
  if (!(rubric.confidence > 0 && rubric.confidence < 1))
    fields.refuse("confidence", "must lie between 0 and 1");
  fields.refuse_unknown();
}

/// The factor by which the reference may have differed from itself.
double most_apart(const SpeedMeasurement& speed) {
  return std::max({1.0, speed.noise_high, 1 / speed.noise_low});
}

}  // namespace

double Rubric::weight_of(Section section) const {
  return section_weights.at(static_cast<std::size_t>(section));
}

double Rubric::cap_of(Severity severity) const {
  return caps.at(static_cast<std::size_t>(severity));
}

const std::string& Rubric::letter_of(double score) const {
  for (const Band& band : letters)
    if (score >= band.at_least) return band.letter;
  return letters.back().letter;
}

int Rubric::printed(double score) const {
  const double rounded = std::floor(score + 0.5);
  const bool same_letter = letter_of(rounded) == letter_of(score);
  return static_cast<int>(same_letter ? rounded : std::floor(score));
}

double Rubric::speed_share(double ratio) const {
  if (!(ratio > zero_ratio)) return 0;
  return std::min(1.0, std::log2(ratio / zero_ratio) / std::log2(full_ratio / zero_ratio));
}

bool Rubric::quiet(const SpeedMeasurement& speed) const {
  const double points = std::log2(full_ratio / zero_ratio);
  return std::log2(speed.noise_high / speed.noise_low) <= most_noise * points;
}

Interval Rubric::ratio_interval(const SpeedMeasurement& speed) const {
  const double unexplained =
      quiet(speed) ? std::max({1.0, speed.noise_low, 1 / speed.noise_high}) : most_apart(speed);
  return {speed.low / unexplained, speed.high * unexplained};
}

bool Rubric::counts(const SpeedMeasurement& speed) const {
  const double noise = most_apart(speed);
  return quiet(speed) ||
         speed_share(speed.ratio * noise) - speed_share(speed.ratio / noise) <= most_noise;
}

std::string_view Rubric::speed_verdict(const SpeedMeasurement& speed) const {
  if (!counts(speed)) return "too noisy";
  const Interval ratio = ratio_interval(speed);
  if (ratio.low > different_beyond) return "faster";
  if (ratio.high < 1 / different_beyond) return "slower";
  return ratio.low >= 1 / equal_within && ratio.high <= equal_within ? "as fast" : "undecided";
}

Rubric load_rubric(const std::filesystem::path& file) {
  return rubric_from_yaml(read_file(file), file.string());
}

Rubric rubric_from_yaml(const std::string& text, const std::string& shown_name) {
  YamlFields fields = YamlFields::of_text(text, shown_name);
  Rubric rubric;
  rubric.section_weights = read_sections(fields.fields("sections"));
  rubric.caps = read_caps(fields.fields("caps"));
  rubric.letters = read_letters(fields.fields("letters"));
  read_comparison(fields, rubric);
  read_speed(fields.fields("speed"), rubric);
  read_attempts(fields.fields("attempts"), rubric);
  fields.refuse_unknown();
  rubric.digest = sha256(text);
  return rubric;
}

}  // namespace gauntlet
