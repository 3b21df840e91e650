// SPDX-License-Identifier: Apache-2.0
#include "cache.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graders/kit/memory.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr std::size_t kEvidence = 24;  // operations shown at most

std::string describe_chunks(const Setup& setup, const std::vector<Chunk>& chunks) {
  std::vector<std::string> parts;
  for (const Chunk& chunk : chunks)
    parts.push_back(
        fmt::format("{} tokens to sequence {}", chunk.tokens.count(setup), chunk.sequence));
  return fmt::format("append {}", fmt::join(parts, ", "));
}

}  // namespace

Cache::Cache(Probe& probe, const Setup& setup, const Seed& seed)
    : probe_(&probe),
      state_(setup, require_page_bytes(probe, setup)),
      contents_(static_cast<std::size_t>(setup.sequences)),
      stored_(contents_),
      rng_(seed) {}

std::vector<std::string> Cache::steps() const {
  std::vector<std::string> steps{fmt::format(
      "{}, {} heads, dimensions {} and {}, groups of {}, {} pages of {} tokens, {} threads",
      name_of(setup().stored), setup().heads, setup().key_dim, setup().value_dim, setup().group,
      setup().pages, setup().page_tokens, setup().options.threads)};
  for (std::size_t i = 0; i < history_.size(); ++i)
    steps.push_back(fmt::format("{}. {}", i + 1, history_[i]));
  return steps;
}

void Cache::fail(const std::string& summary) const {
  std::vector<std::string> evidence = steps();
  if (evidence.size() > kEvidence)
    evidence.erase(evidence.begin() + 1, evidence.end() - std::ptrdiff_t(kEvidence));
  probe_->fail(summary, std::move(evidence));
}

void Cache::require(const std::optional<Miss>& miss) const {
  if (miss) fail(describe(*miss));
}

void Cache::prepare() {
  if (setup().options.fresh_process) probe_->restart();
  if (setup().options.renumber_pages) state_.renumber_pages(rng_);
  state_.poison_unused(rng_);
}

void Cache::run(CallBase& call, std::int64_t want) {
  probe_->run(call);
  if (call.returned != want)
    fail(fmt::format("{} returned {}, want {}", call.symbol, call.returned, want));
}

/// A call that may not change the cache.
void Cache::run_reading(CallBase& call) {
  run(call, KV_OK);
  if (wrote_the_cache(call))
    fail(fmt::format("{} wrote to pool, table or lengths, which are inputs", call.symbol));
}

Books Cache::books(const State& after) const {
  return {state_, after, [this](const std::string& fault) { fail(fault); }};
}

/// Takes the state after an operation that did what it should.
void Cache::adopt(State after, const Ids& changed_pages) {
  books(after).require_pages_kept(changed_pages);
  state_ = std::move(after);
}

bool Cache::append(const std::vector<Chunk>& chunks) {
  const bool fit = state_.fits(chunks);
  history_.push_back(
      describe_chunks(setup(), chunks) +
      (fit ? "" : fmt::format(" ({} pages are free: too few)", state_.free_pages())));
  prepare();
  AppendCall call(state_, chunks);
  run(call, fit ? KV_OK : KV_FULL);
  State after = state_;
  call.take(after);
  if (!fit) {
    require_untouched(after);
    return false;
  }
  const Ids in_place = books(after).require_growth(chunks);
  books(after).require_counted();
  adopt(std::move(after), in_place);
  for (const Chunk& chunk : chunks)
    contents_[static_cast<std::size_t>(chunk.sequence)].append(chunk.tokens);
  return true;
}

void Cache::fork(std::int64_t from, std::int64_t to) {
  history_.push_back(fmt::format("fork sequence {} to {}", from, to));
  prepare();
  const bool good = from != to && length(to) == 0;
  ForkCall call(state_, from, to);
  run(call, good ? KV_OK : KV_BAD_ARGUMENT);
  State after = state_;
  call.take(after);
  if (!good) return require_untouched(after);
  books(after).require_forked(from, to);
  adopt(std::move(after), {});
  for (std::vector<Tokens>* all : {&contents_, &stored_})
    (*all)[static_cast<std::size_t>(to)] = (*all)[static_cast<std::size_t>(from)];
}

void Cache::fork_by_hand(std::int64_t from, std::int64_t to, std::int64_t last) {
  history_.push_back(fmt::format("sequences {} to {} share what {} has", to, last, from));
  for (std::int64_t at = 0; at < state_.used(from); ++at) {
    const std::int32_t page = state_.entry(from, at);
    for (std::int64_t s = to; s <= last; ++s) state_.entry(s, at) = page;
    state_.refs[static_cast<std::size_t>(page)] += static_cast<std::int32_t>(last - to + 1);
  }
  for (std::int64_t s = to; s <= last; ++s) {
    state_.lengths[static_cast<std::size_t>(s)] = length(from);
    for (std::vector<Tokens>* all : {&contents_, &stored_})
      (*all)[static_cast<std::size_t>(s)] = (*all)[static_cast<std::size_t>(from)];
  }
}

void Cache::hold_far_pages(std::int64_t first) {
  history_.push_back(
      fmt::format("sequences from {} on have all pages but every {}th", first, setup().far_pages));
  state_.hold_far_pages(first);
}

void Cache::truncate(std::int64_t sequence, std::int64_t length) {
  history_.push_back(length == 0
                         ? fmt::format("free sequence {}", sequence)
                         : fmt::format("truncate sequence {} to {} tokens", sequence, length));
  prepare();
  const bool good = length >= 0 && length <= this->length(sequence);
  TruncateCall call(state_, sequence, length);
  run(call, good ? KV_OK : KV_BAD_ARGUMENT);
  State after = state_;
  call.take(after);
  if (!good) return require_untouched(after);
  books(after).require_cut(sequence, length);
  adopt(std::move(after), {});
  contents_[static_cast<std::size_t>(sequence)].resize(setup(), length);
  Tokens& known = stored_[static_cast<std::size_t>(sequence)];
  known.resize(setup(), std::min(length, known.count(setup())));
}

Tokens Cache::read(std::int64_t sequence, std::int64_t begin, std::int64_t tokens) {
  history_.push_back(fmt::format("read {} tokens of sequence {} from {}", tokens, sequence, begin));
  prepare();
  ReadCall call(state_, sequence, begin, tokens);
  run_reading(call);
  Tokens stored = call.tokens();
  const Tokens given = contents_[static_cast<std::size_t>(sequence)].part(setup(), begin, tokens);
  require(stored_miss(setup(), sequence, begin, stored, given));
  return stored;
}

void Cache::require_contents() {
  for (std::int64_t s = 0; s < setup().sequences; ++s) read(s);
}

void Cache::read_unless_known(std::int64_t sequence) {
  if (stored_[static_cast<std::size_t>(sequence)].count(setup()) < length(sequence)) read(sequence);
}

// Each takes a call: of forty and of three hundred sequences that was most of a check's time.
void Cache::require_some_contents() {
  constexpr std::int64_t kSome = 9;
  const std::int64_t last = setup().sequences - 1;
  Ids some = random_order(rng_, setup().sequences);
  if (last >= kSome) {
    some.resize(kSome);
    some.front() = 0;
    some.back() = last;
  }
  for (const std::int64_t s : some) read_unless_known(s);
  // From the middle of a page on, in most cases, and beyond its end.
  const std::int64_t begin = rng_.integer(0, length(0));
  read(0, begin, rng_.integer(0, length(0) - begin));
}

Answer Cache::attend(const Problem& problem) {
  history_.push_back(fmt::format("attend to sequences {} with {} queries",
                                 fmt::join(problem.which, ", "), fmt::join(problem.queries, ", ")));
  prepare();
  AttendCall call(state_, problem);
  run_reading(call);
  return call.answer();
}

std::vector<Tokens> Cache::stored_for(const Problem& problem) {
  if (setup().stored == KV_F32) return contents_;
  for (const std::int64_t s : problem.which) {
    // What is stored of a token never changes: only the new ones are read.
    Tokens& known = stored_[static_cast<std::size_t>(s)];
    const std::int64_t count = known.count(setup());
    if (count < length(s)) known.append(read(s, count, length(s) - count));
  }
  return stored_;
}

Answer Cache::require_right(const Problem& problem) {
  const std::vector<Tokens> stored = stored_for(problem);
  Answer answer = attend(problem);
  require_close(answer, expect(setup(), stored, problem));
  return answer;
}

void Cache::require_right_again(const Problem& problem, int times) {
  const Answer first = require_right(problem);
  for (int turn = 0; turn < times; ++turn)
    if (!same_bits(attend(problem), first)) fail("the same call gave other bits than before");
}

void Cache::require_right(Rng& rng, const Ids& which, std::int64_t queries, std::int64_t q_heads) {
  require_right(draw_problem(rng, setup(), contents_, which, queries, q_heads));
}

void Cache::require_close(const Answer& answer, const Expected& expected) {
  require(answer_miss(answer, expected));
  note_share(*probe_, answer, expected);
}

void require_freed_when_asked(Probe& probe, Rng& rng, KvStored stored) {
  Setup setup = one_sequence(2);
  setup.stored = stored;
  setup.heads = 1;
  setup.key_dim = setup.value_dim = rng.integer(90, 110);
  setup.sequences = 2;
  setup.options.threads = static_cast<int>(rng.integer(1, 2));
  const State state = filled_state(probe, setup, draw_many_tokens(rng, setup, 2));
  // Rows that see tokens; that stand before the first, are asked of none, and of an empty range.
  Problem problem;
  problem.which = {0, 1, 0};
  problem.queries = {4, 2, 2};
  problem.key_begin = {0, 0, 1};
  problem.key_end = {2, 0, 1};
  problem.q_heads = 128;
  problem.q.assign(static_cast<std::size_t>(problem.rows() * setup.key_dim), 0.5f);
  AttendCall attend(state, problem);
  kit::require_freed(probe, attend);
}

void require_freed_when_refused(Probe& probe, Rng& rng) {
  Setup setup{.heads = 1, .key_dim = 1, .value_dim = 1, .page_tokens = 1};
  setup.pages = setup.sequences = rng.integer(1000, 1100);
  setup.width = 1;
  const State state(setup, require_page_bytes(probe, setup));
  std::vector<Chunk> chunks;
  Problem problem;
  problem.q_heads = 1;
  for (std::int64_t s = 0; s < setup.sequences; ++s) {
    chunks.push_back({s, constant_tokens(setup, 1, 0.5f)});
    problem.which.push_back(s);
    problem.queries.push_back(1);
    problem.q.push_back(0.5f);
    problem.key_end.push_back(0);
  }
  // Of what nobody has written to only the page is held where an allocator notes its size: there
  // are so many calls that these show, in the memory of a good one.
  const auto require_freed = [&](CallBase& good, CallBase& refused) {
    constexpr int kRefused = 600;
    const std::int64_t before = kit::fresh_peak_bytes(probe, good);
    for (int n = 0; n < kRefused; ++n) probe.run_for(refused, KV_BAD_ARGUMENT);
    const std::int64_t kept = kit::peak_bytes(probe, good) - before;
    if (kept > kit::kProcessBytes)
      probe.fail(fmt::format("{} holds {:.2f} MiB more after {} refused calls, want {:.2f} or less",
                             good.symbol, kit::mib(kept), kRefused, kit::mib(kit::kProcessBytes)));
  };
  AttendCall attend(state, problem);
  Problem behind = problem;
  behind.key_end.back() = 1;
  AttendCall out_of_range(state, behind);
  require_freed(attend, out_of_range);
  AppendCall append(state, chunks);
  AppendCall to_stranger(state, chunks);
  to_stranger.which().back() = setup.sequences;
  require_freed(append, to_stranger);
}

void require_freed_when_full(Probe& probe, Rng& rng) {
  Setup setup{.heads = 1, .key_dim = 1, .value_dim = 1, .page_tokens = 1, .sequences = 1};
  setup.pages = 1 << 15;
  // Either the table is full, or there are no more pages, which may be seen later.
  for (const std::int64_t width : {setup.pages, 2 * setup.pages}) {
    setup.width = width;
    const State state(setup, require_page_bytes(probe, setup));
    AppendCall call(state, {{0, draw_many_tokens(rng, setup, setup.pages + 1)}});
    kit::require_freed(probe, call, KV_FULL);
  }
}

void require_freed_when_copied(Probe& probe, Rng& rng) {
  Setup setup = one_sequence(32, 32);
  setup.key_dim = setup.value_dim = 256;
  setup.sequences = 2;
  setup.pages = 4;
  State state = filled_state(probe, setup, draw_many_tokens(rng, setup, 30));
  ReadCall read(state, 0, 0, 30);
  kit::require_freed(probe, read);
  ForkCall fork(state, 0, 1);
  probe.run_ok(fork);
  fork.take(state);
  AppendCall append(state, {{1, draw_many_tokens(rng, setup, 1)}});
  kit::require_freed(probe, append);
}

Cache subnormal_cache(Probe& probe, Rng& rng, std::int64_t tokens) {
  const Setup setup = one_sequence(tokens);
  Cache cache(probe, setup, rng.seed());
  Tokens filled = draw_tokens(rng, setup, tokens);
  for (float& x : filled.v) x *= 1e-39f;
  cache.append(0, filled);
  return cache;
}

void require_copied_in_time(Probe& probe, Rng& rng) {
  constexpr std::int64_t kMany = 40'000;
  Setup setup = one_sequence(kMany, 16);
  setup.heads = 1;
  setup.sequences = 4;
  setup.pages += 8;
  setup.options.threads = 2;
  for (int turn = 0; turn < 3; ++turn) {
    Cache cache(probe, setup, rng.seed());
    cache.append(0, draw_tokens(rng, setup, 15));
    cache.fork(0, 1);
    cache.truncate(1, 3);
    cache.append({{2, draw_many_tokens(rng, setup, kMany)},
                  {0, draw_tokens(rng, setup, 20)},
                  {1, draw_tokens(rng, setup, 10)},
                  {3, draw_tokens(rng, setup, 1)}});
    cache.require_contents();
  }
}

State filled_state(Probe& probe, const Setup& setup, const Tokens& tokens) {
  State state(setup, require_page_bytes(probe, setup));
  AppendCall call(state, {{0, tokens}});
  probe.run_ok(call);
  call.take(state);
  return state;
}

void require_small_scratch(Probe& probe, std::int64_t held, const State& state,
                           const Problem& problem) {
  constexpr std::int64_t kGranted = std::int64_t{4} << 20;
  const std::int64_t allowed = kGranted + kit::kProcessBytes + problem.rows() * 1024;
  if (held > allowed)
    probe.fail(
        fmt::format("kv_attend holds {:.2f} MiB over a pool of {:.1f} MiB, want {:.2f} or less",
                    kit::mib(held), kit::mib(std::ssize(state.pool)), kit::mib(allowed)));
}

void require_small_scratch(Probe& probe, Rng& rng, const Alone& alone) {
  Setup setup = long_sequence(alone.stored, alone.tokens, 1);
  setup.value_dim = setup.group = alone.value_dim;
  setup.options.threads = 2;
  Tokens tokens = draw_many_tokens(rng, setup, alone.tokens);
  State state = filled_state(probe, setup, tokens);
  Problem problem;
  problem.which = {0};
  problem.queries = {alone.queries};
  problem.q_heads = alone.q_heads;
  for (std::int64_t row = 0; row < problem.rows(); ++row)
    problem.q.push_back(static_cast<float>(rng.uniform(1, 2)));
  std::vector<Answer> answers;
  for (const int threads : {2, 1}) {
    if (threads == 1 && !alone.by_one_thread) continue;
    state.setup.options.threads = threads;
    AttendCall call(state, problem);
    require_small_scratch(probe, kit::fresh_peak_bytes(probe, call), state, problem);
    answers.push_back(call.answer());
  }
  if (alone.stored != KV_F32) {
    ReadCall read(state, 0, 0, alone.tokens);
    probe.run_ok(read);
    tokens = read.tokens();
  }
  const Expected expected = expect(setup, {std::move(tokens)}, problem);
  for (const Answer& answer : answers) require_close(probe, answer, expected);
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
