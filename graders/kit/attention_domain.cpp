// SPDX-License-Identifier: Apache-2.0
#include "graders/kit/attention_domain.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <utility>

#include "graders/kit/inputs.h"

namespace gauntlet::kit {
namespace {

constexpr std::int64_t kPage = 1024;
constexpr std::int64_t kMostGap = 40;

// Strides of what there is only one of: of no such there is a last byte within 64 bits. Times 4
// bytes, 2^62 is 0.
constexpr std::pair<const char*, std::int64_t> kIdleStrides[] = {
    {"0", 0},
    {"2^60", std::int64_t{1} << 60},
    {"2^62", std::int64_t{1} << 62},
    {"2^63 - 1", std::numeric_limits<std::int64_t>::max()}};

std::vector<ValueClass> layouts(bool of_input) {
  std::vector<ValueClass> classes{{"dense"},  {"rows outside"},        {"one more"},   {"odd gaps"},
                                  {"packed"}, {"a page between rows"}, {"heads apart"}};
  if (of_input)
    classes.insert(classes.end(), {{"one head"}, {"one batch entry"}, {"one row"}, {"one of all"}});
  return classes;
}

// Of one array, whose outermost dimension of more than one entry has it as its stride.
constexpr const char* kFarApart = "parts beyond 2^32";
constexpr std::int64_t kFarStride = (std::int64_t{1} << 32) + 12;
constexpr double kMostFarParts = 5;

std::vector<ValueClass> column_counts() {
  return {sized(6, 12),    sized(1),      sized(2),       sized(3),        sized(4, 5),
          sized(15, 17),   sized(31, 33), sized(63, 65),  sized(127, 129), sized(160),
          sized(191, 193), sized(224),    sized(250, 256)};
}

std::vector<ValueClass> window_ends() {
  return {{"-1", -1, -1},
          sized(0),
          sized(1),
          sized(2, 9),
          sized(15, 17),
          sized(31, 33),
          sized(47, 49),
          sized(63, 65),
          {"k_len - 1"},
          {"k_len"},
          {"2^31", 0x1p31, 0x1p31},
          {"2^32", 0x1p32, 0x1p32},
          {"2^40", 0x1p40, 0x1p40}};
}

std::int64_t window_end(const Assignment& choice, Rng& rng, const char* end, std::int64_t keys) {
  if (choice.is(end, "k_len")) return keys;
  if (choice.is(end, "k_len - 1")) return keys - 1;
  return choice.draw(rng, end);
}

std::int64_t start_of(const Assignment& choice, Rng& rng, std::int64_t keys) {
  if (choice.is("kv_start", "k_len")) return keys;
  if (choice.is("kv_start", "different")) return rng.integer(0, keys);
  return std::min(keys, choice.draw(rng, "kv_start"));
}

/// Of `left` keys, for batch entry b.
std::int64_t length_of(const Assignment& choice, Rng& rng, std::int64_t left, std::int64_t b,
                       std::int64_t batch) {
  const std::string& name = choice["kv_len"].name;
  if (name == "one less") return std::max<std::int64_t>(0, left - 1);
  if (name == "half") return left / 2;
  if (name == "1") return std::min<std::int64_t>(1, left);
  if (name == "different") return rng.integer(0, left);
  const bool empty = name == "0" || (name == "0 for the first" && b == 0) ||
                     (name == "0 for a middle one" && b == batch / 2) ||
                     (name == "0 for the last" && b == batch - 1);
  return empty ? 0 : left;
}

std::string layout_argument(std::string_view array) {
  return fmt::format("{} layout", array);
}

const ValueClass& layout_class(const Assignment& choice, std::string_view array) {
  return choice[layout_argument(array)];
}

}  // namespace

std::vector<Argument> attention_size_arguments() {
  return {{"batch", {sized(1), hiding(sized(0)), sized(2), sized(3), sized(7, 9), sized(31, 33)}},
          {"kv heads",
           {sized(1), hiding(sized(0)), sized(2), sized(3), sized(5), sized(8), sized(65, 67)}},
          {"group",
           {sized(1), hiding(sized(0)), sized(2), sized(3), sized(5), sized(7, 8), sized(16, 17)}},
          {"q_len",
           {sized(5, 12), hiding(sized(0)), sized(1), sized(2), sized(3, 4), sized(15, 17),
            sized(31, 33), sized(47, 49), sized(63, 65), sized(95, 97), sized(127, 129),
            sized(kit::kDivisible / 256), sized(255, 257)}},
          {"k_len",
           {sized(20, 30), hiding(sized(0)), sized(1), sized(2), sized(3, 4), sized(7, 9),
            sized(15, 17), sized(31, 33), sized(47, 49), sized(63, 65), sized(95, 97),
            sized(127, 129), sized(191, 193), sized(255, 257), sized(511, 513),
            sized(kit::kDivisible / 64), sized(1023, 1025)}},
          {"head_dim", column_counts()},
          {"value_dim", column_counts()}};
}

std::vector<std::string> attention_integers() {
  return {"batch",    "kv heads",  "group",       "q_len",        "k_len",
          "head_dim", "value_dim", "window left", "window right", "threads"};
}

AttentionSizes attention_sizes_of(const Assignment& choice, Rng& rng) {
  AttentionSizes sizes;
  sizes.batch = choice.draw(rng, "batch");
  sizes.kv_heads = choice.draw(rng, "kv heads");
  sizes.q_heads = sizes.kv_heads * choice.draw(rng, "group");
  sizes.q_len = choice.draw(rng, "q_len");
  sizes.k_len = choice.draw(rng, "k_len");
  sizes.dim = choice.draw(rng, "head_dim");
  sizes.value_dim = choice.draw(rng, "value_dim");
  return sizes;
}

std::vector<Argument> attention_mask_arguments() {
  return {{"causal", {sized(0), hiding(sized(1), {"window right"})}},
          {"window left", window_ends()},
          {"window right", window_ends()},
          {"kv_start",
           {{"absent", 0, 0},
            {"0", 0, 0},
            sized(1, 9),
            sized(15, 17),
            sized(31, 33),
            sized(63, 65),
            hiding({"k_len"}),
            {"different"}}},
          {"kv_len",
           {{"absent"},
            {"to the end"},
            {"one less"},
            {"half"},
            {"1"},
            hiding({"0"}),
            {"0 for the first"},
            {"0 for a middle one"},
            {"0 for the last"},
            {"different"}}},
          {"missing keys hold", {{"numbers"}, {"NaN"}, {"infinity"}, {"3e38"}}}};
}

void put_mask(const Assignment& choice, Rng& rng, AttentionProblem& form) {
  form.causal = choice.draw(rng, "causal") != 0;
  form.window_left = window_end(choice, rng, "window left", form.k_len);
  form.window_right = window_end(choice, rng, "window right", form.k_len);
  for (std::int64_t b = 0; b < form.batch; ++b) {
    const std::int64_t start = start_of(choice, rng, form.k_len);
    if (!choice.is("kv_start", "absent")) form.kv_start.push_back(static_cast<std::int32_t>(start));
    const std::int64_t length = length_of(choice, rng, form.k_len - start, b, form.batch);
    if (!choice.is("kv_len", "absent")) form.kv_len.push_back(static_cast<std::int32_t>(length));
  }
}

void put_missing_keys(const Assignment& choice, const AttentionProblem& form, Tensor& keys) {
  const std::string& held = choice["missing keys hold"].name;
  if (held == "numbers") return;
  const float poison = held == "NaN" ? kNan : held == "infinity" ? kInfinity : 3e38f;
  for_each_missing_key(keys, form, [&](std::span<float> row) { std::ranges::fill(row, poison); });
}

std::vector<Argument> attention_place_arguments(const std::vector<std::string>& inputs,
                                                const std::vector<std::string>& outputs,
                                                const std::vector<std::string>& dense) {
  std::vector<Argument> all;
  std::vector<std::string> placed;
  for (const auto& arrays : {inputs, outputs, dense})
    placed.insert(placed.end(), arrays.begin(), arrays.end());
  for (const std::string& array : inputs) all.push_back({layout_argument(array), layouts(true)});
  for (const std::string& array : outputs) all.push_back({layout_argument(array), layouts(false)});
  all.push_back({"strides of one", {{"as if of many"}}});
  for (const auto& [name, stride] : kIdleStrides) all.back().classes.push_back({name});
  all.push_back({"arrays without elements", {{"given"}, {"null"}}});
  all.push_back({kFarApart, {{"none"}}});
  for (const auto& arrays : {inputs, outputs})
    for (const std::string& array : arrays) all.back().classes.push_back({array});
  all.push_back(alignment_argument(placed));
  return all;
}

Layout layout_of(const Assignment& choice, Rng& rng, std::string_view array) {
  const std::string& name = layout_class(choice, array).name;
  Layout layout;
  layout.rows_outside = name == "rows outside" || name == "packed";
  if (name == "one more") layout.row_gap = 1;
  if (name == "packed") layout.outer_gap = rng.integer(1, kMostGap);
  if (name == "a page between rows") layout.row_gap = kPage;
  if (name == "odd gaps") {
    layout.row_gap = 2 * rng.integer(1, 5) + 1;
    layout.outer_gap = rng.integer(0, 11);
    layout.batch_gap = rng.integer(0, 13);
  }
  layout.one_head = name == "one head" || name == "one of all";
  layout.one_batch = name == "one batch entry" || name == "one of all";
  layout.one_row = name == "one row" || name == "one of all";
  if (name == "heads apart") {
    layout.outer_gap = rng.integer(1, 11);
    layout.batch_gap = rng.integer(0, 13);
  }
  // Rows that entries share may be far apart, too.
  if (name == "one batch entry" && rng.chance(0.5)) layout.row_gap = kMostGap;
  for (const auto& [stride, size] : kIdleStrides)
    if (choice["strides of one"].name == stride) layout.idle = size;
  return layout;
}

void put_places(const Assignment& choice, CallOptions& options) {
  options.null_when_empty = choice.is("arrays without elements", "null");
  if (!choice.is(kFarApart, "none")) options.far = {choice[kFarApart].name, kFarStride};
  put_alignment(choice, options);
}

std::vector<LongDimension> long_dimensions(std::int64_t many) {
  return {{"batch", {many, 1, 1, 1, 3, 3, 2}},
          {"kv_heads", {1, many, many, 1, 2, 3, 2}},
          {"q_heads on one", {1, many, 1, 1, 2, 3, 2}},
          {"q_heads in pairs", {1, many / 2 * 2, many / 2, 1, 2, 3, 2}},
          {"q_len", {1, 1, 1, many, 5, 3, 2}},
          {"k_len", {1, 1, 1, 3, many, 3, 2}}};
}

void draw_lists(AttentionProblem& problem, Rng& rng) {
  for (std::int64_t b = 0; b < problem.batch; ++b) {
    const std::int64_t start = rng.integer(0, problem.k_len);
    problem.kv_start.push_back(static_cast<std::int32_t>(start));
    problem.kv_len.push_back(static_cast<std::int32_t>(rng.integer(0, problem.k_len - start)));
  }
}

void put_difference(const std::string& before, Rng& rng, AttentionProblem& problem,
                    const NamedTensors& tensors) {
  for (const auto& [name, tensor] : tensors) {
    if (before != fmt::format("one element of {} differed", name)) continue;
    float& number = tensor->data[static_cast<std::size_t>(
        rng.integer(0, static_cast<std::int64_t>(tensor->data.size()) - 1))];
    number = -number;
  }
  if (before == "scale differed") problem.scale /= 2;
  if (before == "mask differed") {
    problem.causal = !problem.causal;
    problem.window_left = rng.integer(0, 9);
  }
}

std::vector<Corner> attention_corners() {
  const Classes absent{"arrays without elements", {"null"}};
  const Classes one_query{"q_len", {"1"}};
  const Classes window{"window left", {"1", "2 to 9"}};
  return {{{"q_len", {"0"}}, absent},
          {{"k_len", {"0"}}, absent},
          {one_query, {"causal"}, window, {"k_len", {"15 to 17", "63 to 65"}}}};
}

bool repeats_rows(const Assignment& choice, std::string_view array) {
  const std::string& name = layout_class(choice, array).name;
  return name == "one batch entry" || name == "one row" || name == "one of all";
}

double most_pairs(const Assignment& choice) {
  return choice["batch"].most * choice["kv heads"].most * choice["group"].most *
         choice["q_len"].most * choice["k_len"].most;
}

double most_numbers(const Assignment& choice, std::string_view array, double rows, double columns) {
  const bool wide = layout_class(choice, array).name == "a page between rows";
  return choice["batch"].most * rows * (columns + (wide ? kPage : kMostGap));
}

bool places_are_valid(const Assignment& choice) {
  const std::string& array = choice[kFarApart].name;
  if (array == "none") return true;
  if (layout_class(choice, array).name != "dense") return false;
  const bool of_keys = array.find('k') != std::string::npos || array.find('v') != std::string::npos;
  // Of query heads there is one for each head of keys, or it is not known which dimension it is.
  const std::string_view dimensions[] = {"batch", "kv heads", of_keys ? "k_len" : "q_len"};
  if (choice["group"].least < 1 || (!of_keys && choice["group"].most > 1)) return false;
  bool decided = false;
  for (const std::string_view dimension : dimensions) {
    if (choice[dimension].least < 1) return false;
    if (!decided && choice[dimension].most > kMostFarParts) return false;
    decided = decided || choice[dimension].least > 1;
  }
  return true;
}

bool mask_is_valid(const Assignment& choice) {
  if (choice["kv_start"].most > choice["k_len"].most) return false;
  return choice.is("missing keys hold", "numbers") ||
         !(repeats_rows(choice, "k") || repeats_rows(choice, "v"));
}

bool has_batch(const Assignment& choice) {
  return choice["batch"].least > 0;
}

bool has_heads(const Assignment& choice) {
  return choice["kv heads"].least > 0 && choice["group"].least > 0;
}

bool has_queries(const Assignment& choice) {
  return has_batch(choice) && has_heads(choice) && choice["q_len"].least > 0;
}

bool has_keys(const Assignment& choice) {
  return has_batch(choice) && choice["kv heads"].least > 0 && choice["k_len"].least > 0;
}

}  // namespace gauntlet::kit
