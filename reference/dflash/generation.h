// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decoding of whole requests: rounds of draft, forward, verify and keep.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "choice.h"
#include "contract.h"
#include "tree.h"
#include "verifier.h"

/// All running requests, round after round. Steps return 0 or what dflash_generate has to return.
class Generation {
  using I32s = std::vector<std::int32_t>;
  using I64s = std::vector<std::int64_t>;

 public:
  explicit Generation(const DflashGenerateArgs& args)
      : args_(args), context_(static_cast<std::size_t>(args.num_requests)) {
    for (std::int64_t r = 0; r < args.num_requests; ++r) {
      context_[r].assign(args.prompt + args.prompt_start[r],
                         args.prompt + args.prompt_start[r + 1]);
      args.num_emit[r] = args.rounds[r] = args.accepted[r] = 0;
      if (args.max_new[r] > 0) running_.push_back(r);
    }
  }

  std::int64_t run() {
    while (!running_.empty()) {
      std::int64_t code = draft();
      if (code == 0) code = forward();
      if (code == 0) code = verify();
      if (code != 0) return code;
    }
    return DFLASH_OK;
  }

 private:
  std::int64_t draft() {
    joined_.clear();
    lengths_.clear();
    for (const std::int64_t r : running_) {
      joined_.insert(joined_.end(), context_[r].begin(), context_[r].end());
      lengths_.push_back(static_cast<std::int64_t>(context_[r].size()));
    }
    nodes_.assign(running_.size(), 0);
    parent_.resize(running_.size() * static_cast<std::size_t>(args_.draft_budget));
    token_.resize(parent_.size());
    DflashDraft ask{};
    ask.num_requests = static_cast<std::int64_t>(running_.size());
    ask.num_tokens = static_cast<std::int64_t>(joined_.size());
    ask.budget = args_.draft_budget;
    ask.request = running_.data();
    ask.context_length = lengths_.data();
    ask.context = joined_.data();
    ask.num_nodes = nodes_.data();
    ask.parent = parent_.data();
    ask.token = token_.data();
    if (const std::int64_t code = args_.draft(args_.model, &ask)) return code;
    for (std::size_t k = 0; k < running_.size(); ++k)
      if (nodes_[k] < 0 || nodes_[k] > args_.draft_budget ||
          !valid(parent_.data() + k * args_.draft_budget, nodes_[k]))
        return DFLASH_BAD_ARGUMENT;
    return 0;
  }

  Tree tree(std::size_t k) const {
    return {parent_.data() + k * args_.draft_budget, token_.data() + k * args_.draft_budget,
            nodes_[k]};
  }

  std::int64_t forward() {
    const std::int64_t most = *std::max_element(nodes_.begin(), nodes_.end()) + 1;
    const std::int64_t words = (most + 63) / 64;
    rows_.clear();
    row_token_.clear();
    for (std::size_t k = 0; k < running_.size(); ++k) {
      --lengths_[k];  // what is committed: all but the root
      rows_.push_back(nodes_[k] + 1);
      row_token_.push_back(context_[running_[k]].back());
      row_token_.insert(row_token_.end(), tree(k).token, tree(k).token + nodes_[k]);
    }
    mask_.resize(row_token_.size() * static_cast<std::size_t>(words));
    position_.resize(row_token_.size());
    logits_.resize(row_token_.size() * static_cast<std::size_t>(args_.vocab));
    for (std::size_t k = 0, row = 0; k < running_.size(); row += rows_[k++])
      build_tree(tree(k).parent, nodes_[k], words, lengths_[k], mask_.data() + row * words,
                 position_.data() + row);
    DflashForward pass{};
    pass.num_requests = static_cast<std::int64_t>(running_.size());
    pass.num_rows = static_cast<std::int64_t>(row_token_.size());
    pass.mask_words = words;
    pass.vocab = args_.vocab;
    pass.request = running_.data();
    pass.context_length = lengths_.data();
    pass.row_count = rows_.data();
    pass.token = row_token_.data();
    pass.position = position_.data();
    pass.mask = mask_.data();
    pass.logits = logits_.data();
    return args_.forward(args_.model, &pass);
  }

  std::int64_t verify() {
    going_on_.clear();
    counts_.clear();
    slots_.clear();
    const Ends ends{args_.eos, args_.num_eos};
    for (std::size_t k = 0, row = 0; k < running_.size(); row += rows_[k++]) {
      const std::int64_t r = running_[k];
      const auto choose = [&](std::int64_t i) {
        return choice(logits_.data() + (row + i) * args_.vocab, args_.vocab);
      };
      emit_.resize(static_cast<std::size_t>(rows_[k]));
      path_.resize(static_cast<std::size_t>(rows_[k]));
      verifier_.walk(tree(k), ends, args_.max_new[r] - args_.num_emit[r], choose, emit_.data(),
                     path_.data());
      emit_.resize(static_cast<std::size_t>(verifier_.num_emit));
      path_.resize(static_cast<std::size_t>(verifier_.num_path));
      if (!take(r, ends)) continue;
      going_on_.push_back(r);
      counts_.push_back(verifier_.num_path + 1);
      slots_.push_back(0);
      for (const std::int32_t node : path_) slots_.push_back(node + 1);
    }
    running_ = going_on_;
    if (running_.empty()) return 0;
    DflashKeep keep{};
    keep.num_requests = static_cast<std::int64_t>(going_on_.size());
    keep.num_slots = static_cast<std::int64_t>(slots_.size());
    keep.request = going_on_.data();
    keep.keep_count = counts_.data();
    keep.slot = slots_.data();
    return args_.keep(args_.model, &keep);
  }

  /// Gives request r what was emitted; false when it has ended.
  bool take(std::int64_t r, const Ends& ends) {
    std::copy(emit_.begin(), emit_.end(), args_.emit + r * args_.emit_stride + args_.num_emit[r]);
    context_[r].insert(context_[r].end(), emit_.begin(), emit_.end());
    args_.num_emit[r] += verifier_.num_emit;
    args_.accepted[r] += verifier_.num_path;
    ++args_.rounds[r];
    return args_.num_emit[r] < args_.max_new[r] && !ends.hold(emit_.back());
  }

  const DflashGenerateArgs& args_;
  Verifier verifier_;
  std::vector<I32s> context_;
  I64s running_, going_on_, lengths_, nodes_, rows_, position_, counts_, slots_;
  I32s joined_, parent_, token_, row_token_, emit_, path_;
  std::vector<std::uint64_t> mask_;
  std::vector<float> logits_;
};
