#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <memory>

#include "drawing.h"
#include "harness/core/machine.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "laps.h"
#include "unit.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr RaceBudget kBudget{6, 21, std::chrono::milliseconds(500)};

Manner all_cores() {
  Manner manner;
  manner.threads = this_machine().cores;
  return manner;
}

/// One lap: the call, then what is wrong with it.
template <class Asked, class Judge>
Lap lap_of(Session& session, Asked& asked, const Judge& judge) {
  session.run(asked.call);
  std::string fault;
  if (asked.call.returned != 0)
    fault = fmt::format("{} returned {}", asked.call.symbol, asked.call.returned);
  else
    fault = judge();
  Lap lap{asked.call.elapsed, {}};
  if (!fault.empty()) lap.finding = Finding{Verdict::wrong, "", std::move(fault), {}, {}};
  return lap;
}

// Windows of the graded model: what evaluation and generation are made of.
void forward_speed(Probe& probe) {
  const auto lap = std::make_shared<ForwardLap>();
  RaceSpec spec;
  spec.case_name = "window_of_128";
  spec.floor_bytes = static_cast<double>(checkpoint_bytes_of(ForwardLap::kModel) +
                                         4 * ForwardLap::kModel.context * ForwardLap::kModel.vocab);
  spec.prepare = [lap](Rng& inputs, Rng&) { lap->renew(inputs); };
  spec.lap = [lap](Session& session) {
    ForwardCall asked(lap->bytes(), lap->token(), ForwardLap::kModel.vocab, all_cores());
    return lap_of(session, asked, [&] { return lap->fault(asked.logits->view()); });
  };
  probe.race(spec, kBudget);
}

// A matrix of four million weights, 16 MiB: read once, a sixteenth of it written.
void quantize_speed(Probe& probe) {
  const auto lap = std::make_shared<QuantizeLap>();
  RaceSpec spec;
  spec.case_name = "matrix_2048x2048";
  spec.floor_bytes = static_cast<double>(QuantizeLap::kRows * QuantizeLap::kColumns) * 4.25;
  spec.prepare = [lap](Rng& inputs, Rng& judge) { lap->renew(inputs, judge); };
  spec.lap = [lap](Session& session) {
    QuantizeCall asked(lap->problem(), all_cores());
    return lap_of(session, asked,
                  [&] { return lap->fault(asked.codes->view(), asked.scales->view()); });
  };
  probe.race(spec, kBudget);
}

// The largest layer of the graded model, and the tokens of a training step.
void gradient_speed(Probe& probe) {
  const auto lap = std::make_shared<GradientLap>();
  RaceSpec spec;
  spec.case_name = "layer_384x128_1024_vectors";
  // The gradient of the weights takes a product and a sum a term; the other two products may do
  // with sums alone.
  spec.floor_flops =
      2.0 * static_cast<double>(GradientLap::kRows * GradientLap::kColumns * GradientLap::kCount);
  spec.prepare = [lap](Rng& inputs, Rng& judge) { lap->renew(inputs, judge); };
  spec.lap = [lap](Session& session) {
    GradientCall asked(lap->problem(), all_cores());
    return lap_of(session, asked, [&] {
      return lap->fault(asked.y->view(), asked.input_gradient->view(),
                        asked.weight_gradient->view());
    });
  };
  probe.race(spec, kBudget);
}

}  // namespace

std::vector<Check> speed_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"forward_speed", "slow evaluation", performance, 2, minor}, forward_speed},
      {{"quantize_speed", "slow quantisation", performance, 1, minor}, quantize_speed},
      {{"gradient_speed", "slow training steps", performance, 2, minor}, gradient_speed},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
