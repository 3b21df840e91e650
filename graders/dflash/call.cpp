// SPDX-License-Identifier: Apache-2.0
#include "call.h"

#include <algorithm>
#include <fmt/format.h>

#include "graders/kit/bits.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// Logits of every row of a batch, rows `stride` floats apart.
std::vector<float> batch_logits(const Batch& batch, std::int64_t stride) {
  const JoinedTrees joined(batch.drafts);
  const auto vocab = static_cast<std::size_t>(batch.language->vocab());
  // The last row ends with its last logit, so that a guard page can follow it.
  const auto gaps = static_cast<std::size_t>(stride * std::max<std::int64_t>(joined.rows - 1, 0));
  std::vector<float> logits(joined.rows == 0 ? 0 : gaps + vocab, kit::kNan);
  std::size_t row = 0;
  for (const Draft& draft : batch.drafts)
    for (const State text : row_states(*batch.language, draft.tree, draft.root)) {
      const auto cells = std::span(logits).subspan(static_cast<std::size_t>(stride) * row++, vocab);
      batch.logits ? batch.logits(text, cells) : batch.language->logits(text, cells);
    }
  return logits;
}

CallbackArray array_of(Direction direction, std::size_t field, std::size_t element,
                       std::size_t count, std::int64_t times = -1) {
  return {field, direction, element, 1, {static_cast<std::int64_t>(count), times}};
}

std::vector<CallbackArray> draft_arrays() {
  using D = DflashDraft;
  using enum Direction;
  return {array_of(in, offsetof(D, request), 8, offsetof(D, num_requests)),
          array_of(in, offsetof(D, context_length), 8, offsetof(D, num_requests)),
          array_of(in, offsetof(D, context), 4, offsetof(D, num_tokens)),
          array_of(out, offsetof(D, num_nodes), 8, offsetof(D, num_requests)),
          array_of(out, offsetof(D, parent), 4, offsetof(D, num_requests), offsetof(D, budget)),
          array_of(out, offsetof(D, token), 4, offsetof(D, num_requests), offsetof(D, budget))};
}

std::vector<CallbackArray> forward_arrays() {
  using F = DflashForward;
  using enum Direction;
  return {array_of(in, offsetof(F, request), 8, offsetof(F, num_requests)),
          array_of(in, offsetof(F, context_length), 8, offsetof(F, num_requests)),
          array_of(in, offsetof(F, row_count), 8, offsetof(F, num_requests)),
          array_of(in, offsetof(F, token), 4, offsetof(F, num_rows)),
          array_of(in, offsetof(F, position), 8, offsetof(F, num_rows)),
          array_of(in, offsetof(F, mask), 8, offsetof(F, num_rows), offsetof(F, mask_words)),
          array_of(out, offsetof(F, logits), 4, offsetof(F, num_rows), offsetof(F, vocab))};
}

std::vector<CallbackArray> keep_arrays() {
  using K = DflashKeep;
  using enum Direction;
  return {array_of(in, offsetof(K, request), 8, offsetof(K, num_requests)),
          array_of(in, offsetof(K, keep_count), 8, offsetof(K, num_requests)),
          array_of(in, offsetof(K, slot), 8, offsetof(K, num_slots))};
}

}  // namespace

JoinedTrees::JoinedTrees(const std::vector<Draft>& drafts) {
  for (const Draft& draft : drafts) {
    parent.insert(parent.end(), draft.tree.parent.begin(), draft.tree.parent.end());
    token.insert(token.end(), draft.tree.token.begin(), draft.tree.token.end());
    node_start.push_back(std::ssize(parent));
    widest = std::max(widest, draft.tree.rows());
    rows += draft.tree.rows();
  }
}

VerifyCall::VerifyCall(const Batch& batch, const CallOptions& options)
    : Call("dflash_verify"), trees(batch.drafts), eos_(batch.language->eos()) {
  for (const Draft& draft : batch.drafts) max_emit.push_back(draft.max_emit);
  kit::set_header(args, DFLASH_ABI_VERSION, DFLASH_HOST, options);
  args.num_trees = std::ssize(batch.drafts);
  args.vocab = batch.language->vocab();
  args.num_eos = std::ssize(eos_);
  args.logits_stride = args.vocab + options.stride_extra;
  logits_ = batch_logits(batch, args.logits_stride);
  const Placement place = options.placement;
  in("node_start", args.node_start, trees.node_start, place);
  in("parent", args.parent, trees.parent, place);
  in("token", args.token, trees.token, place);
  in("eos", args.eos, eos_, place);
  in("max_emit", args.max_emit, max_emit, place);
  in("logits", args.logits, logits_, place);
  const auto rows = static_cast<std::size_t>(trees.rows);
  lists_.push_back(out<std::int32_t>("emit", args.emit, rows, place));
  lists_.push_back(out<std::int32_t>("path", args.path, rows, place));
  counts_.push_back(out<std::int64_t>("num_emit", args.num_emit, max_emit.size(), place));
  counts_.push_back(out<std::int64_t>("num_path", args.num_path, max_emit.size(), place));
}

Walk VerifyCall::walk(std::size_t t, std::string* complaint) const {
  Walk result;
  for (const std::size_t list : {0, 1}) {
    const std::int64_t count = counts_[list].view()[t];
    if (count < 0 || count > static_cast<std::int64_t>(trees.rows_of(t))) {
      *complaint = fmt::format("{}[{}] is {}, the tree has {} rows",
                               list == 0 ? "num_emit" : "num_path", t, count, trees.rows_of(t));
      continue;
    }
    const auto part =
        lists_[list].view().subspan(trees.first_row(t), static_cast<std::size_t>(count));
    (list == 0 ? result.emit : result.path).assign(part.begin(), part.end());
  }
  return result;
}

BuildCall::BuildCall(const Batch& batch, const CallOptions& options)
    : Call("dflash_build"), trees(batch.drafts) {
  for (const Draft& draft : batch.drafts) context_length.push_back(draft.context_length);
  kit::set_header(args, DFLASH_ABI_VERSION, DFLASH_HOST, options);
  args.num_trees = std::ssize(batch.drafts);
  args.mask_words = (trees.widest + 63) / 64 + options.spare_words;
  const Placement place = options.placement;
  in("node_start", args.node_start, trees.node_start, place);
  in("parent", args.parent, trees.parent, place);
  in("context_length", args.context_length, context_length, place);
  const auto rows = static_cast<std::size_t>(trees.rows);
  mask_.push_back(out<std::uint64_t>("mask", args.mask,
                                     rows * static_cast<std::size_t>(args.mask_words), place));
  position_.push_back(out<std::int64_t>("position", args.position, rows, place));
}

std::vector<std::vector<bool>> BuildCall::mask(std::size_t t) const {
  const auto words = static_cast<std::size_t>(args.mask_words);
  std::vector<std::vector<bool>> bits(trees.rows_of(t), std::vector<bool>(64 * words));
  const auto written = mask_[0].view().subspan(trees.first_row(t) * words);
  for (std::size_t row = 0; row < bits.size(); ++row)
    for (std::size_t j = 0; j < 64 * words; ++j)
      bits[row][j] = written[row * words + j / 64] >> (j % 64) & 1;
  return bits;
}

std::span<const std::int64_t> BuildCall::positions(std::size_t t) const {
  return position_[0].view().subspan(trees.first_row(t), trees.rows_of(t));
}

GenerateCall::GenerateCall(const Problem& problem, const CallOptions& options)
    : Call("dflash_generate"),
      model(std::make_shared<Model>(problem)),
      eos_(problem.language->eos()) {
  std::int64_t longest = 0;
  for (const Prompt& prompt : problem.prompts) {
    prompt_.insert(prompt_.end(), prompt.tokens.begin(), prompt.tokens.end());
    prompt_start.push_back(std::ssize(prompt_));
    max_new.push_back(prompt.max_new);
    longest = std::max(longest, prompt.max_new);
  }
  kit::set_header(args, DFLASH_ABI_VERSION, DFLASH_HOST, options);
  args.num_requests = std::ssize(problem.prompts);
  args.vocab = problem.language->vocab();
  args.num_eos = std::ssize(eos_);
  args.draft_budget = problem.budget;
  args.emit_stride = longest + options.stride_extra;
  const Placement place = options.placement;
  in("prompt_start", args.prompt_start, prompt_start, place);
  in("prompt", args.prompt, prompt_, place);
  in("max_new", args.max_new, max_new, place);
  in("eos", args.eos, eos_, place);
  const std::size_t requests = problem.prompts.size();
  emit_.push_back(out<std::int32_t>("emit", args.emit,
                                    requests * static_cast<std::size_t>(args.emit_stride), place));
  counts_.push_back(out<std::int64_t>("num_emit", args.num_emit, requests, place));
  counts_.push_back(out<std::int64_t>("rounds", args.rounds, requests, place));
  counts_.push_back(out<std::int64_t>("accepted", args.accepted, requests, place));
  callback<std::int64_t(void*, DflashDraft*), DflashDraft>(
      "draft", args.draft, args.model, draft_arrays(),
      [this](DflashDraft& ask, CallbackRequest& raw) { return model->draft(ask, raw); });
  callback<std::int64_t(void*, DflashForward*), DflashForward>(
      "forward", args.forward, args.model, forward_arrays(),
      [this](DflashForward& ask, CallbackRequest& raw) { return model->forward(ask, raw); });
  callback<std::int64_t(void*, DflashKeep*), DflashKeep>(
      "keep", args.keep, args.model, keep_arrays(),
      [this](DflashKeep& ask, CallbackRequest& raw) { return model->keep(ask, raw); });
}

std::span<const std::int32_t> GenerateCall::emit_row(std::size_t r) const {
  const auto stride = static_cast<std::size_t>(args.emit_stride);
  return emit_[0].view().subspan(r * stride, stride);
}

std::vector<std::int32_t> GenerateCall::emitted(std::size_t r) const {
  const auto row = emit_row(r);
  return {row.begin(), row.begin() + num_emit(r)};
}

bool GenerateCall::wrote_beyond(std::size_t r) const {
  return !kit::is_poison(emit_row(r).subspan(static_cast<std::size_t>(max_new[r])));
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
