#include <memory>

#include "ask.h"
#include "generate.h"
#include "harness/core/machine.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "harness/measure/race.h"
#include "harness/measure/scaling.h"
#include "sampled.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

/// A round's input, and the secret stream that picks the rows to verify.
struct Track {
  std::unique_ptr<Problem> problem;
  Rng rows{0};
};

double visible_pairs(const Problem& problem) {
  const kit::AttentionProblem view = problem.oracle_view();
  double pairs = 0;
  for (std::int64_t i = 0; i < problem.sizes.q_len; ++i)
    pairs += static_cast<double>(view.visible_keys(0, i).size());
  return pairs * static_cast<double>(problem.sizes.batch * problem.sizes.q_heads);
}

/// q, k and v in, o out.
double tensor_bytes(const Sizes& sizes) {
  const auto row = static_cast<double>(sizes.dim + sizes.value_dim);
  const auto rows = static_cast<double>(sizes.q_heads * sizes.q_len + sizes.kv_heads * sizes.k_len);
  return 4 * static_cast<double>(sizes.batch) * rows * row;
}

Lap run_lap(const Problem& problem, Rng& rows, Session& session) {
  ForwardCall call(problem);
  session.run(call);
  Lap lap{call.elapsed, std::nullopt};
  const auto refuse = [&lap](std::string summary, std::optional<Miss> miss = {}) {
    lap.finding = Finding{Verdict::wrong, "", std::move(summary), {}, std::move(miss)};
  };
  if (call.returned != 0)
    refuse("the call did not return 0");
  else if (const auto gap = call.written_gap())
    refuse(*gap);
  else if (const auto miss = sampled_miss(problem, call.answer(), rows, 24))
    refuse(gauntlet::describe(*miss), miss);
  return lap;
}

using Fill = void (*)(Problem&, Rng&);

// A lap is about half a gigaflop: at a tenth of the reference's speed a race still takes no more
// than a second.
void race(Probe& probe, const char* name, const Sizes& sizes, bool causal, Layout layout,
          Fill fill) {
  Track track;
  RaceSpec spec;
  spec.case_name = name;
  Rng shape(1);  // strides of dense layouts use no randomness
  Problem blank(sizes, shape, layout);
  blank.causal = causal;
  blank.threads = this_machine().cores;
  spec.floor_flops = 2 * static_cast<double>(sizes.dim + sizes.value_dim) * visible_pairs(blank);
  spec.floor_bytes = tensor_bytes(sizes);
  spec.prepare = [&](Rng& inputs, Rng& judge) {
    track.problem = std::make_unique<Problem>(blank);
    fill(*track.problem, inputs);
    track.rows = Rng(judge.seed());
  };
  spec.lap = [&](Session& session) { return run_lap(*track.problem, track.rows, session); };
  probe.race(spec, {12, 31, std::chrono::milliseconds(400)});
}

/// Maxima go on rising along the keys, so that tiles have to be rescaled; but not so fast that the
/// early keys of a late row could be left out.
void fill_climbing(Problem& problem, Rng& rng) {
  constexpr double kClimb = 8;
  fill_scores(problem, rng, 3, 1);
  fill_values(problem, rng);
  const auto keys = static_cast<double>(problem.sizes.k_len);
  add_to_scores(
      problem, 0, [](auto, auto, auto) { return 1.0; },
      [&](auto, auto, auto j) { return kClimb * static_cast<double>(j) / keys; });
}

void speed_dim_64(Probe& probe) {
  race(probe, "1024x2048_dim_64", {1, 1, 1, 1024, 2048, 64, 64}, false, Layout::heads_first,
       fill_sharp);
}

void speed_dim_128(Probe& probe) {
  race(probe, "512x2048_dim_128", {1, 1, 1, 512, 2048, 128, 128}, false, Layout::heads_first,
       fill_sharp);
}

void speed_causal(Probe& probe) {
  race(probe, "causal_2048x2048_climbing", {1, 1, 1, 2048, 2048, 64, 64}, true, Layout::rows_first,
       fill_climbing);
}

void speed_short_sequences(Probe& probe) {
  race(probe, "48_times_160x160", {8, 6, 3, 160, 160, 64, 64}, false, Layout::rows_first,
       fill_sharp);
}

}  // namespace

ScalingQuestion growth_in_length() {
  ScalingQuestion question;
  question.axis = "length";
  question.sizes = {320, 640, 1280, 2560};
  question.at = [](std::int64_t length, Rng& inputs, Rng& judge) {
    const auto track = std::make_shared<Track>();
    track->problem = std::make_unique<Problem>(Sizes{1, 1, 1, length, length, 64, 64}, inputs);
    track->problem->threads = this_machine().cores;
    fill_sharp(*track->problem, inputs);
    track->rows = Rng(judge.seed());
    return [track](Session& session) { return run_lap(*track->problem, track->rows, session); };
  };
  return question;
}

std::vector<Check> speed_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"speed_dim_64", "long sequences, heads of 64", performance, 2, minor}, speed_dim_64},
      {{"speed_dim_128", "long sequences, heads of 128", performance, 2, minor}, speed_dim_128},
      {{"speed_causal", "work above the diagonal", performance, 2, minor}, speed_causal},
      {{"speed_short_sequences", "many short sequences", performance, 1, minor},
       speed_short_sequences},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
