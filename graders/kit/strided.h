// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graders/kit/attention.h"
#include "graders/kit/call_options.h"
#include "harness/core/finding.h"
#include "harness/grading/probe.h"
#include "harness/worker/call.h"

/// Tensors [batch][head][row][column]: dense for the grader, with strides for the solution.
namespace gauntlet::kit {

struct Extents {
  std::int64_t batch = 0, heads = 0, rows = 0, columns = 0;

  std::int64_t count() const { return batch * heads * rows * columns; }
};

/// The numbers, dense. NaN until something fills them in.
struct Tensor {
  Tensor() = default;
  explicit Tensor(const Extents& extents);

  float* row(std::int64_t b, std::int64_t h, std::int64_t n) { return data.data() + at(b, h, n); }
  const float* row(std::int64_t b, std::int64_t h, std::int64_t n) const {
    return data.data() + at(b, h, n);
  }
  RowsView view() const;

  Extents extents;
  std::vector<float> data;

 private:
  std::int64_t at(std::int64_t b, std::int64_t h, std::int64_t n) const {
    return ((b * extents.heads + h) * extents.rows + n) * extents.columns;
  }
};

/// Visits every row: visit(std::span<float> row, batch, head, index).
template <class Visit>
void for_each_row(Tensor& tensor, const Visit& visit) {
  const auto columns = static_cast<std::size_t>(tensor.extents.columns);
  for (std::int64_t b = 0; b < tensor.extents.batch; ++b)
    for (std::int64_t h = 0; h < tensor.extents.heads; ++h)
      for (std::int64_t n = 0; n < tensor.extents.rows; ++n)
        visit(std::span<float>(tensor.row(b, h, n), columns), b, h, n);
}

/// Visits the rows of keys that do not exist in k or v: visit(std::span<float> row).
template <class Visit>
void for_each_missing_key(Tensor& tensor, const AttentionProblem& problem, const Visit& visit) {
  for_each_row(tensor, [&](std::span<float> row, auto batch, auto, auto key) {
    const KeyRange existing = problem.existing_keys(batch);
    if (key < existing.first || key >= existing.last) visit(row);
  });
}

/// How the rows lie in memory. Gaps are foreign elements.
struct Layout {
  bool rows_outside = false;   // [batch][row][head] instead of [batch][head][row]
  std::int64_t row_gap = 0;    // after every row of columns
  std::int64_t outer_gap = 0;  // after all rows of a head; with rows_outside, all heads of a row
  std::int64_t batch_gap = 0;  // after every batch entry
  bool one_head = false;       // all heads are equal: stored once, with head stride 0
  bool one_batch = false;      // the same for batch entries
  bool one_row = false;        // and for the rows of a head
  std::optional<std::int64_t> idle{};  // the stride of what there is only one of, or none
};

/// Makes those heads, batch entries and rows equal to the first that the layout stores once.
void repeat_shared(Tensor& tensor, const Layout& layout);

/// A tensor's place in memory, which ends with its last row: nothing of it lies behind.
class Strides {
 public:
  Strides(const Extents& extents, const Layout& layout);

  std::int64_t batch, head, row;
  std::int64_t count;  // elements from the first to the last

  /// Memory as a solution sees it, with `foreign` in all gaps.
  std::vector<float> scatter(std::span<const float> dense, float foreign) const;
  /// The dense tensor.
  std::vector<float> gather(std::span<const float> memory) const;
  /// The first foreign element of `memory` whose bits differ from those in `before`, which is
  /// poison where it is empty.
  std::optional<std::int64_t> touched(std::span<const float> memory,
                                      std::span<const float> before) const;

 private:
  template <class Visit>
  void for_each_row(const Visit& visit) const;

  Extents extents_;
};

/// One array in which several tensors lie, and may overlap.
struct OneMemory {
  /// Of a tensor: its first element and its strides, in elements.
  struct Place {
    std::int64_t offset, batch, head, row;
  };

  /// The dense tensor of these sizes at that place.
  Tensor gathered(const Extents& extents, std::string_view tensor) const;

  std::vector<float> numbers;
  std::map<std::string_view, Place> places;  // by the tensor's name in the contract
};

/// What a dense tensor falls into when its outermost dimension of more than one entry, rows at
/// last, gets a far stride.
struct FarParts {
  explicit FarParts(const Extents& extents);

  std::size_t count;     // of parts
  std::size_t elements;  // of each
  std::int64_t Strides::*stride;
};

/// A case for each of these tensors, each dimension and each stride at which 32 bits are too few:
/// ask(rng, sizes, far), where the sizes have three entries in that dimension, one outside of it.
void ask_far_parts(
    Probe& probe, std::initializer_list<const char*> tensors,
    const std::function<void(Rng&, const AttentionSizes&, const CallOptions::FarApart&)>& ask);

/// Where an argument struct holds the strides of a tensor; none for an array that is always dense.
struct StrideFields {
  std::int64_t *batch = nullptr, *head = nullptr, *row = nullptr;

  void set(const Strides& strides) const;
};

/// A call of a function that takes tensors with strides. Owns them as the solution sees them.
template <class Args>
class StridedCall : public Call<Args> {
 public:
  /// Inputs that have a place in `together` are views of that array.
  StridedCall(std::string symbol, const CallOptions& options,
              std::optional<OneMemory> together = {})
      : Call<Args>(std::move(symbol)), options_(options), together_(std::move(together)) {}

  /// A result of the last run as a dense array; empty where it was not wanted.
  std::vector<float> result(std::string_view name) const {
    for (const Result& result : results_)
      if (result.name == name) return result.strides.gather(result.output.view());
    std::vector<float> far;
    if (options_.is_far(name))
      for (const Output<float>& part : far_parts_)
        far.insert(far.end(), part.view().begin(), part.view().end());
    return far;
  }

  /// What was written between rows of results, which must stay as it was.
  std::optional<Miss> written_gap() const {
    for (const Result& result : results_)
      if (const auto at = result.strides.touched(result.output.view(), result.before)) {
        const auto i = static_cast<std::size_t>(*at);
        return Miss{result.name + " + " + std::to_string(i) + ", between rows",
                    result.output.view()[i], result.before.empty() ? kNan : result.before[i]};
      }
    return std::nullopt;
  }

 protected:
  /// Of the inputs that lie in one array, the first must begin where the array does.
  void tensor_in(const char* name, const void* const& field, const Tensor& tensor,
                 const Layout& layout, const StrideFields& fields) {
    if (together_)
      if (const auto at = together_->places.find(name); at != together_->places.end())
        return view_in(field, at->second, fields);
    if (options_.is_far(name) && tensor.extents.count() > 0)
      return far_in(name, field, tensor, fields);
    const Strides strides(tensor.extents, layout);
    fields.set(strides);
    if (options_.left_out(name, tensor.extents.count())) return;
    memory_.push_back(strides.scatter(tensor.data, kNan));
    this->in(name, field, memory_.back(), options_.placed(name));
  }

  /// With `dirty`, memory starts with these numbers in the rows; otherwise it is poison.
  template <class Field>
  void tensor_out(const char* name, Field* const& field, const Extents& extents,
                  const Layout& layout, const StrideFields& fields,
                  const std::vector<float>* dirty = nullptr) {
    if (options_.is_far(name) && extents.count() > 0) {
      const FarParts parts = set_far_strides(extents, fields);
      far_parts_ = this->template out_parts<float>(name, field, parts.count, parts.elements,
                                                   options_.far->stride, options_.placed(name));
      return;
    }
    const Strides strides(extents, layout);
    fields.set(strides);
    if (options_.left_out(name, extents.count())) return;
    std::span<const float> before;
    if (dirty != nullptr) before = memory_.emplace_back(strides.scatter(*dirty, 0.5f));
    const auto output =
        dirty == nullptr
            ? this->template out<float>(name, field, static_cast<std::size_t>(strides.count),
                                        options_.placed(name))
            : this->inout(name, field, memory_.back(), options_.placed(name));
    results_.push_back({name, strides, output, before});
  }

 private:
  void view_in(const void* const& field, const OneMemory::Place& place,
               const StrideFields& fields) {
    *fields.batch = place.batch, *fields.head = place.head, *fields.row = place.row;
    constexpr const char* kName = "the array of all inputs";
    if (!std::exchange(brought_, true))
      this->in(kName, field, together_->numbers, options_.placement);
    else
      this->template in_view<float>(kName, field, static_cast<std::size_t>(place.offset));
  }

  FarParts set_far_strides(const Extents& extents, const StrideFields& fields) const {
    const FarParts parts(extents);
    Strides strides(extents, {});
    strides.*parts.stride = options_.far->stride;
    fields.set(strides);
    return parts;
  }

  void far_in(const char* name, const void* const& field, const Tensor& tensor,
              const StrideFields& fields) {
    const FarParts parts = set_far_strides(tensor.extents, fields);
    memory_.push_back(tensor.data);
    const std::span<const float> all(memory_.back());
    std::vector<std::span<const float>> spans;
    for (std::size_t i = 0; i < parts.count; ++i)
      spans.push_back(all.subspan(i * parts.elements, parts.elements));
    this->in_parts(name, field, spans, options_.far->stride, options_.placed(name));
  }

  struct Result {
    std::string name;
    Strides strides;
    Output<float> output;
    std::span<const float> before;
  };

  CallOptions options_;
  std::optional<OneMemory> together_;
  bool brought_ = false;                   // the array of `together_`
  std::deque<std::vector<float>> memory_;  // of the call's buffers: never moves
  std::vector<Result> results_;
  std::vector<Output<float>> far_parts_;  // of the result that is far
};

}  // namespace gauntlet::kit
