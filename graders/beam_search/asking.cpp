#include "asking.h"

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

using BeamCall = Call<BeamArgs>;

void set_scalars(BeamArgs& args, const Problem& problem) {
  const Settings& settings = problem.settings;
  args.abi_version = BEAM_ABI_VERSION;
  args.struct_size = sizeof(BeamArgs);
  args.device = BEAM_HOST;
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

/// Only the model's own arrays, in the order in which Model::answer takes them.
std::vector<CallbackArray> step_arrays(const Settings& settings) {
  const auto rows = static_cast<std::int64_t>(offsetof(BeamStep, rows));
  return {
      {offsetof(BeamStep, states), Direction::in, sizeof(std::uint64_t), 1, {rows, -1}},
      {offsetof(BeamStep, tokens), Direction::in, sizeof(std::int32_t), 1, {rows, -1}},
      {offsetof(BeamStep, new_states), Direction::out, sizeof(std::uint64_t), 1, {rows, -1}},
      {offsetof(BeamStep, log_probs), Direction::out, sizeof(float), settings.vocab, {rows, -1}}};
}

bool all_poison(const CallBase& call) {
  for (const Buffer& buffer : call.buffers())
    if (buffer.direction == Direction::out &&
        !std::all_of(buffer.result.begin(), buffer.result.end(),
                     [](std::byte b) { return b == std::byte{0xff}; }))
      return false;
  return true;
}

}  // namespace

Answer ask(const Problem& problem, Rng rng, const RunCall& run, const Asking& how) {
  const Settings& settings = problem.settings;
  Model model(problem, std::move(rng), how);
  BeamCall call("beam_search");
  set_scalars(call.args, problem);
  const auto in = [&](const char* name, auto& field, const auto& data) {
    if (how.without != name) call.in(name, field, data);
  };
  in("root_log_probs", call.args.root_log_probs, model.root_log_probs());
  in("root_states", call.args.root_states, model.root_states());
  in("prompt_lengths", call.args.prompt_lengths, problem.prompts);
  in("eos", call.args.eos, settings.eos);
  if (how.without != "step")
    call.callback<std::remove_pointer_t<BeamStepFunction>, BeamStep>(
        "step", call.args.step, call.args.model, step_arrays(settings),
        [&](BeamStep& step, CallbackRequest& request) { return model.answer(step, request); });

  Answer answer;
  const std::size_t batch = problem.prompts.size();
  const std::size_t slots = batch * static_cast<std::size_t>(settings.n_return);
  const std::size_t tokens = slots * static_cast<std::size_t>(settings.max_new);
  std::vector<std::function<void()>> copies;
  const auto out = [&]<class T>(const char* name, T*& field, std::size_t count,
                                std::vector<T>& copy) {
    if (how.without == name) return;
    const Output<T> output = call.out<T>(name, field, count);
    copies.push_back([output, &copy] { copy = output.copy(); });
  };
  out("hypotheses", call.args.hypotheses, batch, answer.hypotheses);
  out("tokens", call.args.tokens, tokens, answer.tokens);
  out("lengths", call.args.lengths, slots, answer.lengths);
  out("finished", call.args.finished, slots, answer.finished);
  out("log_probs", call.args.log_probs, slots, answer.log_probs);
  out("scores", call.args.scores, slots, answer.scores);
  out("steps", call.args.steps, batch, answer.steps);
  if (how.changed) how.changed(call.args);
  call.measure_memory = how.measure_memory;

  run(call);
  answer.returned = call.returned;
  answer.elapsed = call.elapsed;
  answer.peak_bytes = call.peak_bytes;
  answer.untouched = all_poison(call);
  for (const auto& copy : copies) copy();
  answer.tally = model.tally();
  return answer;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
