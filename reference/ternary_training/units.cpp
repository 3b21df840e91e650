// SPDX-License-Identifier: Apache-2.0
#include "units.h"

#include <cstring>
#include <omp.h>

#include "checkpoint.h"
#include "quantizer.h"
#include "transformer.h"

namespace ternary {
namespace {

/// As many threads as have `worth` to do each.
int threads_for(int allowed, double work, double worth) {
  const double useful = std::max(1.0, work / worth);
  return useful < allowed ? static_cast<int>(useful) : allowed;
}

struct Share {
  std::int64_t begin;
  std::int64_t end;
};

/// This thread's share of `count` things.
Share share_of(std::int64_t count) {
  const std::int64_t part = omp_get_thread_num();
  const std::int64_t parts = omp_get_num_threads();
  return {count * part / parts, count * (part + 1) / parts};
}

void copy(const float* from, std::int64_t count, float* to) {
  std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
}

using Scales = std::vector<std::uint16_t>;

/// The scales of all groups; empty when one is infinite.
Scales make_scales(const float* weight, std::int64_t groups, std::int64_t group, int threads) {
  Scales scales(static_cast<std::size_t>(groups));
  bool finite = true;
#pragma omp parallel for num_threads(threads) reduction(&& : finite) schedule(static)
  for (std::int64_t g = 0; g < groups; ++g) {
    const std::uint16_t scale = group_scale(weight + g * group, group);
    scales[static_cast<std::size_t>(g)] = scale;
    finite = finite && scale < kHalfInfinity;
  }
  return finite ? scales : Scales{};
}

/// One call of ternary_linear_gradient.
class Layer {
 public:
  Layer(const TernaryLinearGradientArgs& args, const Scales& scales)
      : a_(args),
        scales_(scales),
        matrix_({a_.rows, a_.columns}, Matrix::kForwardAndBackward),
        x_(a_.count, a_.columns),
        dy_(a_.count, a_.rows),
        y_(a_.count, a_.rows),
        dx_(a_.count, a_.columns),
        dw_(a_.rows, a_.columns) {}

  void run(int threads) {
#pragma omp parallel num_threads(threads)
    {
      read_weights();
      read_vectors();
#pragma omp barrier
      multiply();
      make_weight_gradient();
    }
  }

 private:
  void read_weights() {
    Table rows(kLanes, a_.columns);
    const std::int64_t groups = a_.columns / a_.group;
    const Share blocks = share_of((a_.rows + kLanes - 1) / kLanes);
    for (std::int64_t block = blocks.begin; block < blocks.end; ++block) {
      const std::int64_t first = block * kLanes;
      const std::int64_t count = std::min<std::int64_t>(kLanes, a_.rows - first);
      for (std::int64_t r = 0; r < count; ++r)
        for (std::int64_t g = 0; g < groups; ++g)
          write_weights(a_.weight + (first + r) * a_.columns + g * a_.group, a_.group,
                        scales_[static_cast<std::size_t>((first + r) * groups + g)],
                        rows[r] + g * a_.group);
      matrix_.set_rows(first, count, rows.rows());
    }
  }

  void read_vectors() {
    const auto [begin, end] = share_of(a_.count);
    for (std::int64_t i = begin; i < end; ++i) {
      copy(a_.x + i * a_.columns, a_.columns, x_[i]);
      copy(a_.output_gradient + i * a_.rows, a_.rows, dy_[i]);
    }
  }

  void multiply() {
    const auto [begin, end] = share_of(a_.count);
    product<false>(left_of(x_.rows().from(begin)), matrix_.transposed(), y_.rows().from(begin),
                   end - begin, a_.rows, a_.columns);
    product<false>(left_of(dy_.rows().from(begin)), matrix_.plain(), dx_.rows().from(begin),
                   end - begin, a_.columns, a_.rows);
    for (std::int64_t i = begin; i < end; ++i) {
      copy(y_[i], a_.rows, a_.y + i * a_.rows);
      copy(dx_[i], a_.columns, a_.input_gradient + i * a_.columns);
    }
  }

  void make_weight_gradient() {
    const auto [begin, end] = share_of(a_.rows);
    Left columns = transposed(dy_.rows());
    columns.data += begin;
    product<false>(columns, right_of(x_.rows()), dw_.rows().from(begin), end - begin, a_.columns,
                   a_.count);
    for (std::int64_t r = begin; r < end; ++r)
      copy(dw_[r], a_.columns, a_.weight_gradient + r * a_.columns);
  }

  const TernaryLinearGradientArgs& a_;
  const Scales& scales_;
  Matrix matrix_;
  Table x_, dy_, y_, dx_, dw_;
};

}  // namespace

bool quantise(const TernaryQuantizeArgs& a) {
  const std::int64_t groups = a.rows * (a.columns / a.group);
  const int threads = threads_for(a.num_threads, static_cast<double>(groups * a.group), 65536);
  const Scales scales = make_scales(a.weight, groups, a.group, threads);
  if (scales.empty()) return false;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int64_t g = 0; g < groups; ++g) {
    const std::uint16_t scale = scales[static_cast<std::size_t>(g)];
    write_codes(a.weight + g * a.group, a.group, threshold_of(scale), a.codes + g * a.group / 4);
  }
  std::memcpy(a.scales, scales.data(), scales.size() * sizeof(std::uint16_t));
  return true;
}

bool differentiate(const TernaryLinearGradientArgs& a) {
  const double work = static_cast<double>(a.rows * a.columns) * static_cast<double>(a.count);
  const int threads = threads_for(a.num_threads, work, 1e6);
  const Scales scales = make_scales(a.weight, a.rows * (a.columns / a.group), a.group, threads);
  if (scales.empty()) return false;
  Layer(a, scales).run(threads);
  return true;
}

void infer(const TernaryForwardArgs& a, const TernaryModel& m) {
  const double work = static_cast<double>(a.checkpoint_bytes) * static_cast<double>(a.num_tokens);
  const int threads = threads_for(a.num_threads, work, 1e5);
  Model model(m, Matrix::kForward);
  const Angles angles(a.num_tokens, m.width / m.heads);
  Window window(m, a.num_tokens, 2);
#pragma omp parallel num_threads(threads)
  {
    read_weights(a.checkpoint, model, omp_get_thread_num(), omp_get_num_threads());
    Scratch scratch(m, a.num_tokens);
    const Forward forward(model, angles);
    const auto [begin, end] = share_of(a.num_tokens);
    const auto await_all = [] {
#pragma omp barrier
    };
    await_all();
    forward.run(window, scratch, a.token, begin, end, Dropout{}, await_all);
    for (std::int64_t first = begin; first < end; first += Scratch::kLogitRows) {
      const std::int64_t count = std::min(Scratch::kLogitRows, end - first);
      forward.make_logits(window, scratch, first, count);
      for (std::int64_t i = 0; i < count; ++i)
        copy(scratch.logits[i], m.vocab, a.logits + (first + i) * m.vocab);
    }
  }
}

}  // namespace ternary
