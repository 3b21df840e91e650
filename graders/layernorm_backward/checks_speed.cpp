// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <memory>
#include <optional>

#include "call.h"
#include "graders/kit/laps.h"
#include "harness/core/machine.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "harness/measure/scaling.h"
#include "lap.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

struct Shape {
  const char* name;
  std::int64_t rows;
  std::int64_t cols;
  bool own_statistics;  // the lap is forward and backward; else backward with given statistics
};

// 4 million elements, 48 MiB in x, dy and dx together: more than last-level caches hold, and small
// enough for the rounds that an interval needs. A step moves more for each element (y and what is
// saved), so that half of them fill the cache as well.
constexpr Shape kShapes[] = {
    {"square_4096x1024", 4096, 1024, false},
    {"tall_65536x64", 65'536, 64, false},
    {"wide_64x65536", 64, 65'536, false},
    {"step_2048x1024", 2048, 1024, true},
};

/// One round's input and its oracle, shared by all contestants of the round.
class Round {
 public:
  Round(const Shape& shape, Rng& rng)
      : problem_(make_big_problem(rng, shape.rows, shape.cols)),
        own_statistics_(shape.own_statistics) {
    options_.threads = this_machine().cores;
  }

  void renew(Rng& rng) {
    redraw(rng, problem_);
    if (!own_statistics_) give_drawn_statistics(rng, problem_);
    oracle_ = std::make_unique<LapOracle>(problem_);
  }

  Lap lap(Session& session) const {
    Lap lap;
    Bytes saved;
    if (own_statistics_) saved = forward(session, lap);
    if (!lap.finding) backward(session, saved, lap);
    return lap;
  }

 private:
  static bool run(Session& session, CallBase& call, Lap& lap) {
    session.run(call);
    lap.took(call);
    if (call.returned != 0) refuse(lap, fmt::format("{} returned {}", call.symbol, call.returned));
    return !lap.finding;
  }

  static void refuse(Lap& lap, std::string summary, std::optional<Miss> miss = {}) {
    lap.finding = Finding{Verdict::wrong, "", std::move(summary), {}, std::move(miss)};
  }
  static void judge(Lap& lap, const std::optional<Miss>& miss) {
    if (miss) refuse(lap, describe(*miss), miss);
  }

  Bytes forward(Session& session, Lap& lap) const {
    SavedBytesCall ask(problem_, options_);
    session.run(ask);
    if (ask.returned < 0 || ask.returned > 2 * problem_.rows * problem_.cols) {
      refuse(lap, fmt::format("layernorm_saved_bytes returned {}", ask.returned));
      return {};
    }
    ForwardCall call(problem_, ask.returned, options_);
    if (!run(session, call, lap)) return {};
    judge(lap, oracle_->judge_y(call.y->view()));
    return call.saved();
  }

  void backward(Session& session, const Bytes& saved, Lap& lap) const {
    BackwardCall call(problem_, saved, options_);
    if (run(session, call, lap))
      judge(lap,
            oracle_->judge_gradients(call.dx->view(), call.dgamma->view(), call.dbeta->view()));
  }

  Problem problem_;
  bool own_statistics_;
  CallOptions options_;
  std::unique_ptr<LapOracle> oracle_;
};

RaceSpec spec_for(const Shape& shape) {
  // backward: x and dy in, dx out; a step also reads x and writes y before that. An element goes
  // into two sums of its row and two of its column, which take 7 operations, and its dx takes more.
  const double elements = static_cast<double>(shape.rows) * static_cast<double>(shape.cols);
  const auto round = std::make_shared<std::unique_ptr<Round>>();
  RaceSpec spec;
  spec.case_name = shape.name;
  spec.floor_bytes = (shape.own_statistics ? 20.0 : 12.0) * elements;
  spec.floor_written = (shape.own_statistics ? 8.0 : 4.0) * elements;
  spec.floor_flops = 8 * elements;
  spec.input_bytes = 4 * elements;
  spec.prepare = [round, shape](Rng& rng, Rng&) {
    if (!*round) *round = std::make_unique<Round>(shape, rng);
    (*round)->renew(rng);
  };
  spec.lap = [round](Session& session) { return (*round)->lap(session); };
  return spec;
}

void speed(Probe& probe) {
  std::vector<RaceSpec> specs;
  for (const Shape& shape : kShapes) specs.push_back(spec_for(shape));
  kit::race(probe, specs);
}

}  // namespace

// The backward pass alone: one call, whose arrays are 36 to 122 MiB. Smaller ones, which caches may
// hold, would take less time an element, and bend the line.
ScalingQuestion growth_in_rows() {
  ScalingQuestion question;
  question.axis = "rows";
  question.sizes = {3072, 4608, 6912, 10'368};
  question.at = [](std::int64_t rows, Rng& rng, Rng&) {
    const auto round = std::make_shared<Round>(Shape{"", rows, 1024, false}, rng);
    round->renew(rng);
    return [round](Session& session) { return round->lap(session); };
  };
  return question;
}

std::vector<Check> speed_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"speed", "slowness", performance, 4, minor}, speed},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
