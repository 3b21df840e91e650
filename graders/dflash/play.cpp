#include "play.h"

#include <algorithm>
#include <fmt/format.h>

#include "evidence.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr std::int32_t kPoison = -1;

CallbackArray array_in(std::size_t field, std::size_t element, std::size_t count) {
  return {field, Direction::in, element, 1, {static_cast<std::int64_t>(count), -1}};
}
CallbackArray array_out(std::size_t field, std::size_t element, std::size_t count) {
  return {field, Direction::out, element, 1, {static_cast<std::int64_t>(count), -1}};
}
CallbackArray times(CallbackArray array, std::size_t count) {
  array.count_offset[1] = static_cast<std::int64_t>(count);
  return array;
}

std::vector<CallbackArray> draft_arrays() {
  using D = DflashDraft;
  return {array_in(offsetof(D, request), 8, offsetof(D, num_requests)),
          array_in(offsetof(D, context_length), 8, offsetof(D, num_requests)),
          array_in(offsetof(D, context), 4, offsetof(D, num_tokens)),
          array_out(offsetof(D, num_nodes), 8, offsetof(D, num_requests)),
          times(array_out(offsetof(D, parent), 4, offsetof(D, num_requests)), offsetof(D, budget)),
          times(array_out(offsetof(D, token), 4, offsetof(D, num_requests)), offsetof(D, budget))};
}

std::vector<CallbackArray> forward_arrays() {
  using F = DflashForward;
  return {array_in(offsetof(F, request), 8, offsetof(F, num_requests)),
          array_in(offsetof(F, context_length), 8, offsetof(F, num_requests)),
          array_in(offsetof(F, row_count), 8, offsetof(F, num_requests)),
          array_in(offsetof(F, token), 4, offsetof(F, num_rows)),
          array_in(offsetof(F, position), 8, offsetof(F, num_rows)),
          times(array_in(offsetof(F, mask), 8, offsetof(F, num_rows)), offsetof(F, mask_words)),
          times(array_out(offsetof(F, logits), 4, offsetof(F, num_rows)), offsetof(F, vocab))};
}

std::vector<CallbackArray> keep_arrays() {
  using K = DflashKeep;
  return {array_in(offsetof(K, request), 8, offsetof(K, num_requests)),
          array_in(offsetof(K, keep_count), 8, offsetof(K, num_requests)),
          array_in(offsetof(K, slot), 8, offsetof(K, num_slots))};
}

/// The round in which the first wrong token was emitted, drawn.
std::vector<std::string> draw_round(const Scene& scene, const Model& model, std::size_t r,
                                    const std::vector<std::int32_t>& got, std::size_t wrong) {
  const auto prompt = std::ssize(scene.prompts[r].tokens);
  std::int64_t known = 0;
  for (const std::int64_t at : model.known_at(r))
    if (at - prompt <= static_cast<std::int64_t>(wrong)) known = at;
  if (known == 0) return {};
  const Draft draft = draft_at(scene, r, known);
  Walk walk;
  const std::int64_t from = known - prompt;
  const std::int64_t to = std::min(std::ssize(got), from + draft.tree.rows());
  walk.emit.assign(got.begin() + from, got.begin() + std::max(from, to));
  std::int32_t tip = -1;  // the nodes that spell it, as far as there are any
  for (const std::int32_t token : walk.emit)
    for (std::int32_t node = tip + 1; node < draft.tree.nodes(); ++node)
      if (draft.tree.parent[std::size_t(node)] == tip &&
          draft.tree.token[std::size_t(node)] == token) {
        walk.path.push_back(tip = node);
        break;
      }
  auto lines = draw_walks(*scene.language, draft, walk);
  lines.insert(lines.begin(),
               fmt::format("request {}, the pass that began with {} tokens known:", r, known));
  return lines;
}

void expect_tokens(Probe& probe, const Scene& scene, const Model& model, std::size_t r,
                   const std::vector<std::int32_t>& got, const std::vector<std::int32_t>& want) {
  const auto [at, wanted] = std::ranges::mismatch(got, want);
  if (at == got.end() && wanted == want.end()) return;
  const auto place = static_cast<std::size_t>(at - got.begin());
  const std::string what =
      at == got.end() ? fmt::format("ends after {} tokens, greedy decoding goes on with {}",
                                    got.size(), *wanted)
      : wanted == want.end()
          ? fmt::format("emits {} tokens, greedy decoding ends after {}", got.size(), want.size())
          : fmt::format("emits {} as token {}, greedy decoding says {}", *at, place + 1, *wanted);
  probe.fail(fmt::format("request {} {}", r, what), draw_round(scene, model, r, got, place));
}

}  // namespace

GenerateCall::GenerateCall(const Scene& scene, const Manner& manner)
    : scene_(scene), model_(std::make_shared<Model>(scene)), eos_(scene.language->eos()) {
  std::int64_t longest = 0;
  for (const Prompt& prompt : scene.prompts) {
    prompt_.insert(prompt_.end(), prompt.tokens.begin(), prompt.tokens.end());
    prompt_start_.push_back(std::ssize(prompt_));
    max_new_.push_back(prompt.max_new);
    longest = std::max(longest, prompt.max_new);
  }
  DflashGenerateArgs& args = call.args;
  set_run(args, manner);
  args.num_requests = std::ssize(scene.prompts);
  args.vocab = scene.language->vocab();
  args.num_eos = std::ssize(eos_);
  args.draft_budget = scene.budget;
  args.emit_stride = longest + manner.stride_extra;
  const Placement place = manner.placement;
  call.in("prompt_start", args.prompt_start, prompt_start_, place);
  call.in("prompt", args.prompt, prompt_, place);
  call.in("max_new", args.max_new, max_new_, place);
  call.in("eos", args.eos, eos_, place);
  const std::size_t requests = scene.prompts.size();
  emit_.push_back(call.out<std::int32_t>(
      "emit", args.emit, requests * static_cast<std::size_t>(args.emit_stride), place));
  counts_.push_back(call.out<std::int64_t>("num_emit", args.num_emit, requests, place));
  counts_.push_back(call.out<std::int64_t>("rounds", args.rounds, requests, place));
  counts_.push_back(call.out<std::int64_t>("accepted", args.accepted, requests, place));
  const std::shared_ptr<Model> model = model_;
  call.callback<std::int64_t(void*, DflashDraft*), DflashDraft>(
      "draft", args.draft, args.model, draft_arrays(),
      [model](DflashDraft& ask, CallbackRequest& raw) { return model->draft(ask, raw); });
  call.callback<std::int64_t(void*, DflashForward*), DflashForward>(
      "forward", args.forward, args.model, forward_arrays(),
      [model](DflashForward& ask, CallbackRequest& raw) { return model->forward(ask, raw); });
  call.callback<std::int64_t(void*, DflashKeep*), DflashKeep>(
      "keep", args.keep, args.model, keep_arrays(),
      [model](DflashKeep& ask, CallbackRequest& raw) { return model->keep(ask, raw); });
}

std::vector<std::int32_t> GenerateCall::emitted(std::size_t r, std::int64_t count) const {
  const auto row = emit_[0].view().subspan(r * static_cast<std::size_t>(call.args.emit_stride));
  return {row.begin(), row.begin() + count};
}

bool GenerateCall::wrote_beyond(std::size_t r) const {
  const auto stride = static_cast<std::size_t>(call.args.emit_stride);
  const auto row = emit_[0].view().subspan(r * stride, stride);
  return std::any_of(row.begin() + max_new_[r], row.end(),
                     [](std::int32_t token) { return token != kPoison; });
}

void run_audited(Probe& probe, GenerateCall& generate) {
  const auto& broken = generate.model().violation();
  try {
    probe.run(generate.call);
  } catch (const CheckEnded&) {
    if (!broken) throw;  // else the broken rule came first, and says more than how it ended
  }
  if (broken) probe.fail(broken->text, broken->drawing);
}

Play play(Probe& probe, const Scene& scene, const Manner& manner) {
  GenerateCall generate(scene, manner);
  run_audited(probe, generate);
  Play result;
  result.model = generate.model_;
  if (generate.call.returned != 0)
    probe.fail(fmt::format("dflash_generate returned {}, want 0", generate.call.returned));
  for (std::size_t r = 0; r < scene.prompts.size(); ++r) {
    const std::int64_t count = generate.num_emit(r);
    if (count < 0 || count > scene.prompts[r].max_new)
      probe.fail(
          fmt::format("num_emit[{}] is {}, max_new is {}", r, count, scene.prompts[r].max_new));
    result.plans.push_back(plan_of(scene, r));
    result.emit.push_back(generate.emitted(r, count));
    expect_tokens(probe, scene, *result.model, r, result.emit[r], result.plans[r].emit);
    if (generate.wrote_beyond(r))
      probe.fail(fmt::format("emit of request {} was written beyond max_new = {}", r,
                             scene.prompts[r].max_new));
    result.rounds.push_back(generate.counts_[1].view()[r]);
    result.accepted.push_back(generate.counts_[2].view()[r]);
  }
  return result;
}

std::int64_t Play::fewest_forwards() const {
  std::int64_t most = 0;
  for (const Plan& plan : plans) most = std::max(most, plan.rounds);
  return most;
}

std::int64_t Play::fewest_rows() const {
  std::int64_t sum = 0;
  for (const Plan& plan : plans) sum += plan.rows;
  return sum;
}

Drafter random_drafter(const Language& language, const Seed& seed, std::int64_t low,
                       std::int64_t high) {
  return [&language, seed, low, high](std::size_t r, std::int64_t known, State text) {
    Rng rng(derive(seed, fmt::format("{}:{}", r, known)));
    return grow(language, text, draw_plan(rng.integer(low, high), rng), rng);
  };
}

Drafter chain_drafter(const Language& language, const Seed& seed, std::int64_t low,
                      std::int64_t high) {
  return [&language, seed, low, high](std::size_t r, std::int64_t known, State text) {
    Rng rng(derive(seed, fmt::format("{}:{}", r, known)));
    TreePlan plan;
    plan.shape = Shape::chain;
    plan.nodes = rng.integer(low, high);
    plan.correct = rng.integer(0, std::min<std::int64_t>(plan.nodes, 6));
    return grow(language, text, plan, rng);
  };
}

Prompt random_prompt(const Language& language, std::int64_t length, std::int64_t max_new,
                     Rng& rng) {
  Prompt prompt;
  prompt.max_new = max_new;
  while (std::ssize(prompt.tokens) < length)
    prompt.tokens.push_back(static_cast<std::int32_t>(rng.integer(0, language.vocab() - 1)));
  return prompt;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
