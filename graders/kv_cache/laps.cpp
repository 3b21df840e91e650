#include "laps.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <utility>

#include "graders/kit/compare.h"
#include "harness/core/machine.h"
#include "oracle.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr int kSampledRows = 6;

void refuse(Lap& lap, std::string summary, std::optional<Miss> miss = {}) {
  lap.finding = Finding{Verdict::wrong, "", std::move(summary), {}, std::move(miss)};
}

bool run(Session& session, CallBase& call, Lap& lap) {
  session.run(call);
  lap.elapsed = call.elapsed;
  if (call.returned != 0) refuse(lap, fmt::format("{} returned {}", call.symbol, call.returned));
  return !lap.finding;
}

std::optional<State> blank(Session& session, const Setup& setup, Lap& lap) {
  Call<KvShape> call("kv_page_bytes");
  call.args = page_bytes_question(setup);
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

void require_near(const Setup& setup, const Tokens& stored, const Tokens& given, Lap& lap) {
  for (const auto& [got, appended] :
       {std::pair{&stored.k, &given.k}, std::pair{&stored.v, &given.v}}) {
    const std::vector<double> want(appended->begin(), appended->end());
    const auto miss =
        kit::worst_miss(std::span(*got), want, storage_allowed(setup, *appended, kDim),
                        kit::index_namer("stored", {given.count(setup), kHeads, kDim}));
    if (miss) return refuse(lap, describe(*miss), miss);
  }
}

}  // namespace

Setup setup_for(const Shape& shape, std::int64_t tokens) {
  Setup setup;
  setup.stored = shape.stored;
  setup.heads = kHeads;
  setup.key_dim = setup.value_dim = setup.group = kDim;
  setup.page_tokens = 16;
  setup.sequences = shape.sequences;
  setup.width = tokens / setup.page_tokens;
  setup.pages = shape.sequences * setup.width;
  setup.threads = this_machine().cores;
  return setup;
}

Rounds::Load Rounds::draw(Rng& rng, std::int64_t tokens) const {
  Load load{setup_for(shape_, tokens), {}, {}, {}};
  for (const std::int64_t s : random_order(rng, shape_.sequences))
    load.chunks.push_back({s, draw_many_tokens(rng, load.setup, tokens)});
  for (std::int64_t s = 0; s < shape_.sequences; ++s)
    load.lengths.push_back(tokens - rng.integer(0, 40));
  Question& question = load.question;
  question.which = random_order(rng, shape_.sequences);
  question.queries.assign(question.which.size(), shape_.queries);
  question.q_heads = kQueryHeads;
  question.scale = static_cast<float>(1 / std::sqrt(double(kDim)));
  for (std::int64_t i = 0; i < question.rows() * kDim; ++i)
    question.q.push_back(static_cast<float>(3 * rng.normal()));
  return load;
}

void Rounds::renew(Rng& rng, Rng& judge) {
  load_ = draw(rng, shape_.tokens);
  small_ = draw(rng, shape_.tokens / 8);
  sampled_sequence_ = judge.integer(0, shape_.sequences - 1);
  sampled_rows_ = judge.seed();
  page_numbers_ = judge.seed();
}

/// A cache with a load's tokens. The lap has taken as long as appending them.
std::optional<State> Rounds::fill(Session& session, const Load& load, Lap& lap) const {
  std::optional<State> state = blank(session, load.setup, lap);
  if (!state) return std::nullopt;
  AppendCall call(*state, load.chunks);
  if (!run(session, call.call, lap)) return std::nullopt;
  call.take(*state);
  if (is_full(*state, load.chunks[0].tokens.count(load.setup))) return state;
  refuse(lap, "kv_append: table, lengths and refs are not those of sequences that fill all pages");
  return std::nullopt;
}

/// Attention over shortened sequences. The lap has taken as long as that.
std::optional<Answer> Rounds::ask(Session& session, const Load& load, const State& full,
                                  Lap& lap) const {
  State state = full;
  state.lengths = load.lengths;
  AttendCall call(state, load.question);
  if (!run(session, call.call, lap)) return std::nullopt;
  return call.answer();
}

void Rounds::warm_up(Session& session, Lap& lap) const {
  if (const std::optional<State> state = fill(session, small_, lap); state && !shape_.append)
    ask(session, small_, *state, lap);
}

void Rounds::hand_over(Session& session, State& state) const {
  session.restart();
  Rng rng(page_numbers_);
  state.renumber(rng);
}

Lap Rounds::attend(Session& session) const {
  Lap lap;
  std::optional<State> state = fill(session, load_, lap);
  if (lap.finding) return lap;
  hand_over(session, *state);
  warm_up(session, lap);
  if (lap.finding) return lap;
  const std::optional<Answer> answer = ask(session, load_, *state, lap);
  if (!answer) return lap;
  const std::vector<Tokens> stored = read_all(session, *state, shape_.stored != KV_F32, lap);
  if (!lap.finding) judge(stored, *answer, lap);
  return lap;
}

Lap Rounds::append(Session& session) const {
  Lap lap;
  warm_up(session, lap);
  if (lap.finding) return lap;
  std::optional<State> state = fill(session, load_, lap);
  if (lap.finding) return lap;
  hand_over(session, *state);
  read_all(session, *state, true, lap);
  return lap;
}

/// What is in the cache, each sequence that is read as near to what it was given as the contract
/// wants it. Where nothing may be lost, the tokens themselves say what attention has to see, and
/// one sequence is enough to show that they are there.
std::vector<Tokens> Rounds::read_all(Session& session, const State& state, bool all,
                                     Lap& lap) const {
  const std::chrono::nanoseconds elapsed = lap.elapsed;
  std::vector<Tokens> stored(load_.chunks.size());
  for (const Chunk& chunk : load_.chunks) {
    Tokens& kept = stored[static_cast<std::size_t>(chunk.sequence)];
    kept = chunk.tokens;
    if (!all && chunk.sequence != sampled_sequence_) continue;
    ReadCall call(state, chunk.sequence, 0, shape_.tokens);
    if (!run(session, call.call, lap)) break;
    kept = call.tokens();
    require_near(load_.setup, kept, chunk.tokens, lap);
    if (lap.finding) break;
  }
  lap.elapsed = elapsed;
  return stored;
}

/// A few rows, which nobody can know beforehand, against the oracle; all of them finite.
void Rounds::judge(const std::vector<Tokens>& stored, const Answer& answer, Lap& lap) const {
  const Question& question = load_.question;
  Rng rng(sampled_rows_);
  const double chance = kSampledRows / static_cast<double>(question.rows());
  const Expected expected = expect_attention(
      load_.setup, stored, question, [&] { return rng.chance(chance); }, load_.lengths);
  const std::int64_t queries = question.rows() / kQueryHeads;
  const auto miss = kit::worst_miss(std::span(answer.out), expected.out, expected.out_allowed,
                                    kit::index_namer("out", {queries, kQueryHeads, kDim}));
  if (miss) return refuse(lap, describe(*miss), miss);
  const auto lse = kit::worst_miss(std::span(answer.lse), expected.lse, expected.lse_allowed,
                                   kit::index_namer("lse", {queries, kQueryHeads}));
  if (lse) refuse(lap, describe(*lse), lse);
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
