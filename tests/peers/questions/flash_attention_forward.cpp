// SPDX-License-Identifier: Apache-2.0
#include "call.h"
#include "oracle.h"
#include "tests/peers/questions/attention_sizes.h"

namespace gauntlet::peers {
namespace {

namespace forward = gauntlet::GAUNTLET_CHALLENGE;

class AttentionForwardQuestion : public Question {
 public:
  AttentionForwardQuestion(Rng& rng, const Draw& draw) : problem_(attention_sizes(draw.shape)) {
    problem_.form.causal = draw.shape.causal;
    for (kit::Tensor* tensor : {&problem_.q, &problem_.k, &problem_.v})
      fill(rng, draw, draw.regime.attention_factor, tensor->data);
    expected_ = forward::expect(problem_);
  }

  std::vector<Part> ask(Probe& probe) const override {
    const forward::Answer answer = forward::ask(probe, problem_);
    return {{"o", answer.o, &expected_.o}, {"lse", answer.lse, &expected_.lse}};
  }

 private:
  forward::Problem problem_;
  forward::Expected expected_;
};

const QuestionKind kAttentionForward("flash_attention_forward",
                                     [](Rng& rng, const Draw& draw) -> std::unique_ptr<Question> {
                                       return std::make_unique<AttentionForwardQuestion>(rng, draw);
                                     });

}  // namespace
}  // namespace gauntlet::peers
