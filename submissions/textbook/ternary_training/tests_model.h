#pragma once

// What the tests hold solutions against: halves, checkpoints and the forward pass of the contract,
// in double precision and as slow as it is plain.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "contract.h"

using Doubles = std::vector<double>;
using Floats = std::vector<float>;
using Bytes = std::vector<uint8_t>;
using Text = std::vector<uint16_t>;

struct Dice {
  uint32_t state;
  uint32_t roll() { return (state = state * 1664525u + 1013904223u) >> 8; }
  double between(double low, double high) { return low + (high - low) * roll() / 16777216.0; }
};

inline double from_half(int half) {
  const int exponent = half >> 10;
  return std::ldexp((half & 1023) + (exponent > 0 ? 1024 : 0), std::max(exponent, 1) - 25);
}

/// The nearest half by search among all finite ones; the lower of two that are as near, if even.
inline int to_half(double x) {
  int low = 0;
  for (int step = 16384; step > 0; step /= 2)
    if (low + step < 0x7c00 && from_half(low + step) <= x) low += step;
  const double below = x - from_half(low), above = from_half(low + 1) - x;
  return low + (above < below || (above == below && low % 2 != 0) ? 1 : 0);
}

struct Plain {
  TernaryModel m{};
  std::vector<Doubles> matrices;  // in the order of the checkpoint
  Doubles gains;
  std::vector<double> filled;  // share of codes that are not 0, by matrix
  bool ok = false;
};

inline std::vector<int64_t> matrix_sizes(const TernaryModel& m) {
  std::vector<int64_t> sizes{m.vocab * m.width};
  for (int64_t l = 0; l < m.layers; ++l) {
    sizes.insert(sizes.end(), 4, m.width * m.width);
    sizes.insert(sizes.end(), 3, m.width * m.hidden);
  }
  sizes.push_back(m.vocab * m.width);
  return sizes;
}

inline Plain read(const Bytes& bytes, const TernaryModel& m) {
  Plain plain{m, {}, {}, {}, false};
  const int64_t sizes[] = {m.vocab, m.width, m.layers, m.heads, m.hidden, m.context, m.group};
  uint32_t header[7];
  size_t need = 32;
  for (const int64_t n : matrix_sizes(m)) need += static_cast<size_t>(n / 4 + 2 * (n / m.group));
  const auto gains = static_cast<size_t>((2 * m.layers + 1) * m.width);
  if (bytes.size() != need + 4 * gains || std::memcmp(bytes.data(), "TRN1", 4) != 0) return plain;
  std::memcpy(header, &bytes[4], sizeof header);
  if (!std::equal(header, header + 7, sizes)) return plain;
  const uint8_t* at = &bytes[32];
  for (const int64_t n : matrix_sizes(m)) {
    Doubles w;
    double filled = 0;
    for (int64_t i = 0; i < n; ++i) {
      const int code = at[i / 4] >> (2 * (i % 4)) & 3;
      const uint8_t* scale = at + n / 4 + 2 * (i / m.group);
      if (code == 3 || scale[1] >= 0x7c) return plain;
      filled += code != 1;
      w.push_back((code - 1) * from_half(scale[0] | scale[1] << 8));
    }
    at += n / 4 + 2 * (n / m.group);
    plain.filled.push_back(filled / static_cast<double>(n));
    plain.matrices.push_back(w);
  }
  Floats values(gains);
  std::memcpy(values.data(), at, 4 * gains);
  for (const float value : values) {
    if (!(std::fabs(value) <= 64)) return plain;
    plain.gains.push_back(value);
  }
  plain.ok = true;
  return plain;
}

inline Doubles times(const Doubles& w, const Doubles& x) {
  Doubles y(w.size() / x.size());
  for (size_t i = 0; i < w.size(); ++i) y[i / x.size()] += w[i] * x[i % x.size()];
  return y;
}

/// Logits of every position, straight from the contract.
inline std::vector<Doubles> logits_of(const Plain& p, const Text& text) {
  const auto width = static_cast<size_t>(p.m.width), heads = static_cast<size_t>(p.m.heads);
  const size_t size = width / heads, half = size / 2;
  const auto norm = [&](const Doubles& x, size_t number) {
    double squares = 0;
    for (const double value : x) squares += value * value;
    Doubles y = x;
    for (size_t i = 0; i < width; ++i)
      y[i] *= p.gains[number * width + i] / std::sqrt(squares / static_cast<double>(width) + 1e-5);
    return y;
  };
  const auto turned = [&](Doubles x, size_t position) {
    for (size_t i = 0; i < width; ++i) {
      if (i % size >= half) continue;
      const double angle =
          static_cast<double>(position) *
          std::pow(10000.0, -2.0 * static_cast<double>(i % size) / static_cast<double>(size));
      const double first = x[i], second = x[i + half];
      x[i] = first * std::cos(angle) - second * std::sin(angle);
      x[i + half] = second * std::cos(angle) + first * std::sin(angle);
    }
    return x;
  };
  std::vector<std::vector<Doubles>> keys(static_cast<size_t>(p.m.layers)), values = keys;
  std::vector<Doubles> logits;
  for (size_t position = 0; position < text.size(); ++position) {
    Doubles x(&p.matrices[0][text[position] * width],
              &p.matrices[0][text[position] * width] + width);
    for (size_t l = 0; l < keys.size(); ++l) {
      const Doubles* w = &p.matrices[1 + 7 * l];
      const Doubles h = norm(x, 2 * l), q = turned(times(w[0], h), position);
      keys[l].push_back(turned(times(w[1], h), position));
      values[l].push_back(times(w[2], h));
      Doubles mixed(width);
      for (size_t head = 0; head < heads; ++head) {
        Doubles weight;
        double sum = 0;
        for (size_t j = 0; j <= position; ++j) {
          double score = 0;
          for (size_t i = head * size; i < (head + 1) * size; ++i) score += q[i] * keys[l][j][i];
          weight.push_back(std::exp(score / std::sqrt(static_cast<double>(size))));
          sum += weight.back();
        }
        for (size_t j = 0; j <= position; ++j)
          for (size_t i = head * size; i < (head + 1) * size; ++i)
            mixed[i] += weight[j] / sum * values[l][j][i];
      }
      const Doubles attended = times(w[3], mixed);
      for (size_t i = 0; i < width; ++i) x[i] += attended[i];
      const Doubles g = norm(x, 2 * l + 1);
      Doubles inner = times(w[4], g);
      const Doubles up = times(w[5], g);
      for (size_t i = 0; i < inner.size(); ++i) inner[i] *= up[i] / (1 + std::exp(-inner[i]));
      const Doubles down = times(w[6], inner);
      for (size_t i = 0; i < width; ++i) x[i] += down[i];
    }
    logits.push_back(times(p.matrices.back(), norm(x, 2 * keys.size())));
  }
  return logits;
}

/// The mean over the predictions, as under LIKELIHOOD.
inline double likelihood(const Plain& p, const Text& text) {
  const auto context = static_cast<size_t>(p.m.context);
  double sum = 0;
  for (size_t at = 0; at + 1 < text.size(); at += context) {
    const size_t end = std::min(at + context, text.size() - 1);
    const auto first = text.begin() + static_cast<int64_t>(at);
    const auto logits = logits_of(p, Text(first, text.begin() + static_cast<int64_t>(end)));
    for (size_t i = at; i < end; ++i) {
      double powers = 0;
      for (const double logit : logits[i - at]) powers += std::exp(logit);
      sum += std::log(powers) - logits[i - at][text[i + 1]];
    }
  }
  return sum / static_cast<double>(text.size() - 1);
}

inline void append(Bytes& bytes, uint64_t value, int count) {
  for (int i = 0; i < count; ++i) bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

inline Bytes random_checkpoint(const TernaryModel& m, Dice& dice) {
  Bytes bytes{'T', 'R', 'N', '1'};
  for (const int64_t size : {m.vocab, m.width, m.layers, m.heads, m.hidden, m.context, m.group})
    append(bytes, static_cast<uint64_t>(size), 4);
  for (const int64_t n : matrix_sizes(m)) {
    for (int64_t i = 0; i < n / 4; ++i)
      append(bytes,
             dice.roll() % 3 | (dice.roll() % 3) << 2 | (dice.roll() % 3) << 4 |
                 (dice.roll() % 3) << 6,
             1);
    for (int64_t i = 0; i < n / m.group; ++i)
      append(bytes, static_cast<uint64_t>(to_half(dice.between(0.1, 0.6))), 2);
  }
  for (int64_t i = 0; i < (2 * m.layers + 1) * m.width; ++i) {
    const auto gain = static_cast<float>(dice.between(-0.5, 2));
    uint32_t bits;
    std::memcpy(&bits, &gain, 4);
    append(bytes, bits, 4);
  }
  return bytes;
}
