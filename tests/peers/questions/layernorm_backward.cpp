// SPDX-License-Identifier: Apache-2.0
#include "call.h"
#include "oracle.h"
#include "tests/peers/question.h"

namespace gauntlet::peers {
namespace {

namespace layernorm = gauntlet::GAUNTLET_CHALLENGE;

constexpr std::int64_t kRows = 64;
constexpr std::int64_t kCols = 1024;

/// A training step: y, dx, dgamma and dbeta.
class LayernormQuestion : public Question {
 public:
  LayernormQuestion(Rng& rng, const Draw& draw) {
    problem_ = layernorm::make_problem(rng, part_of(kRows, draw.shape.rows),
                                       part_of(kCols, draw.shape.length, draw.shape.plus));
    problem_.eps = 1e-5;  // PyTorch's
    std::ranges::fill(problem_.gamma, 1.0f);
    std::ranges::fill(problem_.beta, 0.0f);
    if (draw.shape.random_gains) {
      fill(rng, draw, 1, problem_.gamma);
      fill(rng, draw, 1, problem_.beta);
    }
    for (std::int64_t i = 0; i < problem_.rows; ++i) {
      fill(rng, draw, draw.regime.factor, problem_.x.row(i));
      fill(rng, draw, 1, problem_.dy.row(i));
    }
    expected_ = layernorm::expect(problem_);
  }

  std::vector<Part> ask(Probe& probe) const override {
    const layernorm::Answer answer = layernorm::run_step(probe, problem_);
    return {{"y", answer.y, &expected_.y},
            {"dx", answer.dx, &expected_.dx},
            {"dgamma", answer.dgamma, &expected_.dgamma},
            {"dbeta", answer.dbeta, &expected_.dbeta}};
  }

 private:
  layernorm::Problem problem_;
  layernorm::Expected expected_;
};

const QuestionKind kLayernorm("layernorm_backward",
                              [](Rng& rng, const Draw& draw) -> std::unique_ptr<Question> {
                                return std::make_unique<LayernormQuestion>(rng, draw);
                              });

}  // namespace
}  // namespace gauntlet::peers
