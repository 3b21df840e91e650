#include <memory>

#include "graders/kit/laps.h"
#include "harness/grading/grader.h"
#include "harness/grading/probe.h"
#include "laps.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

// Decoding reads every byte of the cache once and does little with it: 12 MiB as floats, of which
// INT8 makes 3 and INT4 1.5 when nothing else changes, so they get more tokens.
constexpr Shape kShapes[] = {
    {"decode_f32", KV_F32, 4, 1536, 1, false},   {"decode_int8", KV_INT8, 4, 2560, 1, false},
    {"decode_int4", KV_INT4, 4, 2560, 1, false}, {"prefill_f32", KV_F32, 1, 1536, 128, false},
    {"append_int8", KV_INT8, 4, 1024, 0, true},
};

RaceSpec spec_for(const Shape& shape) {
  const double numbers = 2.0 * kHeads * kDim * double(shape.sequences * shape.tokens);
  const double bytes = static_cast<double>(page_budget(setup_for(shape, shape.tokens))) / 16 *
                       double(shape.sequences * (shape.tokens - 40));
  const auto rounds = std::make_shared<Rounds>(shape);
  RaceSpec spec;
  spec.case_name = shape.name;
  spec.floor_bytes = shape.append ? 4 * numbers + bytes : bytes;
  // Two products a key and query: with the key and with the value.
  spec.floor_flops = shape.queries > 1 ? 4.0 * kDim * kQueryHeads * double(shape.queries) *
                                             double(shape.tokens - 40 - shape.queries / 2)
                                       : 0;
  spec.prepare = [rounds](Rng& inputs, Rng& judge) { rounds->renew(inputs, judge); };
  spec.lap = [rounds](Session& session) { return rounds->lap(session); };
  return spec;
}

void speed(Probe& probe) {
  // On two cores a round takes 30 ms (append_int8) to 160 ms (decode_f32), nearly all of it to fill
  // fresh caches and to read them back. Six rounds always run, for up to a second: a race that is
  // not clear by then gets three times this number in all, which with 120 ms was over already.
  constexpr RaceBudget kBudget{6, 21, std::chrono::milliseconds(400)};
  std::vector<RaceSpec> specs;
  for (const Shape& shape : kShapes) specs.push_back(spec_for(shape));
  kit::race(probe, specs, kBudget);
}

}  // namespace

std::vector<Check> speed_checks() {
  using enum Section;
  using enum Severity;
  return {
      {{"speed", "slowness", performance, 4, minor}, speed},
  };
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
