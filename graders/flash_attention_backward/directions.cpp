// SPDX-License-Identifier: Apache-2.0
#include "directions.h"

#include <cmath>
#include <fmt/format.h>

#include "dense.h"
#include "graders/kit/compare.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// The loss of all query heads that read one kv head, as a function of a step along a direction.
class GroupLoss {
 public:
  GroupLoss(const Problem& problem, std::int64_t batch, std::int64_t kv_head, Moved moved, Rng& rng)
      : problem_(problem), moved_(moved) {
    const kit::AttentionProblem& form = problem.form;
    const std::int64_t group = form.q_heads / form.kv_heads;
    for (std::int64_t h = kv_head * group; h < (kv_head + 1) * group; ++h) {
      heads_.emplace_back(problem, batch, h);
      indices_.push_back(batch * form.q_heads + h);
      if (moved == Moved::q || h == kv_head * group)
        directions_.push_back(Matrix::NullaryExpr(of(heads_.back()).rows(),
                                                  of(heads_.back()).cols(),
                                                  [&](Eigen::Index) { return rng.normal(); }));
    }
  }

  double at(double step) const {
    double loss = 0;
    for (std::size_t n = 0; n < heads_.size(); ++n) {
      Head moved = heads_[n];
      of(moved) += step * directions_[moved_ == Moved::q ? n : 0];
      loss += head_loss(moved, indices_[n]);
    }
    return loss;
  }

  double slope() const {
    constexpr double kStep = 1e-3;
    const auto central = [&](double step) { return (at(step) - at(-step)) / (2 * step); };
    return (4 * central(kStep / 2) - central(kStep)) / 3;
  }

  const std::vector<Matrix>& directions() const { return directions_; }

 private:
  Matrix& of(Head& head) const {
    return moved_ == Moved::q ? head.q : moved_ == Moved::k ? head.k : head.v;
  }

  double head_loss(const Head& head, std::int64_t index) const {
    const kit::AttentionProblem& form = problem_.form;
    const HeadForward forward = attend_head(form, head);
    double loss = head_matrix(problem_.dout.data, index, form.q_len, form.value_dim)
                      .cwiseProduct(forward.o)
                      .sum();
    if (problem_.dlse.empty()) return loss;
    for (std::int64_t i = 0; i < form.q_len; ++i)
      if (!std::isinf(forward.lse(i)))
        loss += forward.lse(i) * problem_.dlse[static_cast<std::size_t>(index * form.q_len + i)];
    return loss;
  }

  const Problem& problem_;
  Moved moved_;
  std::vector<Head> heads_;
  std::vector<std::int64_t> indices_;
  std::vector<Matrix> directions_;  // one a query head, or one for the kv head
};

struct Part {
  const char* name;
  const std::vector<float>& gradient;
};

Part part_of(const Answer& got, Moved moved) {
  switch (moved) {
    case Moved::q:
      return {"dq", got.dq};
    case Moved::k:
      return {"dk", got.dk};
    default:
      return {"dv", got.dv};
  }
}

}  // namespace

std::optional<Miss> slope_miss(const Problem& problem, Rng& rng, Moved moved, const Answer& got) {
  const Part part = part_of(got, moved);
  std::size_t at = 0;  // groups come in the order of the gradients' elements
  for (std::int64_t batch = 0; batch < problem.form.batch; ++batch)
    for (std::int64_t head = 0; head < problem.form.kv_heads; ++head) {
      const GroupLoss loss(problem, batch, head, moved, rng);
      double along = 0, size = 0;
      for (const Matrix& direction : loss.directions())
        for (Eigen::Index n = 0; n < direction.size(); ++n, ++at) {
          along += direction.data()[n] * part.gradient[at];
          size += std::abs(direction.data()[n] * part.gradient[at]);
        }
      const double slope = loss.slope();
      const double allowed = kIdentity * size;
      if (!kit::within(slope, along, allowed))
        return Miss{fmt::format("<{}, direction> of batch {} kv head {}", part.name, batch, head),
                    along,
                    slope,
                    allowed,
                    1,
                    1};
    }
  return std::nullopt;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
