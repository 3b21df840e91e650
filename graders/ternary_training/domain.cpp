// SPDX-License-Identifier: Apache-2.0
#include "domain.h"

#include <initializer_list>

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using kit::Argument;
using kit::Assignment;
using kit::hiding;
using kit::sized;
using kit::ValueClass;

// Of a case: weights of a matrix, or of one that is a single group; and products of a layer.
constexpr double kMostWeights = 12'000;
constexpr double kMostOfAGroup = 66'000;
constexpr double kMostProducts = 66'000;

std::vector<Argument> sizes_of_matrix() {
  return {{"rows",
           {sized(5, 12), sized(1), sized(2), sized(3), sized(15, 17), sized(31, 33), sized(63, 65),
            sized(127, 129), sized(255, 257), sized(kit::kDivisible / 64), sized(1023, 1025)}},
          {"groups in a row",
           {sized(2, 4), sized(1), sized(2), sized(5), sized(7, 9), sized(15, 17), sized(31, 33),
            sized(255, 257)}},
          // Near to the sizes of vectors and of what is summed at once, as multiples of 4.
          {"group", {sized(16),   sized(4),    sized(8),    sized(12),    sized(20),  sized(28),
                     sized(32),   sized(36),   sized(60),   sized(64),    sized(68),  sized(124),
                     sized(128),  sized(132),  sized(252),  sized(256),   sized(260), sized(1020),
                     sized(1024), sized(1028), sized(4096), sized(65'600)}}};
}

Argument weights() {
  return {"weights",
          {{"usual"},
           {"full mantissas"},
           hiding({"zeros"}),
           {"a group of zeros"},
           {"one in a group"},
           {"one sign"},
           {"equal in size"},
           {"at the threshold"},
           {"means between halves"},
           {"subnormal scales"},
           {"about the smallest scale"},
           {"subnormal"},
           {"about the largest scale"},
           {"one that is huge"},
           {"rows far apart"},
           {"groups far apart"},
           {"ternary"}}};
}

Argument threads() {
  return {"threads", {sized(2), sized(1), sized(3), sized(7), sized(33)}};
}

Argument vectors(const char* name) {
  return {name,
          {{"usual"},
           hiding({"zeros"}),
           {"many zeros"},
           {"one number"},
           {"zeros but the last 64"},
           {"one sign"},
           {"1e12 to 1e15", 1e12, 1e15},
           {"1e-15 to 1e-12", 1e-15, 1e-12},
           {"vectors far apart"},
           {"all magnitudes"}}};
}

bool fits(const Assignment& choice) {
  const double count = choice["rows"].most * choice["groups in a row"].most * choice["group"].most;
  const bool one = choice["rows"].most * choice["groups in a row"].most == 1;
  return count <= (one ? kMostOfAGroup : kMostWeights);
}

bool fits_layer(const Assignment& choice) {
  const double weights =
      choice["rows"].most * choice["groups in a row"].most * choice["group"].most;
  return fits(choice) && weights * choice["vectors"].most <= kMostProducts;
}

// ---------------------------------------------------------------- models

// Of a case of ternary_forward: weights, and products of its tokens with them.
constexpr double kMostOfAModel = 600'000;
constexpr double kMostOfTokens = 1'200'000;
constexpr double kMostTokens = 129;

// Of a case of ternary_train, which has to draw, quantise and write every weight: those, and
// products in training and in the likelihood of the text.
constexpr double kMostTrained = 24'000;
constexpr double kMostTraining = 2'500'000;

std::vector<Argument> sizes_of_model(std::initializer_list<ValueClass> vocabs) {
  return {{"vocab", vocabs},
          {"model group",
           {sized(16), sized(4), sized(8), sized(12), sized(20), sized(28), sized(32), sized(64),
            sized(128)}},
          {"groups in width", {sized(2), sized(1), sized(3), sized(4), sized(5), sized(8)}},
          {"groups in hidden", {sized(3), sized(1), sized(2), sized(4), sized(7), sized(9)}},
          {"heads", {sized(2), sized(1), sized(3), sized(4), sized(5), sized(7), {"width / 2"}}},
          {"layers", {sized(1), sized(2), sized(3), sized(7)}}};
}

std::vector<std::string> integers_of_model() {
  return {"vocab", "groups in width", "groups in hidden", "heads", "layers", "context", "threads"};
}

/// Of one layer and of both tables.
double weights_of_layer(const TernaryModel& m) {
  return static_cast<double>(4 * m.width * m.width + 3 * m.width * m.hidden);
}
double weights_of_model(const TernaryModel& m) {
  return static_cast<double>(m.layers) * weights_of_layer(m) +
         static_cast<double>(2 * m.vocab * m.width);
}

bool heads_fit(const Assignment& choice) {
  const TernaryModel m = largest_model(choice);
  return m.width % (2 * m.heads) == 0;
}

double most_tokens(const Assignment& choice) {
  if (choice.is("tokens", "1") || choice.is("tokens", "2")) return 2;
  return choice.is("tokens", "a few") ? 8 : choice["context"].most;
}

bool valid_forward(const Assignment& choice) {
  if (!heads_fit(choice)) return false;
  const double context = choice["context"].least;
  if (context < 2 && (choice.is("tokens", "2") || choice.is("tokens", "context - 1"))) return false;
  const double tokens = most_tokens(choice);
  const double weights = weights_of_model(largest_model(choice));
  return tokens <= kMostTokens && weights <= kMostOfAModel && tokens * weights <= kMostOfTokens;
}

std::vector<Argument> forward_arguments() {
  std::vector<Argument> all =
      sizes_of_model({sized(20, 40), sized(1), sized(2), sized(3), sized(15, 17), sized(31, 33),
                      sized(63, 65), sized(255, 257), sized(1023, 1025), sized(4095, 4097),
                      sized(kit::kDivisible), sized(65'535), sized(65'536)});
  const std::vector<Argument> others{
      {"context",
       {sized(9, 14), sized(1), sized(2), sized(3), sized(15, 17), sized(31, 33), sized(63, 65),
        sized(127, 129), sized(1 << 20), sized(0x7fff'ffff)}},
      {"tokens", {{"a few"}, {"1"}, {"2"}, {"context - 1"}, {"context"}}},
      {"text", {{"any"}, {"one id"}, {"the ends"}, {"ascending"}}},
      {"codes",
       {{"a third each"},
        hiding({"zeros"}),
        {"no zeros"},
        {"mostly zeros"},
        {"a tensor of +1"},
        {"a tensor of -1"}}},
      {"scales",
       {{"usual"},
        hiding({"zeros"}),
        {"tokens of zeros"},
        {"subnormal embedding"},
        {"smallest stream"},
        {"largest embedding"},
        {"sharp attention"},
        {"flat attention"},
        {"no attention"},
        {"no values but some"},
        {"no gates"},
        {"gates far from zero"},
        {"largest head"},
        {"subnormal head"},
        {"every binade"}}},
      {"gains", {{"usual"}, {"1"}, hiding({"0"}), {"with zeros"}, {"negative"}, {"64"}, {"1e-20"}}},
      kit::alignment_argument({"checkpoint", "token", "logits"}),
      threads(),
      {"before",
       {{"nothing"},
        {"a code differed"},
        {"a scale differed"},
        {"a gain differed"},
        {"matrices in other places"},
        {"a token differed"},
        {"a token less"},
        {"another model"},
        {"other threads"},
        {"a refusal"},
        {"a model was made"}}}};
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

// ---------------------------------------------------------------- training

/// Some hundred tokens, or no time to speak of.
bool is_short(const Assignment& choice) {
  return !choice.is("max_tokens", "none") && !choice.is("max_tokens", "least") &&
         !choice.is("max_tokens", "largest");
}

bool valid_training(const Assignment& choice) {
  if (!heads_fit(choice)) return false;
  const bool timed = choice.is("max_seconds", "0") || choice.is("max_seconds", "-0") ||
                     choice.is("max_seconds", "0.004");
  if (!is_short(choice) && !timed) return false;
  // Whether time or tokens end it is chance, and so is the number of steps.
  if (timed && choice.is("training before", "the same")) return false;
  if (choice["context"].least < 2 && choice.is("max_tokens", "context - 1")) return false;
  const TernaryModel largest = largest_model(choice);
  const double text = choice.is("text length", "usual") ? 120 : 2 * choice["context"].most + 3;
  const double tokens = 3 * (2 * choice["context"].most + 3) + text;
  const double weights = weights_of_model(largest);
  return weights <= kMostTrained && tokens * weights <= kMostTraining;
}

std::vector<Argument> training_arguments() {
  std::vector<Argument> all = sizes_of_model({sized(20, 30), sized(1), sized(2), sized(3),
                                              sized(31, 33), sized(255, 257), sized(1023, 1025)});
  const std::vector<Argument> others{
      {"context",
       {sized(6, 9), sized(1), sized(2), sized(3), sized(15, 17), sized(31, 33), sized(64)}},
      {"text length", {{"usual"}, {"context + 1"}, {"context + 2"}, {"2 context + 1"}}},
      {"training text", {{"a source"}, {"one id"}, {"the last id once"}, {"drawn"}}},
      {"documents",
       {{"one"},
        {"two"},
        {"one a token"},
        {"the first empty"},
        {"the last empty"},
        {"empty ones between"},
        {"a hundred empty"}}},
      {"max_tokens",
       {{"two windows"},
        {"0"},
        {"1"},
        {"context - 1"},
        {"context"},
        {"context + 1"},
        {"largest"},
        {"none"},
        {"least"}}},
      {"max_seconds",
       {{"none"},
        {"-1e-300"},
        {"least"},
        {"-infinity"},
        {"0"},
        {"-0"},
        {"0.004"},
        {"1e300"},
        {"infinity"}}},
      {"stop", {{"never"}, {"at once"}, {"at the second report"}}},
      {"seed", {{"any"}, {"0"}, {"1"}, {"2^32"}, {"2^63"}, {"largest"}}},
      {"listener", {{"given"}, {"null"}}},
      {"capacity", {{"exact"}, {"a byte more"}, {"a page more"}}},
      {"placement", {{"64"}, {"8"}, {"8 after 16"}, {"16 after 32"}, {"4096"}}},
      threads(),
      {"training before",
       {{"nothing"},
        {"the same"},
        {"another seed"},
        {"another text"},
        {"another model"},
        {"a refusal"}}}};
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

}  // namespace

TernaryModel largest_model(const Assignment& choice) {
  const auto most = [&](const char* argument) {
    return static_cast<std::int64_t>(choice[argument].most);
  };
  TernaryModel model{};
  model.vocab = most("vocab");
  model.group = most("model group");
  model.width = model.group * most("groups in width");
  model.hidden = model.group * most("groups in hidden");
  model.heads = choice.is("heads", "width / 2") ? model.width / 2 : most("heads");
  model.layers = most("layers");
  model.context = most("context");
  return model;
}

const kit::Domain& quantize_domain() {
  static const kit::Domain domain = [] {
    std::vector<Argument> all = sizes_of_matrix();
    all.insert(all.end(), {weights(),
                           kit::alignment_argument({"weight", "codes", "scales"}),
                           threads(),
                           {"before",
                            {{"nothing"},
                             {"a weight differed"},
                             {"another size"},
                             {"other threads"},
                             {"a refusal"}}}});
    return kit::Domain{std::move(all), fits, {}, {"rows", "groups in a row", "threads"}};
  }();
  return domain;
}

const kit::Domain& layer_domain() {
  static const kit::Domain domain = [] {
    std::vector<Argument> all = sizes_of_matrix();
    all.insert(all.end(), {{"vectors",
                            {sized(3, 6), sized(1), sized(2), sized(7, 9), sized(15, 17),
                             sized(31, 33), sized(63, 65), sized(127, 129), sized(1023, 1025)}},
                           weights(),
                           vectors("x"),
                           vectors("output_gradient"),
                           kit::alignment_argument({"weight", "x", "output_gradient", "y",
                                                    "input_gradient", "weight_gradient"}),
                           threads(),
                           {"before",
                            {{"nothing"},
                             {"a weight differed"},
                             {"an x differed"},
                             {"a gradient differed"},
                             {"another size"},
                             {"other threads"},
                             {"a refusal"}}}});
    // Columns that 16 bits do not count, with nothing before them that would hide them.
    return kit::Domain{std::move(all),
                       fits_layer,
                       {{{"rows", {"1"}},
                         {"groups in a row", {"1"}},
                         {"group", {"65600"}},
                         {"vectors", {"1"}},
                         {"weights", {"usual", "full mantissas", "one sign", "equal in size"}},
                         {"x", {"zeros but the last 64"}}}},
                       {"rows", "groups in a row", "vectors", "threads"}};
  }();
  return domain;
}

const kit::Domain& forward_domain() {
  // So many ids leave room for the smallest of all else only.
  static const kit::Domain domain{forward_arguments(),
                                  valid_forward,
                                  {{{"vocab", {"65535", "65536"}},
                                    {"model group", {"4"}},
                                    {"groups in width", {"1"}},
                                    {"groups in hidden", {"1"}},
                                    {"heads", {"1"}},
                                    {"tokens", {"2"}},
                                    {"text", {"any", "the ends"}}}},
                                  integers_of_model()};
  return domain;
}

const kit::Domain& training_domain() {
  static const kit::Domain domain{training_arguments(), valid_training, {}, integers_of_model()};
  return domain;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
