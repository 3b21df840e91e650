// SPDX-License-Identifier: Apache-2.0
#include "operations.h"

#include <algorithm>

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// Operations without those from `at` to at + count - 1.
std::vector<Operation> without(std::vector<Operation> operations, std::size_t at,
                               std::size_t count) {
  const auto first = operations.begin() + static_cast<std::ptrdiff_t>(at);
  operations.erase(first,
                   first + static_cast<std::ptrdiff_t>(std::min(count, operations.size() - at)));
  return operations;
}

}  // namespace

void perform(Cache& cache, const Operation& op) {
  const Setup& setup = cache.setup();
  Rng rng(op.seed);
  switch (op.kind) {
    case Operation::append:
      cache.append(op.a, draw_tokens(rng, setup, op.tokens));
      return;
    case Operation::append_two:
      if (op.a == op.b) return;
      cache.append(
          {{op.a, draw_tokens(rng, setup, op.tokens)}, {op.b, draw_tokens(rng, setup, op.more)}});
      return;
    case Operation::fork:
      return cache.fork(op.a, op.b);  // refused where b is not empty
    case Operation::branch:  // a fork that is cut at once, in most cases within the shared page
      if (op.a == op.b) return;
      cache.free(op.b);
      cache.fork(op.a, op.b);
      return cache.truncate(op.b,
                            std::max<std::int64_t>(0, cache.length(op.b) - 1 - op.tokens % 3));
    case Operation::truncate:
      return cache.truncate(op.a, std::max<std::int64_t>(0, cache.length(op.a) - op.tokens));
    case Operation::free:
      return cache.free(op.a);
    case Operation::attend:
      return cache.require_right(rng, {op.a, op.b}, 1 + op.tokens % 3, 2 * setup.heads);
    case Operation::read: {
      const std::int64_t begin = std::min(op.tokens, cache.length(op.a));
      cache.read(op.a, begin, std::min(op.more, cache.length(op.a) - begin));
      return;
    }
    case Operation::kinds:
      return;
  }
}

std::vector<Operation> draw_operations(Rng& rng, const Setup& setup, std::int64_t count) {
  std::vector<Operation> operations;
  const std::int64_t longest = 2 * setup.page_tokens + 2;
  for (std::int64_t i = 0; i < count; ++i) {
    Operation op;
    constexpr Operation::Kind kOften[] = {
        Operation::append,   Operation::append, Operation::append_two, Operation::append,
        Operation::truncate, Operation::fork,   Operation::branch};
    op.kind = rng.chance(0.6) ? kOften[rng.integer(0, std::size(kOften) - 1)]
                              : Operation::Kind(rng.integer(0, Operation::kinds - 1));
    op.a = rng.integer(0, setup.sequences - 1);
    op.b = rng.integer(0, setup.sequences - 1);
    op.tokens = rng.integer(0, longest);
    op.more = rng.integer(0, longest);
    op.seed = rng.seed();
    operations.push_back(op);
  }
  return operations;
}

std::optional<Finding> play(Probe& probe, const Setup& setup,
                            const std::vector<Operation>& operations, const Seed& seed) {
  Cache cache(probe, setup, seed);
  try {
    for (const Operation& op : operations) perform(cache, op);
    cache.require_contents();
    return std::nullopt;
  } catch (CheckEnded& ended) {
    ended.finding.evidence = cache.steps();
    return std::move(ended.finding);
  }
}

std::vector<Operation> shrink(std::vector<Operation> operations,
                              const std::function<bool(const std::vector<Operation>&)>& fails,
                              int budget) {
  const auto accept = [&](std::vector<Operation> candidate) {
    if (candidate == operations || budget-- <= 0 || !fails(candidate)) return false;
    operations = std::move(candidate);
    return true;
  };
  // Long stretches first, from the end: what comes after the fault goes at once.
  for (std::size_t stretch = operations.size() / 2; stretch > 0; stretch /= 2)
    for (std::size_t end = operations.size(); end > 0;) {
      const std::size_t at = end > stretch ? end - stretch : 0;
      accept(without(operations, at, end - at));
      end = at;
    }
  for (std::size_t i = 0; i < operations.size(); ++i)
    for (std::int64_t Operation::*count : {&Operation::tokens, &Operation::more})
      for (std::int64_t less = operations[i].*count; less > 0; less /= 2) {
        std::vector<Operation> candidate = operations;
        candidate[i].*count -= less;
        while (candidate[i].*count >= 0 && accept(candidate)) candidate[i].*count -= less;
      }
  return operations;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
