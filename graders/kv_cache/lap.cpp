// SPDX-License-Identifier: Apache-2.0
#include "lap.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <memory>
#include <numeric>
#include <utility>

#include "graders/kit/laps.h"
#include "harness/core/machine.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr int kSampledRows = 6;

// To fill a cache takes as long as several laps of attention in it.
constexpr int kRoundsACache = 8;

void refuse(Lap& lap, std::string summary) {
  lap.finding = Finding{Verdict::wrong, "", std::move(summary), {}, {}};
}

void refuse(Lap& lap, const std::optional<Miss>& miss) {
  if (miss) lap.finding = Finding{Verdict::wrong, "", describe(*miss), {}, miss};
}

/// A call whose results are judged later, if it returned 0.
bool timed_run(Session& session, CallBase& call, Lap& lap) {
  lap = kit::verified_lap(session, call, [] { return std::nullopt; });
  return !lap.finding;
}

std::optional<State> blank(Session& session, const Setup& setup, Lap& lap) {
  PageBytesCall call(setup);
  session.run(call);
  if (const auto fault = page_bytes_fault(setup, call.returned)) {
    refuse(lap, *fault);
    return std::nullopt;
  }
  return State(setup, call.returned);
}

/// Whether every page is some sequence's and nobody else's: pages are about to move, and who looks
/// them up believes the table.
bool is_full(const State& state, std::int64_t tokens) {
  std::vector<std::int32_t> pages = state.table;
  std::ranges::sort(pages);
  std::vector<std::int32_t> all(pages.size());
  std::iota(all.begin(), all.end(), 0);
  return pages == all && std::ranges::count(state.refs, 1) == std::ssize(state.refs) &&
         std::ranges::count(state.lengths, tokens) == std::ssize(state.lengths);
}

}  // namespace

Setup setup_for(const TimedCase& timed, std::int64_t tokens) {
  Setup setup{.stored = timed.stored, .heads = kHeads};
  setup.key_dim = setup.value_dim = setup.group = kDim;
  setup.page_tokens = 16;
  setup.sequences = timed.sequences;
  setup.width = tokens / setup.page_tokens;
  setup.pages = timed.sequences * setup.width;
  setup.options.threads = this_machine().cores;
  return setup;
}

TimedLap::Input TimedLap::draw_cache(Rng& rng, std::int64_t tokens) const {
  Input input{setup_for(case_, tokens), {}, {}, {}};
  for (const std::int64_t s : random_order(rng, case_.sequences))
    input.chunks.push_back({s, draw_many_tokens(rng, input.setup, tokens)});
  draw_problem(rng, input);
  return input;
}

void TimedLap::draw_problem(Rng& rng, Input& input) const {
  const std::int64_t tokens = input.chunks[0].tokens.count(input.setup);
  input.lengths.clear();
  for (std::int64_t s = 0; s < case_.sequences; ++s)
    input.lengths.push_back(tokens - rng.integer(0, 40));
  Problem problem;
  problem.which = random_order(rng, case_.sequences);
  problem.queries.assign(problem.which.size(), case_.queries);
  problem.q_heads = kQueryHeads;
  problem.scale = static_cast<float>(1 / std::sqrt(double(kDim)));
  for (std::int64_t i = 0; i < problem.rows() * kDim; ++i)
    problem.q.push_back(static_cast<float>(3 * rng.normal()));
  input.problem = std::move(problem);
}

void TimedLap::prepare(Rng& rng, Rng& judge) {
  if (case_.append || rounds_++ % kRoundsACache == 0) {
    caches_.clear();
    input_ = draw_cache(rng, case_.tokens);
    given_.resize(input_.chunks.size());
    for (const Chunk& chunk : input_.chunks)
      given_[static_cast<std::size_t>(chunk.sequence)] = chunk.tokens;
  } else {
    draw_problem(rng, input_);
  }
  small_input_ = draw_cache(rng, case_.tokens / 8);
  sampled_sequence_ = judge.integer(0, case_.sequences - 1);
  sampled_rows_ = judge.seed();
  page_numbers_ = judge.seed();
}

/// A cache with the tokens of an input. The lap has taken as long as appending them.
std::optional<State> TimedLap::fill(Session& session, const Input& input, Lap& lap) const {
  std::optional<State> state = blank(session, input.setup, lap);
  if (!state) return std::nullopt;
  AppendCall call(*state, input.chunks);
  if (!timed_run(session, call, lap)) return std::nullopt;
  call.take(*state);
  if (is_full(*state, input.chunks[0].tokens.count(input.setup))) return state;
  refuse(lap, "kv_append: table, lengths and refs are not those of sequences that fill all pages");
  return std::nullopt;
}

/// Attention over shortened sequences. The lap has taken as long as that.
std::optional<Answer> TimedLap::ask(Session& session, const Input& input, State& full,
                                    Lap& lap) const {
  Ids lengths = std::exchange(full.lengths, input.lengths);
  AttendCall call(full, input.problem);
  std::optional<Answer> answer;
  if (timed_run(session, call, lap)) answer = call.answer();
  full.lengths = std::move(lengths);
  return answer;
}

void TimedLap::warm_up(Session& session, Lap& lap) const {
  if (std::optional<State> state = fill(session, small_input_, lap); state && !case_.append)
    ask(session, small_input_, *state, lap);
}

void TimedLap::hand_over(Session& session, State& state) const {
  session.restart();
  Rng rng(page_numbers_);
  state.renumber_pages(rng);
}

/// The contestant's own, or null and what is wrong with how it filled one.
State* TimedLap::filled_cache(Session& session, Lap& lap) {
  const auto known = caches_.find(&session);
  if (known != caches_.end()) return &known->second;
  std::optional<State> state = fill(session, input_, lap);
  return lap.finding ? nullptr : &caches_.emplace(&session, *std::move(state)).first->second;
}

Lap TimedLap::attend(Session& session) {
  Lap lap;
  State* state = filled_cache(session, lap);
  if (state == nullptr) return lap;
  hand_over(session, *state);
  warm_up(session, lap);
  if (lap.finding) return lap;
  const std::optional<Answer> answer = ask(session, input_, *state, lap);
  if (!answer) return lap;
  const std::vector<Tokens> stored = read(session, *state, {sampled_sequence_}, lap);
  if (lap.finding) return lap;
  refuse(lap, sample_miss(stored, *answer));
  lap.judge_all = [this, &session, state, answer] { return judge_all(session, *state, answer); };
  return lap;
}

Lap TimedLap::append(Session& session) const {
  Lap lap;
  warm_up(session, lap);
  if (lap.finding) return lap;
  std::optional<State> state = fill(session, input_, lap);
  if (lap.finding) return lap;
  hand_over(session, *state);
  read(session, *state, {sampled_sequence_}, lap);
  lap.judge_all = [this, &session, state = std::make_shared<State>(*std::move(state))] {
    return judge_all(session, *state, {});
  };
  return lap;
}

/// What is in the cache, each of these sequences as near to what it was given as the contract wants
/// it; of others nothing. The lap keeps the time that it took.
std::vector<Tokens> TimedLap::read(Session& session, const State& state, const Ids& sequences,
                                   Lap& lap) const {
  Lap reading;
  std::vector<Tokens> stored(given_.size());
  for (const std::int64_t sequence : sequences) {
    const auto s = static_cast<std::size_t>(sequence);
    ReadCall call(state, sequence, 0, case_.tokens);
    if (!timed_run(session, call, reading)) break;
    stored[s] = call.tokens();
    refuse(reading, stored_miss(input_.setup, sequence, 0, stored[s], given_[s]));
    if (reading.finding) break;
  }
  lap.finding = std::move(reading.finding);
  return stored;
}

/// A few rows, which nobody can know beforehand, against the oracle; all of them finite. Where
/// nothing may be lost, the tokens themselves say what attention has to see; elsewhere, rows are of
/// the sequence that was read.
std::optional<Miss> TimedLap::sample_miss(const std::vector<Tokens>& stored,
                                          const Answer& answer) const {
  const Problem& problem = input_.problem;
  const bool lossless = case_.stored == KV_F32;
  const std::int64_t rows_each = case_.queries * kQueryHeads;
  Rng rng(sampled_rows_);
  const double chance = kSampledRows / static_cast<double>(lossless ? problem.rows() : rows_each);
  std::int64_t row = 0;  // about each of which expect() asks, in order
  const auto wanted = [&] {
    const std::int64_t sequence = problem.which[static_cast<std::size_t>(row++ / rows_each)];
    return (lossless || sequence == sampled_sequence_) && rng.chance(chance);
  };
  return answer_miss(
      answer, expect(input_.setup, lossless ? given_ : stored, problem, wanted, input_.lengths));
}

std::optional<Finding> TimedLap::judge_all(Session& session, const State& state,
                                           const std::optional<Answer>& answer) const {
  Ids sequences(given_.size());
  std::iota(sequences.begin(), sequences.end(), 0);
  Lap lap;
  const std::vector<Tokens> stored = read(session, state, sequences, lap);
  if (!lap.finding && answer)
    refuse(lap,
           answer_miss(*answer, expect(input_.setup, stored, input_.problem, {}, input_.lengths)));
  return lap.finding;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
