#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model.h"
#include "oracle.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// A hand-made tree and a target that says fixed things, such that one way of reading the wrong row
/// gives one wrong answer. Tokens are small numbers here and are renamed before use.
struct Directed {
  std::string name;
  Tree tree;
  struct Says {
    std::vector<std::int32_t> text;  // from the root on
    std::int32_t next;
  };
  std::vector<Says> says;  // everything else is followed by kDirectedDefault
  Walk want;
};

constexpr std::int32_t kDirectedRoot = 5;
constexpr std::int32_t kDirectedDefault = 6;
constexpr std::int32_t kDirectedTokens = 10;

const std::vector<Directed>& directed_cases();

/// All directed trees in one language, each after a text of its own, under random token ids; 0
/// stays 0, because padding is what one of them is about.
struct DirectedStage {
  explicit DirectedStage(Rng& rng);
  Language language;
  std::vector<Prompt> prompts;  // one for each case; max_new is left to the check
  std::vector<Draft> drafts;
  std::vector<std::string> names;
};

}  // namespace gauntlet::GAUNTLET_CHALLENGE
