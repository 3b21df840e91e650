#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "contract.h"
#include "harness/worker/call.h"
#include "oracle.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// Drafts a tree for request r when `known` tokens of its text are decided; `text` is their state.
/// Must answer the same whenever it is asked the same.
using Drafter = std::function<Tree(std::size_t r, std::int64_t known, State text)>;

struct Prompt {
  std::vector<std::int32_t> tokens;
  std::int64_t max_new = 0;
};

/// Everything that one call of dflash_generate is about.
struct Scene {
  const Language* language = nullptr;
  std::vector<Prompt> prompts;
  std::int64_t budget = 0;
  Drafter drafter;
  enum class Callback { none, draft, forward, keep };
  Callback failing = Callback::none;  // from its call number fail_at it returns `failure`
  std::int64_t fail_at = 0;
  std::int64_t failure = 0;
  std::function<void(DflashDraft&, CallbackRequest&)> spoil_draft = {};  // changes the answer
};

/// What greedy decoding with the same drafter does to one request, taking the longest path each
/// time.
struct Plan {
  std::vector<std::int32_t> emit;
  std::int64_t rounds = 0;
  std::int64_t rows = 0;
  std::int64_t accepted = 0;
};
Plan plan_of(const Scene& scene, std::size_t r);

/// The draft that request r is given when `known` tokens are decided, for checks and drawings.
Draft draft_at(const Scene& scene, std::size_t r, std::int64_t known);

/// The same where the text's state and its last token are at hand.
Draft draft_of(const Scene& scene, std::size_t r, std::int64_t known, State text,
               std::int32_t root_token);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
