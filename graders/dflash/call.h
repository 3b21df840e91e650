// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "contract.h"
#include "graders/kit/call_options.h"
#include "graders/kit/held_integers.h"
#include "graders/kit/inputs.h"
#include "model.h"
#include "oracle.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// `far`: the rows of logits (verify) or emit (generate).
struct CallOptions : kit::CallOptions {
  std::int64_t spare_words = 0;   // mask words beyond what the widest tree needs
  std::int64_t stride_extra = 0;  // floats between rows of logits; also of emit
  float between = kit::kNan;      // what these floats are
  bool least_promised = false;    // min_align says no more than it has to
};

/// The trees of a batch, concatenated as the contract wants them.
struct JoinedTrees {
  explicit JoinedTrees(const std::vector<Draft>& drafts);
  std::vector<std::int64_t> node_start{0};
  std::vector<std::int32_t> parent;
  std::vector<std::int32_t> token;
  std::int64_t rows = 0;
  std::int64_t widest = 0;  // rows of the biggest tree

  std::size_t first_row(std::size_t t) const { return static_cast<std::size_t>(node_start[t]) + t; }
  std::size_t rows_of(std::size_t t) const { return first_row(t + 1) - first_row(t); }
};

/// Calls ready to run. What their arrays hold may be changed before that, but not the sizes.
struct VerifyCall : Call<DflashVerifyArgs> {
  explicit VerifyCall(const Batch& batch, const CallOptions& options = {});

  /// What was written for tree t. Counts outside 0..rows give an empty list and a complaint.
  Walk walk(std::size_t t, std::string* complaint) const;

  JoinedTrees trees;
  std::vector<std::int64_t> max_emit;

 private:
  void add_far_logits();

  std::vector<std::int32_t> eos_;
  std::vector<float> logits_;
  kit::HeldIntegers held_;
  std::vector<Output<std::int32_t>> lists_;  // emit, path
  std::vector<Output<std::int64_t>> counts_;
};

struct BuildCall : Call<DflashBuildArgs> {
  explicit BuildCall(const Batch& batch, const CallOptions& options = {});

  /// The mask of tree t, as rows of bits; every word of a row, so 64 * mask_words columns.
  std::vector<std::vector<bool>> mask(std::size_t t) const;
  std::span<const std::uint64_t> words(std::size_t row) const;  // of all trees
  std::span<const std::int64_t> positions(std::size_t t) const;

  JoinedTrees trees;
  std::vector<std::int64_t> context_length;

 private:
  kit::HeldIntegers held_;
  std::vector<Output<std::uint64_t>> mask_;
  std::vector<Output<std::int64_t>> position_;
};

/// The callbacks are answered by `model`. The problem must outlive both.
struct GenerateCall : Call<DflashGenerateArgs> {
  explicit GenerateCall(const Problem& problem, const CallOptions& options = {});

  std::int64_t num_emit(std::size_t r) const { return counts_[0].view()[r]; }
  std::int64_t rounds(std::size_t r) const { return counts_[1].view()[r]; }
  std::int64_t accepted(std::size_t r) const { return counts_[2].view()[r]; }
  std::vector<std::int32_t> emitted(std::size_t r) const;
  bool wrote_beyond(std::size_t r) const;  // max_new

  std::shared_ptr<Model> model;
  std::vector<std::int64_t> prompt_start{0};
  std::vector<std::int64_t> max_new;

 private:
  bool rows_far_apart() const;  // of emit
  std::span<const std::int32_t> emit_row(std::size_t r) const;

  std::vector<std::int32_t> prompt_;
  std::vector<std::int32_t> eos_;
  kit::HeldIntegers held_;
  std::vector<Output<std::int32_t>> emit_;
  std::vector<Output<std::int64_t>> counts_;  // num_emit, rounds, accepted
};

}  // namespace gauntlet::GAUNTLET_CHALLENGE
