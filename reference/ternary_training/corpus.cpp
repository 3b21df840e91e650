// SPDX-License-Identifier: Apache-2.0
#include "corpus.h"

#include <algorithm>
#include <numeric>

namespace ternary {
namespace {

constexpr std::int64_t kHeldOutShare = 20;  // one token of so many

}  // namespace

Corpus split(const TernaryTrainArgs& args) {
  const std::int64_t total = args.num_tokens;
  const std::int64_t wanted = total / kHeldOutShare;
  Corpus corpus{Text(args.token, args.token + total), {}};
  if (wanted < 2 || total - 2 * wanted < args.model.context + 1) return corpus;
  std::vector<std::int64_t> order(static_cast<std::size_t>(args.num_documents));
  std::iota(order.begin(), order.end(), 0);
  Random random(args.seed ^ 0x68656c646f7574);
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1],
              order[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))]);
  std::vector<bool> held(order.size());
  std::int64_t taken = 0;
  for (const std::int64_t d : order) {
    const std::int64_t size = args.document_start[d + 1] - args.document_start[d];
    if (size == 0 || taken + size > wanted + wanted / 2) continue;
    held[static_cast<std::size_t>(d)] = true;
    taken += size;
    if (taken >= wanted / 2 + wanted / 4) break;
  }
  corpus.training.clear();
  for (std::size_t d = 0; d < held.size(); ++d) {
    Text& to = held[d] ? corpus.held_out : corpus.training;
    to.insert(to.end(), args.token + args.document_start[d],
              args.token + args.document_start[d + 1]);
  }
  if (taken < wanted / 2) {
    corpus.held_out.assign(args.token + total - wanted, args.token + total);
    corpus.training.assign(args.token, args.token + total - wanted);
  }
  return corpus;
}

std::vector<Stretch> Batches::next(std::int64_t tokens) {
  std::vector<Stretch> windows;
  while (tokens > 0) {
    if (starts_.empty()) deal();
    const std::int64_t length = std::min(tokens, context_);
    windows.push_back({text_.data() + starts_.back(), length});
    starts_.pop_back();
    tokens -= length;
  }
  return windows;
}

void Batches::deal() {
  const auto predictions = static_cast<std::int64_t>(text_.size()) - 1;
  const std::int64_t slack = std::min(context_, predictions - context_ + 1);
  for (std::int64_t at = random_.below(slack); at + context_ <= predictions; at += context_)
    starts_.push_back(at);
  for (std::size_t i = starts_.size(); i > 1; --i)
    std::swap(starts_[i - 1],
              starts_[static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(i)))]);
}

}  // namespace ternary
