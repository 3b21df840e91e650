#pragma once

// A target, its cache and a drafter for the tests.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "contract.h"

using I32 = std::vector<std::int32_t>;
using I64 = std::vector<std::int64_t>;

constexpr std::int64_t kVocab = 19;

/// Says a token that depends on everything read so far.
inline std::int32_t next_token(const I32& text) {
  std::uint32_t hash = 7;
  for (const std::int32_t token : text)
    hash = (hash ^ static_cast<std::uint32_t>(token)) * 16777619u;
  return static_cast<std::int32_t>((hash >> 8) % (kVocab - 1)) + 1;
}

struct Toy {
  std::vector<I32> committed;
  std::vector<std::vector<I32>> rows;  // what each row of the last pass has read, by request
  int passes = 0;
  bool fault = false;
  int whole_drafts = 0;  // rounds in which all of the tree was asked for
};

/// Two right tokens behind a wrong branch, then a wrong one.
inline std::int64_t draft(void* model, DflashDraft* ask) {
  Toy& toy = *static_cast<Toy*>(model);
  const std::int32_t* context = ask->context;
  toy.whole_drafts += ask->budget >= 5 ? 1 : 0;
  for (std::int64_t k = 0; k < ask->num_requests; context += ask->context_length[k++]) {
    I32 text(context, context + ask->context_length[k]);
    toy.fault |= text.size() != toy.committed[ask->request[k]].size() + 1;
    const std::int32_t one = next_token(text);
    text.push_back(one);
    const std::int32_t two = next_token(text);
    const I32 parent{-1, 0, -1, 2, 3};
    const I32 token{one % static_cast<std::int32_t>(kVocab - 1) + 1, two, one, two, 0};
    ask->num_nodes[k] = std::min<std::int64_t>(5, ask->budget);
    for (std::int64_t i = 0; i < ask->num_nodes[k]; ++i) {
      ask->parent[k * ask->budget + i] = parent[i];
      ask->token[k * ask->budget + i] = token[i];
    }
  }
  return 0;
}

inline std::int64_t forward(void* model, DflashForward* ask) {
  Toy& toy = *static_cast<Toy*>(model);
  if (++toy.passes > 100) return -77;
  std::int64_t first = 0;
  for (std::int64_t k = 0; k < ask->num_requests; first += ask->row_count[k++]) {
    const std::int64_t r = ask->request[k];
    const I32& committed = toy.committed[r];
    toy.fault |= ask->context_length[k] != static_cast<std::int64_t>(committed.size());
    toy.rows[r].clear();
    for (std::int64_t row = 0; row < ask->row_count[k]; ++row) {
      I32 text = committed;
      for (std::int64_t j = 0; j <= row; ++j) {
        if (!(ask->mask[(first + row) * ask->mask_words + j / 64] >> (j % 64) & 1)) continue;
        toy.fault |= ask->position[first + j] != static_cast<std::int64_t>(text.size());
        text.push_back(ask->token[first + j]);
      }
      for (std::int64_t j = 0; j < kVocab; ++j)
        ask->logits[(first + row) * kVocab + j] = j == next_token(text) ? 1.0f : 0.0f;
      toy.rows[r].push_back(text);
    }
  }
  return 0;
}

inline std::int64_t keep(void* model, DflashKeep* ask) {
  Toy& toy = *static_cast<Toy*>(model);
  const std::int64_t* slot = ask->slot;
  for (std::int64_t k = 0; k < ask->num_requests; slot += ask->keep_count[k++]) {
    const std::int64_t r = ask->request[k];
    for (std::int64_t i = 0; i < ask->keep_count[k]; ++i) {
      if (slot[i] < 0 || slot[i] >= static_cast<std::int64_t>(toy.rows[r].size())) return -78;
      const I32& text = toy.rows[r][slot[i]];
      // The slot must continue what is committed.
      toy.fault |= text.size() != toy.committed[r].size() + 1 ||
                   !std::equal(toy.committed[r].begin(), toy.committed[r].end(), text.begin());
      toy.committed[r] = text;
    }
  }
  return 0;
}
