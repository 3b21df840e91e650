// SPDX-License-Identifier: Apache-2.0
// What all variants share about dflash_generate: rounds of draft, pass, decision and keeping. What
// a pass looks like is a parameter; in most variants it holds the trees as they were drafted.
#ifndef ROUNDS_H  // and no pragma: a mutant has a changed copy of this file for its main file
#define ROUNDS_H

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common.h"

namespace {

struct Request {
  List<std::int32_t> context;  // prompt and emitted tokens; the last one is the next root
  std::int64_t emitted = 0;
  std::int64_t rounds = 0;
  std::int64_t accepted = 0;
};

struct Draft {
  List<std::int32_t> parent;
  List<std::int32_t> token;
};

std::int64_t ask_drafts(const DflashGenerateArgs& a, const List<std::int64_t>& running,
                        const List<Request>& requests, List<Draft>& drafts) {
  List<std::int32_t> context;
  List<std::int64_t> lengths;
  for (const std::int64_t r : running) {
    const List<std::int32_t>& known = requests[r].context;
    context.insert(context.end(), known.begin(), known.end());
    lengths.push_back(known.size());
  }
  List<std::int64_t> nodes(running.size());
  List<std::int32_t> parent(running.size() * a.draft_budget);
  List<std::int32_t> token(running.size() * a.draft_budget);
  DflashDraft ask{};
  ask.num_requests = running.size();
  ask.num_tokens = context.size();
  ask.budget = a.draft_budget;
  ask.request = running.data();
  ask.context_length = lengths.data();
  ask.context = context.data();
  ask.num_nodes = nodes.data();
  ask.parent = parent.data();
  ask.token = token.data();
  if (const std::int64_t code = a.draft(a.model, &ask)) return code;
  for (std::size_t k = 0; k < running.size(); ++k) {
    const std::int32_t* first = parent.data() + k * a.draft_budget;
    if (nodes[k] > a.draft_budget || !valid_tree(first, nodes[k])) return DFLASH_BAD_ARGUMENT;
    const std::int32_t* word = token.data() + k * a.draft_budget;
    drafts.push_back({{first, first + nodes[k]}, {word, word + nodes[k]}});
  }
  return 0;
}

/// What the target is to read, one running request after the other.
struct Rows {
  List<std::int64_t> lengths;  // committed tokens of each request
  List<std::int64_t> counts;   // rows of each request
  List<std::int32_t> token;
  List<std::int64_t> position;
  std::int64_t words = 0;
  List<std::uint64_t> mask;
};

std::int64_t ask_target(const DflashGenerateArgs& a, const List<std::int64_t>& running,
                        const Rows& rows, List<float>& logits) {
  logits.resize(rows.token.size() * a.vocab);
  DflashForward pass{};
  pass.num_requests = running.size();
  pass.num_rows = rows.token.size();
  pass.mask_words = rows.words;
  pass.vocab = a.vocab;
  pass.request = running.data();
  pass.context_length = rows.lengths.data();
  pass.row_count = rows.counts.data();
  pass.token = rows.token.data();
  pass.position = rows.position.data();
  pass.mask = rows.mask.data();
  pass.logits = logits.data();
  return a.forward(a.model, &pass);
}

/// What a pass decided for one request.
struct Outcome {
  Decision decision;
  List<std::int64_t> slots;  // to keep
};

std::int64_t keep(const DflashGenerateArgs& a, const List<std::int64_t>& running,
                  const List<Outcome>& outcomes) {
  List<std::int64_t> counts, slots;
  for (const Outcome& outcome : outcomes) {
    counts.push_back(outcome.slots.size());
    slots.insert(slots.end(), outcome.slots.begin(), outcome.slots.end());
  }
  DflashKeep keep{};
  keep.num_requests = running.size();
  keep.num_slots = slots.size();
  keep.request = running.data();
  keep.keep_count = counts.data();
  keep.slot = slots.data();
  return a.keep(a.model, &keep);
}

/// A pass over the trees as they were drafted.
class TreePass {
 public:
  TreePass(const DflashGenerateArgs& a, const List<std::int64_t>& running,
           const List<Request>& requests, const List<Draft>& drafts)
      : a_(a), running_(running), requests_(requests), drafts_(drafts) {}

  static bool wants_drafts(const DflashGenerateArgs&, const List<std::int64_t>&,
                           const List<Request>&) {
    return true;
  }

  std::int64_t read() {
    Rows rows;
    std::int64_t widest = 0;
    for (std::size_t k = 0; k < running_.size(); ++k) {
      const Request& request = requests_[running_[k]];
      first_row_.push_back(rows.token.size());
      rows.lengths.push_back(request.context.size() - 1);
      rows.counts.push_back(drafts_[k].token.size() + 1);
      rows.token.push_back(request.context.back());
      rows.token.insert(rows.token.end(), drafts_[k].token.begin(), drafts_[k].token.end());
      widest = std::max(widest, rows.counts.back());
    }
    rows.words = (widest + 63) / 64;
    rows.mask.resize(rows.token.size() * rows.words);
    rows.position.resize(rows.token.size());
    for (std::size_t k = 0; k < running_.size(); ++k)
      build_tree(drafts_[k].parent.data(), drafts_[k].parent.size(), rows.words, rows.lengths[k],
                 rows.mask.data() + first_row_[k] * rows.words,
                 rows.position.data() + first_row_[k]);
    return ask_target(a_, running_, rows, logits_);
  }

  Outcome outcome(std::size_t k, std::int64_t max_emit) const {
    const Draft& draft = drafts_[k];
    const Tree tree{static_cast<std::int64_t>(draft.token.size()),
                    draft.parent.data(),
                    draft.token.data(),
                    logits_.data() + first_row_[k] * a_.vocab,
                    a_.vocab,
                    a_.vocab};
    const Decision decision = decide(tree, a_.eos, a_.num_eos, max_emit);
    List<std::int64_t> slots{0};
    for (const std::int32_t node : decision.path) slots.push_back(node + 1);
    return {decision, slots};
  }

 private:
  const DflashGenerateArgs& a_;
  const List<std::int64_t>& running_;
  const List<Request>& requests_;
  const List<Draft>& drafts_;
  List<std::int64_t> first_row_;
  List<float> logits_;
};

template <class Pass>
std::int64_t run_rounds(const DflashGenerateArgs& a) {
  List<Request> requests(a.num_requests);
  List<std::int64_t> running;
  for (std::int64_t r = 0; r < a.num_requests; ++r) {
    requests[r].context.assign(a.prompt + a.prompt_start[r], a.prompt + a.prompt_start[r + 1]);
    if (a.max_new[r] > 0) running.push_back(r);
  }
  while (!running.empty()) {
    List<Draft> drafts;
    if (Pass::wants_drafts(a, running, requests)) {
      if (const std::int64_t code = ask_drafts(a, running, requests, drafts)) return code;
    }
    drafts.resize(running.size());
    Pass pass(a, running, requests, drafts);
    if (const std::int64_t code = pass.read()) return code;
    List<std::int64_t> going_on;
    List<Outcome> outcomes;
    for (std::size_t k = 0; k < running.size(); ++k) {
      const std::int64_t r = running[k];
      Request& request = requests[r];
      Outcome outcome = pass.outcome(k, a.max_new[r] - request.emitted);
      const Decision& decision = outcome.decision;
      for (const std::int32_t token : decision.emit) {
        a.emit[r * a.emit_stride + request.emitted++] = token;
        request.context.push_back(token);
      }
      request.accepted += decision.path.size();
      ++request.rounds;
      const bool ended = is_end(a.eos, a.num_eos, decision.emit.back());
      if (ended || request.emitted >= a.max_new[r]) continue;
      going_on.push_back(r);
      outcomes.push_back(std::move(outcome));
    }
    running = std::move(going_on);
    if (running.empty()) break;
    if (const std::int64_t code = keep(a, running, outcomes)) return code;
  }
  for (std::int64_t r = 0; r < a.num_requests; ++r) {
    a.num_emit[r] = requests[r].emitted;
    a.rounds[r] = requests[r].rounds;
    a.accepted[r] = requests[r].accepted;
  }
  return DFLASH_OK;
}

/// dflash_generate with passes of a kind.
template <class Pass>
std::int64_t generate(const DflashGenerateArgs* args) {
  const DflashGenerateArgs& a = *args;
  if (a.abi_version != DFLASH_ABI_VERSION || a.device != DFLASH_HOST) return DFLASH_UNSUPPORTED;
  if (a.num_threads < 1 || a.num_requests < 0 || a.vocab < 1 || a.num_eos < 0 || a.draft_budget < 0)
    return DFLASH_BAD_ARGUMENT;
  if (a.prompt_start[0] != 0) return DFLASH_BAD_ARGUMENT;
  for (std::int64_t r = 0; r < a.num_requests; ++r)
    if (a.prompt_start[r + 1] <= a.prompt_start[r] || a.max_new[r] < 0 ||
        a.max_new[r] > a.emit_stride)
      return DFLASH_BAD_ARGUMENT;
  return run_rounds<Pass>(a);
}

}  // namespace

#if __INCLUDE_LEVEL__ == 0
#include "whole.h"
#endif
#endif
