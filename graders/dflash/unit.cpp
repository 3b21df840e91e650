#include "unit.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

#include "evidence.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// A drawing of a bigger tree is no picture.
using Lines = std::vector<std::string>;
Lines drawn(const Draft& draft, const std::function<Lines()>& draw) {
  return draft.tree.nodes() > 300 ? Lines() : draw();
}

std::string case_of(const Draft& draft) {
  return fmt::format("{} nodes after {} tokens, max_emit {}", draft.tree.nodes(),
                     draft.context_length + 1, draft.max_emit);
}

}  // namespace

Joined::Joined(const std::vector<Draft>& drafts) {
  for (const Draft& draft : drafts) {
    parent.insert(parent.end(), draft.tree.parent.begin(), draft.tree.parent.end());
    token.insert(token.end(), draft.tree.token.begin(), draft.tree.token.end());
    node_start.push_back(std::ssize(parent));
    widest = std::max(widest, draft.tree.rows());
    rows += draft.tree.rows();
  }
}

std::vector<float> batch_logits(const Batch& batch, std::int64_t stride) {
  const Joined joined(batch.drafts);
  const auto vocab = static_cast<std::size_t>(batch.language->vocab());
  // The last row ends with its last logit, so that a guard page can follow it.
  const auto gaps = static_cast<std::size_t>(stride * std::max<std::int64_t>(joined.rows - 1, 0));
  const std::size_t all = joined.rows == 0 ? 0 : gaps + vocab;
  std::vector<float> logits(all, std::numeric_limits<float>::quiet_NaN());
  std::size_t row = 0;
  for (const Draft& draft : batch.drafts)
    for (const State text : row_states(*batch.language, draft.tree, draft.root)) {
      const auto cells = std::span(logits).subspan(static_cast<std::size_t>(stride) * row++, vocab);
      batch.logits ? batch.logits(text, cells) : batch.language->logits(text, cells);
    }
  return logits;
}

VerifyCall::VerifyCall(const Batch& batch) : joined_(batch.drafts), eos_(batch.language->eos()) {
  const std::int64_t stride = batch.language->vocab() + batch.manner.stride_extra;
  logits_ = batch_logits(batch, stride);
  for (const Draft& draft : batch.drafts) max_emit_.push_back(draft.max_emit);
  DflashVerifyArgs& args = call.args;
  set_run(args, batch.manner);
  args.num_trees = std::ssize(batch.drafts);
  args.vocab = batch.language->vocab();
  args.num_eos = std::ssize(eos_);
  args.logits_stride = stride;
  const Placement place = batch.manner.placement;
  call.in("node_start", args.node_start, joined_.node_start, place);
  call.in("parent", args.parent, joined_.parent, place);
  call.in("token", args.token, joined_.token, place);
  call.in("eos", args.eos, eos_, place);
  call.in("max_emit", args.max_emit, max_emit_, place);
  call.in("logits", args.logits, logits_, place);
  const auto rows = static_cast<std::size_t>(joined_.rows);
  lists_.push_back(call.out<std::int32_t>("emit", args.emit, rows, place));
  lists_.push_back(call.out<std::int32_t>("path", args.path, rows, place));
  counts_.push_back(call.out<std::int64_t>("num_emit", args.num_emit, max_emit_.size(), place));
  counts_.push_back(call.out<std::int64_t>("num_path", args.num_path, max_emit_.size(), place));
}

Walk VerifyCall::walk(std::size_t t, std::string* complaint) const {
  Walk result;
  const std::int64_t room = joined_.node_start[t + 1] - joined_.node_start[t] + 1;
  for (const std::size_t list : {0, 1}) {
    const std::int64_t count = counts_[list].view()[t];
    if (count < 0 || count > room) {
      *complaint = fmt::format("{}[{}] is {}, the tree has {} rows",
                               list == 0 ? "num_emit" : "num_path", t, count, room);
      continue;
    }
    const auto part = lists_[list].view().subspan(static_cast<std::size_t>(joined_.first_row(t)),
                                                  static_cast<std::size_t>(count));
    (list == 0 ? result.emit : result.path).assign(part.begin(), part.end());
  }
  return result;
}

BuildCall::BuildCall(const Batch& batch) : joined_(batch.drafts) {
  for (const Draft& draft : batch.drafts) context_length_.push_back(draft.context_length);
  DflashBuildArgs& args = call.args;
  set_run(args, batch.manner);
  args.num_trees = std::ssize(batch.drafts);
  args.mask_words = (joined_.widest + 63) / 64 + batch.manner.spare_words;
  const Placement place = batch.manner.placement;
  call.in("node_start", args.node_start, joined_.node_start, place);
  call.in("parent", args.parent, joined_.parent, place);
  call.in("context_length", args.context_length, context_length_, place);
  const auto rows = static_cast<std::size_t>(joined_.rows);
  mask_.push_back(call.out<std::uint64_t>("mask", args.mask,
                                          rows * static_cast<std::size_t>(args.mask_words), place));
  position_.push_back(call.out<std::int64_t>("position", args.position, rows, place));
}

std::vector<std::vector<bool>> BuildCall::mask(std::size_t t) const {
  const auto words = static_cast<std::size_t>(call.args.mask_words);
  const auto rows = static_cast<std::size_t>(joined_.node_start[t + 1] - joined_.node_start[t] + 1);
  const auto first = static_cast<std::size_t>(joined_.first_row(t));
  std::vector<std::vector<bool>> bits(rows, std::vector<bool>(64 * words));
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t j = 0; j < 64 * words; ++j)
      bits[row][j] = mask_[0].view()[(first + row) * words + j / 64] >> (j % 64) & 1;
  return bits;
}

std::vector<std::int64_t> BuildCall::positions(std::size_t t) const {
  const auto rows = static_cast<std::size_t>(joined_.node_start[t + 1] - joined_.node_start[t] + 1);
  const auto part =
      position_[0].view().subspan(static_cast<std::size_t>(joined_.first_row(t)), rows);
  return {part.begin(), part.end()};
}

std::int64_t expect_greedy(Probe& probe, const Batch& batch) {
  VerifyCall verify(batch);
  probe.run_ok(verify.call);
  std::int64_t missed = 0;
  const Draft* worst = nullptr;
  Walk shown;
  std::string why;
  for (std::size_t t = 0; t < batch.drafts.size(); ++t) {
    const Draft& draft = batch.drafts[t];
    std::string complaint;
    Walk got = verify.walk(t, &complaint);
    if (complaint.empty()) complaint = fault(*batch.language, draft, got).value_or("");
    if (complaint.empty())
      missed += std::ssize(greedy(*batch.language, draft).path) - std::ssize(got.path);
    if (complaint.empty() || (worst != nullptr && worst->tree.nodes() <= draft.tree.nodes()))
      continue;
    worst = &draft;
    shown = std::move(got);
    why = std::move(complaint);
  }
  if (worst != nullptr)
    probe.fail(fmt::format("{} ({})", why, case_of(*worst)),
               drawn(*worst, [&] { return draw_walks(*batch.language, *worst, shown); }));
  return missed;
}

namespace {

void expect_mask(Probe& probe, const Draft& draft, const std::vector<std::vector<bool>>& got) {
  const auto want = visible(draft.tree);
  for (std::size_t row = 0; row < want.size(); ++row)
    for (std::size_t j = 0; j < got[row].size(); ++j) {
      const bool wanted = j < want.size() && want[row][j];
      if (got[row][j] == wanted) continue;
      const std::string slot = j >= want.size() ? "a slot that the tree does not have"
                               : j == row       ? "its own slot"
                               : wanted         ? "an ancestor's slot"
                                                : "a slot that is no ancestor's";
      auto cut = got;
      for (auto& bits : cut) bits.resize(want.size());
      probe.fail(fmt::format("mask bit [{}][{}] is {}, want {}: row {} {} {} ({} nodes)", row, j,
                             int{got[row][j]}, int{wanted}, row, wanted ? "does not see" : "sees",
                             slot, draft.tree.nodes()),
                 drawn(draft, [&] { return draw_masks(draft, cut); }));
    }
}

void expect_positions(Probe& probe, const Draft& draft, const std::vector<std::int64_t>& got) {
  const auto depth = depths(draft.tree);
  for (std::size_t row = 0; row < depth.size(); ++row) {
    const std::int64_t want = draft.context_length + depth[row];
    if (got[row] == want) continue;
    probe.fail(fmt::format("position[{}] is {}, want {}: depth {} after {} committed tokens", row,
                           got[row], want, depth[row], draft.context_length),
               drawn(draft, [&] { return draw_positions(draft, got); }));
  }
}

}  // namespace

void expect_built(Probe& probe, const Batch& batch, Wanted wanted) {
  BuildCall build(batch);
  probe.run_ok(build.call);
  for (std::size_t t = 0; t < batch.drafts.size(); ++t) {
    if (wanted.masks) expect_mask(probe, batch.drafts[t], build.mask(t));
    if (wanted.positions) expect_positions(probe, batch.drafts[t], build.positions(t));
  }
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
