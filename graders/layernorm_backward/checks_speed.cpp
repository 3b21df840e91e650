#include <fmt/format.h>
#include <memory>
#include <optional>

#include "harness/core/machine.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "harness/measure/scaling.h"
#include "lap_oracle.h"
#include "step.h"

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
  Round(const Shape& shape, Rng& rng) : problem_(make_big_problem(rng, shape.rows, shape.cols)) {
    problem_.threads = this_machine().cores;
    if (!shape.own_statistics) {
      problem_.mean.resize(static_cast<std::size_t>(shape.rows));
      problem_.rstd.resize(problem_.mean.size());
    }
  }

  void renew(Rng& rng) {
    redraw(rng, problem_);
    for (float& mean : problem_.mean) mean = static_cast<float>(rng.uniform(-1, 1));
    for (float& rstd : problem_.rstd) rstd = static_cast<float>(rng.uniform(0.5, 2));
    oracle_ = std::make_unique<LapOracle>(problem_);
  }

  Lap lap(Session& session) const {
    Lap lap;
    Bytes saved;
    if (problem_.mean.empty()) saved = forward(session, lap);
    if (!lap.finding) backward(session, saved, lap);
    return lap;
  }

 private:
  static bool run(Session& session, CallBase& call, Lap& lap) {
    session.run(call);
    lap.elapsed += call.elapsed;
    if (call.returned != 0) refuse(lap, fmt::format("{} returned {}", call.symbol, call.returned));
    return !lap.finding;
  }

  static void refuse(Lap& lap, std::string summary, std::optional<Miss> miss = {}) {
    lap.finding = Finding{Verdict::wrong, "", std::move(summary), {}, std::move(miss)};
  }

  Bytes forward(Session& session, Lap& lap) const {
    Call<LayernormArgs> ask("layernorm_saved_bytes");
    ask.args = scalars_of(problem_);
    session.run(ask);
    if (ask.returned < 0 || ask.returned > 2 * problem_.rows * problem_.cols) {
      refuse(lap, fmt::format("layernorm_saved_bytes returned {}", ask.returned));
      return {};
    }
    Call<LayernormArgs> call("layernorm_forward");
    add_forward_inputs(call, problem_);
    call.args.saved_bytes = ask.returned;
    const auto y = call.out<float>("y", call.args.y, output_elements(problem_));
    std::optional<Output<std::uint8_t>> saved;
    if (ask.returned > 0)
      saved = call.out<std::uint8_t>("saved_out", call.args.saved_out,
                                     static_cast<std::size_t>(ask.returned));
    if (!run(session, call, lap)) return {};
    if (const auto miss = oracle_->judge_forward(y.view())) refuse(lap, describe(*miss), miss);
    return saved ? saved->copy() : Bytes();
  }

  void backward(Session& session, const Bytes& saved, Lap& lap) const {
    Call<LayernormArgs> call("layernorm_backward");
    add_backward_inputs(call, problem_, saved);
    const auto cols = static_cast<std::size_t>(problem_.cols);
    const auto dx = call.out<float>("dx", call.args.dx, output_elements(problem_));
    const auto dgamma = call.out<float>("dgamma", call.args.dgamma, cols);
    const auto dbeta = call.out<float>("dbeta", call.args.dbeta, cols);
    if (!run(session, call, lap)) return;
    if (const auto miss = oracle_->judge(dx.view(), dgamma.view(), dbeta.view()))
      refuse(lap, describe(*miss), miss);
  }

  Problem problem_;
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
  constexpr RaceBudget kBudget{12, 31, std::chrono::milliseconds(300)};
  for (const Shape& shape : kShapes) probe.race(spec_for(shape), kBudget);
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
