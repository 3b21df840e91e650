// SPDX-License-Identifier: Apache-2.0
#include "model.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

#include "evidence.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr std::int64_t kRefused = -4712;  // what callbacks return once a rule is broken

/// What a drafter that fails leaves behind: answers that are no trees.
std::int64_t fail_with_no_trees(const DflashDraft& ask, CallbackRequest& raw, std::int64_t code) {
  const std::span<std::int64_t> nodes = raw.array<std::int64_t>(3);
  for (std::size_t k = 0; k < nodes.size(); ++k)
    nodes[k] = ask.budget + static_cast<std::int64_t>(k % 2);
  std::ranges::fill(raw.array<std::int32_t>(4), -7);
  return code;
}

}  // namespace

Model::Model(const Problem& problem) : problem_(problem) {
  const Language& language = *problem.language;
  for (const Prompt& prompt : problem.prompts) {
    const auto length = std::ssize(prompt.tokens);
    const auto decoded =
        language.decode(language.read(prompt.tokens), prompt.max_new + problem.budget + 4);
    Text text;
    text.truth = prompt.tokens;
    text.truth.insert(text.truth.end(), decoded.begin(), decoded.end());
    text.states.push_back(language.read({}));
    for (const std::int32_t token : text.truth)
      text.states.push_back(language.extend(text.states.back(), token));
    text.committed = length - 1;
    text.decided = length;
    text.end = length + std::ssize(until_end(language, decoded, prompt.max_new));
    most_forwards_ += prompt.max_new + 2;
    texts_.push_back(std::move(text));
  }
}

std::int64_t Model::refuse(std::string text, std::vector<std::string> drawing) {
  if (!violation_) violation_ = Violation{std::move(text), std::move(drawing)};
  return kRefused;
}

bool Model::is_over() const {
  return failed_ || std::ranges::all_of(texts_, &Text::ended);
}

/// What a callback has to return when the problem wants it to fail, and every one after it.
std::optional<std::int64_t> Model::failure_of(Problem::Callback callback, std::int64_t call) {
  if (failed_) return ++calls_after_failure_, problem_.failure;
  failed_ = callback == problem_.failing && call == problem_.fail_at;
  return failed_ ? std::optional(problem_.failure) : std::nullopt;
}

/// Every request known and listed once, counts that add up.
bool Model::well_formed(std::string_view callback, std::span<const std::int64_t> requests,
                        std::span<const std::int64_t> counts, std::int64_t least,
                        std::int64_t sum) {
  std::vector<bool> seen(texts_.size());
  for (const std::int64_t r : requests) {
    if (r < 0 || r >= std::ssize(texts_) || seen[static_cast<std::size_t>(r)]) {
      refuse(
          fmt::format("{} lists request {} of {}, or lists it twice", callback, r, texts_.size()));
      return false;
    }
    seen[static_cast<std::size_t>(r)] = true;
  }
  std::int64_t left = sum;
  for (const std::int64_t count : counts) {
    if (count < least || count > left) {
      refuse(fmt::format("{}: the counts of its requests do not add up to {}", callback, sum));
      return false;
    }
    left -= count;
  }
  if (left != 0) refuse(fmt::format("{}: its requests' counts fall {} short", callback, left));
  return left == 0;
}

std::int64_t Model::draft(DflashDraft& ask, CallbackRequest& raw) {
  if (violation_) return kRefused;
  if (const auto failure = failure_of(Problem::Callback::draft, ++drafts_))
    return fail_with_no_trees(ask, raw, *failure);
  if (drafts_ > most_forwards_)
    return refuse(fmt::format("draft {}: one draft a token is enough for any request", drafts_));
  const auto requests = raw.array<const std::int64_t>(0);
  const auto lengths = raw.array<const std::int64_t>(1);
  if (!well_formed("draft", requests, lengths, 0, ask.num_tokens)) return kRefused;
  if (ask.budget < 0 || ask.budget > problem_.budget)
    return refuse(
        fmt::format("draft asks for {} nodes, the budget is {}", ask.budget, problem_.budget));
  whole_drafts_ = whole_drafts_ && ask.budget == problem_.budget;
  auto context = raw.array<const std::int32_t>(2);
  for (std::size_t k = 0; k < requests.size(); ++k) {
    const auto r = static_cast<std::size_t>(requests[k]);
    const auto length = static_cast<std::size_t>(lengths[k]);
    if (texts_[r].passed && !texts_[r].ended())
      return refuse(fmt::format("draft for request {} before its last pass's slots were kept", r));
    const Tree tree = answer_draft(r, context.first(length)).cropped(ask.budget);
    context = context.subspan(length);
    texts_[r].drafted = true;
    raw.array<std::int64_t>(3)[k] = tree.nodes();
    const auto at = static_cast<std::ptrdiff_t>(k) * ask.budget;
    std::copy(tree.parent.begin(), tree.parent.end(), raw.array<std::int32_t>(4).begin() + at);
    std::copy(tree.token.begin(), tree.token.end(), raw.array<std::int32_t>(5).begin() + at);
  }
  if (problem_.spoil_draft) problem_.spoil_draft(ask, raw);
  return 0;
}

/// A drafter that is told the wrong text has nothing to say.
Tree Model::answer_draft(std::size_t r, std::span<const std::int32_t> context) {
  const Text& text = texts_[r];
  const auto known = static_cast<std::size_t>(text.decided);
  if (text.ended()) {
    if (!late_request_)
      late_request_ = {fmt::format("draft for request {}, which has ended", r), {}};
    // Drafters do not know; the rows that come of it are counted.
    return known < text.states.size() ? problem_.drafter(r, text.decided, text.states[known])
                                      : Tree{};
  }
  if (context.size() == known && std::equal(context.begin(), context.end(), text.truth.begin()))
    return problem_.drafter(r, text.decided, text.states[known]);
  if (!stale_context_)
    stale_context_ = {
        fmt::format(
            "draft for request {} is given {} tokens ending in {}, known are {} ending in {}", r,
            context.size(), context.empty() ? -1 : context.back(), known, text.truth[known - 1]),
        {}};
  return {};
}

std::int64_t Model::forward(DflashForward& ask, CallbackRequest& raw) {
  if (violation_) return kRefused;
  if (const auto failure = failure_of(Problem::Callback::forward, ++forwards_)) return *failure;
  if (forwards_ > most_forwards_)
    return refuse(
        fmt::format("forward pass {}: one pass a token is enough for any request", forwards_));
  const std::int64_t vocab = problem_.language->vocab();
  if (ask.vocab != vocab)
    return refuse(fmt::format("forward with vocab {}, the model's is {}", ask.vocab, vocab));
  const auto requests = raw.array<const std::int64_t>(0);
  const auto counts = raw.array<const std::int64_t>(2);
  if (!well_formed("forward", requests, counts, 1, ask.num_rows)) return kRefused;
  rows_ += ask.num_rows;
  std::size_t row = 0;
  for (std::size_t k = 0; k < requests.size(); ++k) {
    const auto r = static_cast<std::size_t>(requests[k]);
    const auto count = static_cast<std::size_t>(counts[k]);
    const auto words = static_cast<std::size_t>(ask.mask_words);
    const PassRows rows{raw.array<const std::int32_t>(3).subspan(row, count),
                        raw.array<const std::int64_t>(4).subspan(row, count),
                        raw.array<const std::uint64_t>(5).subspan(row * words, count * words),
                        ask.mask_words};
    if (count > 64 * words)
      return refuse(fmt::format("forward: {} mask words cannot hold {} rows", words, count));
    const std::int64_t most = DFLASH_MOST_ROWS * (problem_.budget + 1);
    if (counts[k] > most)
      return refuse(fmt::format("forward: {} rows for request {}, allowed are {}", count, r, most));
    if (enter(r, raw.array<const std::int64_t>(1)[k]))
      read(r, rows, raw.array<float>(6).subspan(row * vocab, count * vocab));
    if (violation_) return kRefused;
    row += count;
  }
  return 0;
}

/// Whether request r may take part in a pass; one that has ended gets no logits.
bool Model::enter(std::size_t r, std::int64_t context_length) {
  const Text& text = texts_[r];
  if (text.ended()) {
    if (!late_request_)
      late_request_ = {
          fmt::format("forward pass {} takes request {} along, which has ended", forwards_, r), {}};
    return false;
  }
  if (text.passed)
    return refuse(fmt::format("KV: request {} goes on before its last pass's slots were kept", r)),
           false;
  if (context_length != text.committed)
    return refuse(fmt::format("KV: request {} says that {} tokens are committed; it has kept {}", r,
                              context_length, text.committed)),
           false;
  return true;
}

void Model::read(std::size_t r, const PassRows& rows, std::span<float> logits) {
  const Language& language = *problem_.language;
  Text& text = texts_[r];
  const auto known = static_cast<std::size_t>(text.decided);
  const Draft draft =
      draft_of(problem_, r, text.decided, text.states[known], text.truth[known - 1]);
  if (auto fault = rows_fault(rows, draft)) {
    refuse(fmt::format("request {}, pass {}: {}", r, text.known_at.size() + 1, fault->text),
           std::move(fault->drawing));
    return;
  }
  text.known_at.push_back(text.decided);
  whole_drafts_ = whole_drafts_ && (text.drafted || problem_.budget == 0);
  text.drafted = false;
  text.passed = true;
  text.row_tokens.assign(rows.token.begin(), rows.token.end());
  text.row_states = texts_of(rows, language, draft);
  const auto vocab = static_cast<std::size_t>(language.vocab());
  for (std::size_t row = 0; row < rows.count(); ++row)
    write_logits(language, problem_.logits, text.row_states[row],
                 logits.subspan(row * vocab, vocab));
  // What the pass decides: one token after the deepest row that greedy decoding reaches.
  // Who sees it has seen all rows on the way to it.
  std::size_t next = known + 1;
  while (next < text.states.size() &&
         std::ranges::find(text.row_states, text.states[next]) != text.row_states.end())
    ++next;
  text.decided = static_cast<std::int64_t>(next);
}

std::int64_t Model::keep(DflashKeep& ask, CallbackRequest& raw) {
  if (violation_) return kRefused;
  if (const auto failure = failure_of(Problem::Callback::keep, ++keeps_)) return *failure;
  const auto requests = raw.array<const std::int64_t>(0);
  const auto counts = raw.array<const std::int64_t>(1);
  if (!well_formed("keep", requests, counts, 1, ask.num_slots)) return kRefused;
  auto slots = raw.array<const std::int64_t>(2);
  for (std::size_t k = 0; k < requests.size(); ++k) {
    const auto count = static_cast<std::size_t>(counts[k]);
    if (!keep_slots(static_cast<std::size_t>(requests[k]), slots.first(count))) return kRefused;
    slots = slots.subspan(count);
  }
  return 0;
}

/// Every kept slot must hold the next token of the text, computed after exactly the text before it.
bool Model::keep_slots(std::size_t r, std::span<const std::int64_t> slots) {
  Text& text = texts_[r];
  if (!text.passed)
    return refuse(fmt::format("KV: keep for request {}, which has had no pass since", r)), false;
  for (std::size_t k = 0; k < slots.size(); ++k) {
    const auto next = static_cast<std::size_t>(text.committed) + k;
    const bool known_slot = slots[k] >= 0 && slots[k] < std::ssize(text.row_states);
    const auto slot = static_cast<std::size_t>(slots[k]);
    if (known_slot && next + 1 < text.states.size() &&
        text.row_states[slot] == text.states[next + 1])
      continue;
    std::string what =
        fmt::format("KV: request {}, pass {} keeps slot {} as token {} of the text, ", r,
                    text.known_at.size(), slots[k], next);
    if (!known_slot)
      what += fmt::format("the pass had {} rows", text.row_states.size());
    else if (next < text.truth.size() && text.row_tokens[slot] == text.truth[next])
      what += fmt::format("which carries {} as it should, but was computed on another branch",
                          text.row_tokens[slot]);
    else
      what += fmt::format("which carries {}; greedy decoding says {}", text.row_tokens[slot],
                          next < text.truth.size() ? text.truth[next] : -1);
    const Draft draft = draft_at(problem_, r, text.known_at.back());
    return refuse(std::move(what),
                  draw_kept(*problem_.language, draft, {slots.begin(), slots.end()})),
           false;
  }
  text.committed += std::ssize(slots);
  text.decided = text.committed + 1;
  text.passed = false;
  return true;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
