// SPDX-License-Identifier: Apache-2.0
#include "call.h"

#include <algorithm>
#include <fmt/format.h>
#include <type_traits>

#include "graders/kit/bits.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// Logits of every row of a batch, rows `stride` floats apart.
std::vector<float> batch_logits(const Batch& batch, std::int64_t stride, float between) {
  const JoinedTrees joined(batch.drafts);
  const auto vocab = static_cast<std::size_t>(batch.language->vocab());
  // The last row ends with its last logit, so that a guard page can follow it.
  const auto gaps = static_cast<std::size_t>(stride * std::max<std::int64_t>(joined.rows - 1, 0));
  std::vector<float> logits(joined.rows == 0 ? 0 : gaps + vocab, between);
  std::size_t row = 0;
  for (const Draft& draft : batch.drafts)
    for (const State text : row_states(*batch.language, draft.tree, draft.root)) {
      const auto cells = std::span(logits).subspan(static_cast<std::size_t>(stride) * row++, vocab);
      write_logits(*batch.language, batch.logits, text, cells);
    }
  return logits;
}

/// Sets what all three structs begin with. No array is placed below 8 bytes, the largest element.
template <class Args>
void put_header(Args& args, const CallOptions& options) {
  kit::set_header(args, DFLASH_ABI_VERSION, DFLASH_HOST, options);
  if (options.least_promised || !options.displaced.empty()) args.min_align = 8;
}

Placement place_of(const CallOptions& options, std::string_view array) {
  return array == options.displaced ? Placement{16, 8} : options.placement;
}

/// Arrays of one call, placed and left out as its options say.
template <class Made>
struct Arrays {
  Made& call;
  const CallOptions& options;
  kit::HeldIntegers& held;

  template <class T>
  void give(const char* name, const T* const& field, const std::vector<T>& data) const {
    if (!options.left_out(name, std::ssize(data)))
      call.in(name, field, data, place_of(options, name));
  }
  template <class T>
  void take(const char* name, T* const& field, std::size_t count,
            std::vector<Output<T>>& to) const {
    if (options.left_out(name, static_cast<std::int64_t>(count))) return;
    if constexpr (std::is_signed_v<T>)
      to.push_back(held.add(call, name, field, count, place_of(options, name)));
    else
      to.push_back(call.template out<T>(name, field, count, place_of(options, name)));
  }
};

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
  put_header(args, options);
  args.num_trees = std::ssize(batch.drafts);
  args.vocab = batch.language->vocab();
  args.num_eos = std::ssize(eos_);
  const bool far = options.is_far("logits") && trees.rows > 0;
  const std::int64_t stride = args.vocab + (far ? 0 : options.stride_extra);
  logits_ = batch_logits(batch, stride, options.between);
  args.logits_stride = far ? options.far->stride : stride;
  const Arrays<VerifyCall> arrays{*this, options, held_};
  arrays.give("node_start", args.node_start, trees.node_start);
  arrays.give("parent", args.parent, trees.parent);
  arrays.give("token", args.token, trees.token);
  arrays.give("eos", args.eos, eos_);
  arrays.give("max_emit", args.max_emit, max_emit);
  if (far)
    add_far_logits();
  else
    arrays.give("logits", args.logits, logits_);
  const auto rows = static_cast<std::size_t>(trees.rows);
  arrays.take("emit", args.emit, rows, lists_);
  arrays.take("path", args.path, rows, lists_);
  arrays.take("num_emit", args.num_emit, max_emit.size(), counts_);
  arrays.take("num_path", args.num_path, max_emit.size(), counts_);
}

void VerifyCall::add_far_logits() {
  const auto vocab = static_cast<std::size_t>(args.vocab);
  std::vector<std::span<const float>> rows;
  for (std::size_t row = 0; row < static_cast<std::size_t>(trees.rows); ++row)
    rows.push_back(std::span<const float>(logits_).subspan(row * vocab, vocab));
  in_parts("logits", args.logits, rows, args.logits_stride);
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
  put_header(args, options);
  args.num_trees = std::ssize(batch.drafts);
  args.mask_words = (trees.widest + 63) / 64 + options.spare_words;
  const Arrays<BuildCall> arrays{*this, options, held_};
  arrays.give("node_start", args.node_start, trees.node_start);
  arrays.give("parent", args.parent, trees.parent);
  arrays.give("context_length", args.context_length, context_length);
  const auto rows = static_cast<std::size_t>(trees.rows);
  arrays.take("mask", args.mask, rows * static_cast<std::size_t>(args.mask_words), mask_);
  arrays.take("position", args.position, rows, position_);
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

std::span<const std::uint64_t> BuildCall::words(std::size_t row) const {
  const auto words = static_cast<std::size_t>(args.mask_words);
  return mask_[0].view().subspan(row * words, words);
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
  put_header(args, options);
  args.num_requests = std::ssize(problem.prompts);
  args.vocab = problem.language->vocab();
  args.num_eos = std::ssize(eos_);
  args.draft_budget = problem.budget;
  args.emit_stride = longest + options.stride_extra;
  const Arrays<GenerateCall> arrays{*this, options, held_};
  arrays.give("prompt_start", args.prompt_start, prompt_start);
  arrays.give("prompt", args.prompt, prompt_);
  arrays.give("max_new", args.max_new, max_new);
  arrays.give("eos", args.eos, eos_);
  const std::size_t requests = problem.prompts.size();
  if (options.is_far("emit") && requests > 0) {
    emit_ = out_parts<std::int32_t>("emit", args.emit, requests, static_cast<std::size_t>(longest),
                                    options.far->stride);
    args.emit_stride = options.far->stride;
  } else {
    arrays.take("emit", args.emit, requests * static_cast<std::size_t>(args.emit_stride), emit_);
  }
  arrays.take("num_emit", args.num_emit, requests, counts_);
  arrays.take("rounds", args.rounds, requests, counts_);
  arrays.take("accepted", args.accepted, requests, counts_);
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

bool GenerateCall::rows_far_apart() const {
  return emit_[0].view().size() < static_cast<std::size_t>(args.emit_stride);
}

std::span<const std::int32_t> GenerateCall::emit_row(std::size_t r) const {
  const auto stride = static_cast<std::size_t>(args.emit_stride);
  if (stride == 0) return {};
  if (rows_far_apart()) return emit_[r].view();
  return emit_[0].view().subspan(r * stride, stride);
}

std::vector<std::int32_t> GenerateCall::emitted(std::size_t r) const {
  const auto row = emit_row(r);
  return {row.begin(), row.begin() + num_emit(r)};
}

bool GenerateCall::wrote_beyond(std::size_t r) const {
  const auto row = emit_row(r).subspan(static_cast<std::size_t>(max_new[r]));
  if (row.empty()) return false;  // and emit may be null
  if (rows_far_apart()) return !kit::is_poison(row);
  return std::ranges::any_of(row, [](std::int32_t token) { return token != kit::kHeld; });
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
