// SPDX-License-Identifier: Apache-2.0
#include "call.h"
#include "oracle.h"
#include "tests/peers/questions/attention_sizes.h"

namespace gauntlet::peers {
namespace {

namespace backward = gauntlet::GAUNTLET_CHALLENGE;

class AttentionBackwardQuestion : public Question {
 public:
  AttentionBackwardQuestion(Rng& rng, const Draw& draw) : problem_(attention_sizes(draw.shape)) {
    problem_.form.causal = draw.shape.causal;
    for (kit::Tensor* tensor : {&problem_.q, &problem_.k, &problem_.v})
      fill(rng, draw, draw.regime.attention_factor, tensor->data);
    fill(rng, draw, 1, problem_.dout.data);
    backward::attend(problem_);
    expected_ = backward::expect(problem_);
  }

  std::vector<Part> ask(Probe& probe) const override {
    const backward::Answer answer = backward::ask(probe, problem_);
    return {{"dq", answer.dq, &expected_.value.dq},
            {"dk", answer.dk, &expected_.value.dk},
            {"dv", answer.dv, &expected_.value.dv}};
  }

 private:
  backward::Problem problem_;
  backward::Expected expected_;
};

const QuestionKind kAttentionBackward("flash_attention_backward",
                                      [](Rng& rng, const Draw& draw) -> std::unique_ptr<Question> {
                                        return std::make_unique<AttentionBackwardQuestion>(rng,
                                                                                           draw);
                                      });

}  // namespace
}  // namespace gauntlet::peers
