// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graders/kit/domain.h"
#include "graders/kit/strided.h"

/// The part of a domain that attention contracts share: sizes, masks, and where tensors lie.
namespace gauntlet::kit {

/// batch, kv heads, group (query heads on each of them), q_len, k_len, head_dim, value_dim.
std::vector<Argument> attention_size_arguments();
/// Those that may be any integer between their classes, of masks and threads too.
std::vector<std::string> attention_integers();
AttentionSizes attention_sizes_of(const Assignment& choice, Rng& rng);

/// causal, both ends of a window, kv_start, kv_len and what keys that do not exist hold.
std::vector<Argument> attention_mask_arguments();
void put_mask(const Assignment& choice, Rng& rng, AttentionProblem& form);
void put_missing_keys(const Assignment& choice, const AttentionProblem& form, Tensor& keys);

/// "q layout" for an array q, the strides of what there is only one of, arrays without elements, an
/// array whose parts are far apart, alignment. Inputs may repeat rows, outputs not; `dense` have no
/// layout.
std::vector<Argument> attention_place_arguments(const std::vector<std::string>& inputs,
                                                const std::vector<std::string>& outputs,
                                                const std::vector<std::string>& dense);
Layout layout_of(const Assignment& choice, Rng& rng, std::string_view array);
void put_places(const Assignment& choice, CallOptions& options);

/// So much of each dimension alone, with almost nothing in the others.
struct LongDimension {
  const char* name;
  AttentionSizes sizes;
};
std::vector<LongDimension> long_dimensions(std::int64_t many);

/// Starts and lengths for every batch entry, wherever they fall.
void draw_lists(AttentionProblem& problem, Rng& rng);

using NamedTensors = std::vector<std::pair<const char*, Tensor*>>;

/// Makes of a problem the one that was asked before it, as far as `before` says so: "one element of
/// q differed", of one of these tensors; "scale differed"; "mask differed".
void put_difference(const std::string& before, Rng& rng, AttentionProblem& problem,
                    const NamedTensors& tensors);

/// Arrays that are not there because one of the sizes is 0, and what a query alone sees through a
/// window.
std::vector<Corner> attention_corners();

/// The tensor is held as one row for several keys, or batch entries.
bool repeats_rows(const Assignment& choice, std::string_view array);

/// What a case takes at most: pairs of queries and keys over all heads, and the numbers of an array
/// with this many rows in a batch entry, gaps included.
double most_pairs(const Assignment& choice);
double most_numbers(const Assignment& choice, std::string_view array, double rows, double columns);

/// An array whose parts are far apart has a few, and no layout beside that.
bool places_are_valid(const Assignment& choice);

/// Lists fit the keys; keys that are missing in one place and there in another have rows of their
/// own.
bool mask_is_valid(const Assignment& choice);

/// There is something of the kind, whatever is drawn.
bool has_batch(const Assignment& choice);
bool has_heads(const Assignment& choice);
bool has_queries(const Assignment& choice);
bool has_keys(const Assignment& choice);

}  // namespace gauntlet::kit
