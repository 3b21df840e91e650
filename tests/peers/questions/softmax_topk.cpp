// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "call.h"
#include "oracle.h"
#include "tests/peers/question.h"

namespace gauntlet::peers {
namespace {

namespace topk = gauntlet::GAUNTLET_CHALLENGE;

constexpr std::int64_t kRows = 8;
constexpr std::int64_t kVocab = 16384;
constexpr std::int64_t kWinners = 32;

class SoftmaxTopkQuestion : public Question {
 public:
  SoftmaxTopkQuestion(Rng& rng, const Draw& draw)
      : problem_(topk::blank_problem(part_of(kRows, draw.shape.rows),
                                     part_of(kVocab, draw.shape.length, draw.shape.plus),
                                     part_of(kWinners, draw.shape.k))),
        gathered_(draw.indices == Peer::Indices::gathered) {
    for (std::int64_t i = 0; i < problem_.rows; ++i)
      fill(rng, draw, draw.regime.factor, problem_.row(i));
    expected_ = topk::expect(problem_, topk::Sums::any);
    std::vector<float> winners(expected_.indices.begin(), expected_.indices.end());
    if (gathered_) winners = named_by(expected_.indices);
    winners_.assign(winners.begin(), winners.end());
  }

  std::vector<Part> ask(Probe& probe) const override {
    const topk::Answer answer = topk::ask(probe, problem_);
    std::vector<float> winners(answer.indices.begin(), answer.indices.end());
    if (gathered_) winners = named_by(answer.indices);
    return {{"indices", winners, &winners_},
            {"probs", answer.probs, &expected_.probs},
            {"lse", answer.lse, &expected_.lse},
            {"row_max", answer.row_max, &expected_.row_max}};
  }

 private:
  /// The logits at these places; NaN where there is none.
  std::vector<float> named_by(const std::vector<std::int32_t>& indices) const {
    std::vector<float> logits;
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const auto row = problem_.row(static_cast<std::int64_t>(i) / problem_.k);
      const bool inside = indices[i] >= 0 && indices[i] < problem_.vocab;
      logits.push_back(inside ? row[static_cast<std::size_t>(indices[i])]
                              : std::numeric_limits<float>::quiet_NaN());
    }
    return logits;
  }

  topk::Problem problem_;
  bool gathered_;
  topk::Expected expected_;
  std::vector<double> winners_;
};

const QuestionKind kSoftmaxTopk("softmax_topk",
                                [](Rng& rng, const Draw& draw) -> std::unique_ptr<Question> {
                                  return std::make_unique<SoftmaxTopkQuestion>(rng, draw);
                                });

}  // namespace
}  // namespace gauntlet::peers
