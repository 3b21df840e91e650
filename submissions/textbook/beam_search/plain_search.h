#pragma once

// The right answer, by a plain search that keeps every extension in one sorted list.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "test_model.h"

struct Hypothesis {
  Tokens tokens;
  double sum = 0, score = 0;
  bool finished = false;
  std::int64_t from = 0;
  std::int32_t added = -1;
};

struct Expected {
  std::vector<Hypothesis> best;
  std::int64_t steps = 0, rows = 0;
};

inline double lp(const Setup& s, std::int64_t n) {
  if (s.penalty == BEAM_PENALTY_NONE) return 1;
  const auto x = static_cast<double>(n);
  return std::pow(s.penalty == BEAM_PENALTY_GNMT ? (5 + x) / 6 : x, s.alpha);
}

inline void enter(const Setup& s, std::vector<Hypothesis>& list, const Hypothesis& one) {
  list.push_back(one);
  std::stable_sort(list.begin(), list.end(),
                   [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  if (static_cast<std::int64_t>(list.size()) > s.beam) list.pop_back();
}

inline Expected plain_search(const Model& model, std::int64_t item) {
  const Setup& s = model.setup;
  const bool pooled = s.policy == BEAM_POOLED;
  Expected result;
  std::vector<Hypothesis> beams(1), list;
  for (bool done = s.max_new == 0; !done;) {
    const std::int64_t t = ++result.steps;
    std::vector<Hypothesis> all;
    for (std::size_t k = 0; k < beams.size(); ++k) {
      beams[k].from = static_cast<std::int64_t>(k);
      beams[k].added = -1;
      if (beams[k].finished) {
        all.push_back(beams[k]);
        continue;
      }
      if (t > 1) ++result.rows;
      const std::vector<float> row = model.row(item, beams[k].tokens);
      for (std::int32_t token = 0; token < s.vocab; ++token) {
        Hypothesis next = beams[k];
        next.finished = std::count(s.eos.begin(), s.eos.end(), token) > 0;
        if (std::isinf(row[static_cast<std::size_t>(token)]) || (next.finished && t <= s.min_new))
          continue;
        next.tokens.push_back(token);
        next.added = token;
        next.sum += static_cast<double>(row[static_cast<std::size_t>(token)]);
        next.score = next.sum / lp(s, t);
        all.push_back(next);
      }
    }
    std::sort(all.begin(), all.end(), [&](const Hypothesis& a, const Hypothesis& b) {
      const double x = pooled ? a.score : a.sum;
      const double y = pooled ? b.score : b.sum;
      if (x != y) return x > y;
      return a.from != b.from ? a.from < b.from : a.added < b.added;
    });
    beams.clear();
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      const bool room = static_cast<std::int64_t>(beams.size()) < s.beam;
      if (room && (pooled || !all[rank].finished)) beams.push_back(all[rank]);
      if (!pooled && all[rank].finished && static_cast<std::int64_t>(rank) < s.beam)
        enter(s, list, all[rank]);
    }
    done = t == s.max_new || std::all_of(beams.begin(), beams.end(),
                                         [](const Hypothesis& one) { return one.finished; });
    if (!pooled && t == s.max_new)
      for (const Hypothesis& one : beams) enter(s, list, one);
    if (!done && !pooled && static_cast<std::int64_t>(list.size()) == s.beam) {
      const bool far = s.stop == BEAM_STOP_BOUND && s.alpha > 0;
      done = s.stop == BEAM_STOP_FULL ||
             list.back().score >= beams[0].sum / lp(s, far ? s.max_new : t);
    }
  }
  result.best = pooled || s.max_new == 0 ? beams : list;
  return result;
}
