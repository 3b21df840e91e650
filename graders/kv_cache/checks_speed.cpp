#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <memory>
#include <utility>

#include "cache.h"
#include "checks.h"
#include "graders/kit/compare.h"
#include "harness/core/machine.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

struct Shape {
  const char* name;
  KvStored stored;
  std::int64_t sequences;
  std::int64_t tokens;  // of each
  std::int64_t queries;
  bool append;  // the lap appends all tokens; else it attends to them
};

// Decoding reads every byte of the cache once and does little with it: 12 MiB as floats, of which
// INT8 makes 3 and INT4 1.5 when nothing else changes, so they get more tokens.
constexpr Shape kShapes[] = {
    {"decode_f32", KV_F32, 4, 1536, 1, false},   {"decode_int8", KV_INT8, 4, 2560, 1, false},
    {"decode_int4", KV_INT4, 4, 2560, 1, false}, {"prefill_f32", KV_F32, 1, 1536, 128, false},
    {"append_int8", KV_INT8, 4, 1024, 0, true},
};
constexpr std::int64_t kHeads = 2;
constexpr std::int64_t kQueryHeads = 8;
constexpr std::int64_t kDim = 128;
constexpr int kSampledRows = 6;

Setup setup_for(const Shape& shape) {
  Setup setup;
  setup.stored = shape.stored;
  setup.heads = kHeads;
  setup.key_dim = setup.value_dim = setup.group = kDim;
  setup.page_tokens = 16;
  setup.sequences = shape.sequences;
  setup.width = shape.tokens / setup.page_tokens;
  setup.pages = shape.sequences * setup.width;
  setup.threads = this_machine().cores;
  return setup;
}

void refuse(Lap& lap, std::string summary, std::optional<Miss> miss = {}) {
  lap.finding = Finding{Verdict::wrong, "", std::move(summary), {}, std::move(miss)};
}

bool run(Session& session, CallBase& call, Lap& lap) {
  session.run(call);
  if (call.returned != 0) refuse(lap, fmt::format("{} returned {}", call.symbol, call.returned));
  return !lap.finding;
}

/// The rounds of one shape. Every contestant fills a cache of its own in each of them, before the
/// clock runs: tokens, queries, lengths and the order of sequences are new.
class Rounds {
 public:
  explicit Rounds(const Shape& shape) : shape_(shape), setup_(setup_for(shape)) {}

  void renew(Rng& rng, Rng& judge) {
    chunks_.clear();
    for (const std::int64_t s : random_order(rng, setup_.sequences))
      chunks_.push_back({s, draw_many_tokens(rng, setup_, shape_.tokens)});
    lengths_.clear();
    for (std::int64_t s = 0; s < setup_.sequences; ++s)
      lengths_.push_back(shape_.tokens - rng.integer(0, 40));
    question_ = Question{};
    question_.which = random_order(rng, setup_.sequences);
    question_.queries.assign(question_.which.size(), shape_.queries);
    question_.q_heads = kQueryHeads;
    question_.scale = static_cast<float>(1 / std::sqrt(double(kDim)));
    for (std::int64_t i = 0; i < question_.rows() * kDim; ++i)
      question_.q.push_back(static_cast<float>(3 * rng.normal()));
    sampled_sequence_ = judge.integer(0, setup_.sequences - 1);
    sampled_rows_ = judge.seed();
  }

  Lap lap(Session& session) const { return shape_.append ? append(session) : attend(session); }

 private:
  std::optional<State> blank(Session& session, Lap& lap) const {
    Call<KvShape> ask("kv_page_bytes");
    ask.args = shape_of(setup_);
    session.run(ask);
    if (ask.returned < 1 || ask.returned > page_budget(setup_)) {
      refuse(lap, fmt::format("kv_page_bytes returned {}", ask.returned));
      return std::nullopt;
    }
    return State(setup_, ask.returned);
  }

  /// A cache with the round's tokens. The lap has taken as long as appending them.
  std::optional<State> filled(Session& session, Lap& lap) const {
    std::optional<State> state = blank(session, lap);
    if (!state) return std::nullopt;
    AppendCall call(*state, chunks_);
    if (!run(session, call.call, lap)) return std::nullopt;
    lap.elapsed = call.call.elapsed;
    call.take(*state);
    return state;
  }

  std::optional<Tokens> read(Session& session, const State& state, std::int64_t sequence,
                             Lap& lap) const {
    ReadCall call(state, sequence, 0, shape_.tokens);
    if (!run(session, call.call, lap)) return std::nullopt;
    return call.tokens();
  }

  void require_near(const Tokens& stored, const Tokens& given, Lap& lap) const {
    for (const auto& [got, appended] :
         {std::pair{&stored.k, &given.k}, std::pair{&stored.v, &given.v}}) {
      const std::vector<double> want(appended->begin(), appended->end());
      const auto miss =
          kit::worst_miss(std::span(*got), want, storage_allowed(setup_, *appended, kDim),
                          kit::index_namer("stored", {shape_.tokens, kHeads, kDim}));
      if (miss) refuse(lap, describe(*miss), miss);
    }
  }

  Lap attend(Session& session) const {
    Lap lap;
    std::optional<State> state = filled(session, lap);
    if (!state) return lap;
    const Ids full = std::exchange(state->lengths, lengths_);
    AttendCall call(*state, question_);
    if (!run(session, call.call, lap)) return lap;
    lap.elapsed = call.call.elapsed;
    const Answer answer = call.answer();
    state->lengths = full;
    const std::vector<Tokens> stored = read_all(session, *state, lap);
    if (!lap.finding) judge(stored, answer, lap);
    return lap;
  }

  /// What is in the cache: as the contestant says, or as it was given where nothing may be lost.
  std::vector<Tokens> read_all(Session& session, const State& state, Lap& lap) const {
    std::vector<Tokens> stored(chunks_.size());
    for (const Chunk& chunk : chunks_) {
      Tokens& kept = stored[static_cast<std::size_t>(chunk.sequence)];
      if (setup_.stored == KV_F32 && chunk.sequence != sampled_sequence_) {
        kept = chunk.tokens;
        continue;
      }
      std::optional<Tokens> tokens = read(session, state, chunk.sequence, lap);
      if (!tokens) break;
      if (chunk.sequence == sampled_sequence_) require_near(*tokens, chunk.tokens, lap);
      kept = *std::move(tokens);
    }
    return stored;
  }

  /// A few rows, which nobody can know beforehand, against the oracle; all of them finite.
  void judge(const std::vector<Tokens>& stored, const Answer& answer, Lap& lap) const {
    Rng rng(sampled_rows_);
    const double chance = kSampledRows / static_cast<double>(question_.rows());
    const Expected expected = expect_attention(
        setup_, stored, question_, [&] { return rng.chance(chance); }, lengths_);
    const std::int64_t queries = question_.rows() / kQueryHeads;
    const auto miss = kit::worst_miss(std::span(answer.out), expected.out, expected.out_allowed,
                                      kit::index_namer("out", {queries, kQueryHeads, kDim}));
    if (miss) return refuse(lap, describe(*miss), miss);
    const auto lse = kit::worst_miss(std::span(answer.lse), expected.lse, expected.lse_allowed,
                                     kit::index_namer("lse", {queries, kQueryHeads}));
    if (lse) refuse(lap, describe(*lse), lse);
  }

  Lap append(Session& session) const {
    Lap lap;
    const std::optional<State> state = filled(session, lap);
    if (!state) return lap;
    const auto sampled = std::ranges::find(chunks_, sampled_sequence_, &Chunk::sequence);
    if (const auto stored = read(session, *state, sampled->sequence, lap))
      require_near(*stored, sampled->tokens, lap);
    return lap;
  }

  Shape shape_;
  Setup setup_;
  std::vector<Chunk> chunks_;
  Ids lengths_;
  Question question_;
  std::int64_t sampled_sequence_ = 0;
  Seed sampled_rows_;
};

RaceSpec spec_for(const Shape& shape) {
  const double numbers = 2.0 * kHeads * kDim * double(shape.sequences * shape.tokens);
  const double bytes = static_cast<double>(page_budget(setup_for(shape))) / 16 *
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

}  // namespace

void speed(Probe& probe) {
  // On two cores a round takes 30 ms (append_int8) to 160 ms (decode_f32), nearly all of it to fill
  // fresh caches and to read them back. Six rounds always run, for up to a second: a race that is
  // not clear by then gets three times this number in all, which with 120 ms was over already.
  constexpr RaceBudget kBudget{6, 21, std::chrono::milliseconds(400)};
  for (const Shape& shape : kShapes) probe.race(spec_for(shape), kBudget);
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
