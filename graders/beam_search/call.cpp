// SPDX-License-Identifier: Apache-2.0
#include "call.h"

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

void set_scalars(BeamArgs& args, const Problem& problem) {
  const Settings& settings = problem.settings;
  args.num_threads = settings.threads;
  args.batch = problem.batch();
  args.beam = settings.beam;
  args.vocab = settings.vocab;
  args.max_new = settings.max_new;
  args.min_new = settings.min_new;
  args.n_return = settings.n_return;
  args.eos_count = static_cast<std::int64_t>(settings.eos.size());
  args.alpha = settings.alpha;
  args.penalty = settings.penalty;
  args.policy = settings.policy;
  args.stop = settings.stop;
  args.pad = settings.pad;
}

/// Arrays of larger elements are aligned to these, and lie as far behind that.
Placement placement_of(const CallOptions& options, std::string_view array, std::size_t element) {
  const Placement wanted = options.placed(array);
  return {std::max(wanted.alignment, element), (wanted.skew + element - 1) / element * element};
}

/// Only the model's own arrays, in the order in which Model::answer takes them.
std::vector<CallbackArray> step_arrays(const Settings& settings) {
  const auto rows = static_cast<std::int64_t>(offsetof(BeamStep, rows));
  return {
      {offsetof(BeamStep, states), Direction::in, sizeof(std::uint64_t), 1, {rows, -1}},
      {offsetof(BeamStep, tokens), Direction::in, sizeof(std::int32_t), 1, {rows, -1}},
      {offsetof(BeamStep, new_states), Direction::out, sizeof(std::uint64_t), 1, {rows, -1}},
      {offsetof(BeamStep, log_probs), Direction::out, sizeof(float), settings.vocab, {rows, -1}}};
}

}  // namespace

SearchCall::SearchCall(const Problem& problem, Rng states, const CallOptions& options)
    : Call("beam_search"), model_(problem, std::move(states), options.failure, options.states) {
  const Settings& settings = problem.settings;
  null_context = options.null_when_empty;
  kit::set_header(args, BEAM_ABI_VERSION, BEAM_HOST, options);
  set_scalars(args, problem);
  const auto give = [&](const char* name, auto& field, const auto& data) {
    // An empty batch may come without any array.
    if (options.left_out(name, problem.batch() == 0 ? 0 : std::ssize(data))) return;
    in(name, field, data, placement_of(options, name, sizeof data[0]));
  };
  give("root_log_probs", args.root_log_probs, model_.root_log_probs());
  give("root_states", args.root_states, model_.root_states());
  give("prompt_lengths", args.prompt_lengths, problem.prompts);
  give("eos", args.eos, settings.eos);
  if (!options.left_out("step", problem.batch() == 0 ? 0 : settings.max_new))
    callback<std::remove_pointer_t<BeamStepFunction>, BeamStep>(
        "step", args.step, args.model, step_arrays(settings),
        [this](BeamStep& step, CallbackRequest& request) { return model_.answer(step, request); });

  const std::size_t batch = problem.prompts.size();
  const std::size_t slots = batch * static_cast<std::size_t>(settings.n_return);
  const auto take = [&]<class T>(const char* name, T*& field, std::size_t count,
                                 std::vector<T> Answer::*part) {
    if (options.left_out(name, static_cast<std::int64_t>(count))) return;
    const Placement placement = placement_of(options, name, sizeof(T));
    const auto output = [&] {
      if constexpr (std::is_integral_v<T>)
        return held_.add(*this, name, field, count, placement);
      else
        return out<T>(name, field, count, placement);
    }();
    copies_.push_back([output, part](Answer& answer) { answer.*part = output.copy(); });
  };
  take("hypotheses", args.hypotheses, batch, &Answer::hypotheses);
  take("tokens", args.tokens, slots * static_cast<std::size_t>(settings.max_new), &Answer::tokens);
  take("lengths", args.lengths, slots, &Answer::lengths);
  take("finished", args.finished, slots, &Answer::finished);
  take("log_probs", args.log_probs, slots, &Answer::log_probs);
  take("scores", args.scores, slots, &Answer::scores);
  take("steps", args.steps, batch, &Answer::steps);
}

Answer SearchCall::answer() const {
  Answer answer;
  answer.returned = returned;
  for (const auto& copy : copies_) copy(answer);
  answer.tally = model_.tally();
  return answer;
}

Answer ask(Probe& probe, const Seed& states, const Problem& problem, const CallOptions& options) {
  SearchCall call(problem, Rng(states), options);
  probe.run(call);
  return call.answer();
}

Answer ask(Probe& probe, Rng& rng, const Problem& problem, const CallOptions& options) {
  return ask(probe, rng.seed(), problem, options);
}

void ask_with_unusual_floats(Probe& probe, const Seed& states, const Problem& problem,
                             const CallOptions& options) {
  SearchCall call(problem, Rng(states), options);
  call.unusual_floats = true;
  probe.run(call);
  probe.require(call.returned == BEAM_OK || call.returned == options.failure.returned,
                "returned what nobody gave it, under other float controls");
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
