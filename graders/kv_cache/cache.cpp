#include "cache.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graders/kit/compare.h"

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

/// What is read of a vector's numbers, from token `begin` of a sequence on.
struct Reading {
  const char* name;
  std::int64_t sequence, begin, dim;
};

void require_stored(const Cache& cache, const Reading& reading, const std::vector<float>& got,
                    const std::vector<float>& given) {
  const std::int64_t heads = cache.setup().heads;
  const auto namer = [&](std::int64_t i) {
    const std::int64_t vector = i / reading.dim;
    return fmt::format("{}[{}] of head {} of token {} of sequence {}", reading.name,
                       i % reading.dim, vector % heads, reading.begin + vector / heads,
                       reading.sequence);
  };
  const std::vector<double> want(given.begin(), given.end());
  const std::vector<double> allowed = storage_allowed(cache.setup(), given, reading.dim);
  cache.require(kit::worst_miss(std::span(got), want, allowed, namer));
}

}  // namespace

std::int64_t ask_page_bytes(Probe& probe, const Setup& setup) {
  Call<KvShape> call("kv_page_bytes");
  call.args = page_bytes_question(setup);
  probe.run(call);
  if (const auto fault = page_bytes_fault(setup, call.returned)) probe.fail(*fault);
  return call.returned;
}

void note_share(Probe& probe, double share) {
  constexpr const char* kName = "largest share of the tolerance";
  for (const Fact& fact : probe.observation().facts)
    if (fact.name == kName) share = std::max(share, fact.value);
  probe.fact(kName, share, "");
}

Cache::Cache(Probe& probe, const Setup& setup, const Seed& litter, Habits habits)
    : probe_(&probe),
      state_(setup, ask_page_bytes(probe, setup)),
      contents_(static_cast<std::size_t>(setup.sequences)),
      stored_(contents_),
      rng_(litter),
      habits_(habits) {}

std::vector<std::string> Cache::steps() const {
  std::vector<std::string> steps{fmt::format(
      "{}, {} heads, dimensions {} and {}, groups of {}, {} pages of {} tokens, {} threads",
      name_of(setup().stored), setup().heads, setup().key_dim, setup().value_dim, setup().group,
      setup().pages, setup().page_tokens, setup().threads)};
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

std::int64_t Cache::free_pages() const {
  return std::ranges::count(state_.refs, 0);
}

void Cache::prepare() {
  if (habits_.restart) probe_->restart();
  if (habits_.renumber) state_.renumber(rng_);
  state_.litter(rng_);
}

void Cache::run(CallBase& call, std::int64_t want) {
  probe_->run(call);
  if (call.returned != want)
    fail(fmt::format("{} returned {}, want {}", call.symbol, call.returned, want));
}

/// Whether an append has pages enough, done one sequence after the other as the contract says.
bool Cache::fits(const std::vector<Chunk>& chunks) const {
  std::vector<std::int32_t> refs = state_.refs;
  std::int64_t left = free_pages();
  for (const Chunk& chunk : chunks) {
    const std::int64_t tokens = chunk.tokens.count(setup());
    if (tokens == 0) continue;
    const std::int64_t old = length(chunk.sequence);
    const std::int64_t used = state_.pages_of(old);
    const std::int64_t want = state_.pages_of(old + tokens);
    if (want > setup().width) return false;
    left -= want - used;
    if (old % setup().page_tokens == 0) continue;
    auto& shared = refs[static_cast<std::size_t>(state_.entry(chunk.sequence, used - 1))];
    if (shared > 1) --shared, --left;
  }
  return left >= 0;
}

bool Cache::append(const std::vector<Chunk>& chunks) {
  const bool fit = fits(chunks);
  history_.push_back(describe_chunks(setup(), chunks) +
                     (fit ? "" : fmt::format(" ({} pages are free: too few)", free_pages())));
  prepare();
  AppendCall call(state_, chunks);
  run(call.call, fit ? KV_OK : KV_FULL);
  State after = state_;
  call.take(after);
  if (!fit) {
    require_untouched(after);
    return false;
  }
  const Ids changed = require_growth(after, chunks);
  adopt(std::move(after), changed);
  for (const Chunk& chunk : chunks)
    contents_[static_cast<std::size_t>(chunk.sequence)].append(chunk.tokens);
  return true;
}

void Cache::fork(std::int64_t from, std::int64_t to) {
  history_.push_back(fmt::format("fork sequence {} to {}", from, to));
  prepare();
  const bool good = from != to && length(to) == 0;
  ForkCall call(state_, from, to);
  run(call.call, good ? KV_OK : KV_BAD_ARGUMENT);
  State after = state_;
  call.take(after);
  if (!good) return require_untouched(after);
  Ids lengths = state_.lengths;
  lengths[static_cast<std::size_t>(to)] = length(from);
  require_lengths(after, lengths);
  for (std::int64_t s = 0; s < setup().sequences; ++s) require_row_kept(after, s, state_.used(s));
  for (std::int64_t at = 0; at < state_.used(from); ++at)
    if (after.entry(to, at) != state_.entry(from, at))
      fail(fmt::format("kv_fork: page {} of the new sequence is {}, want {}", at,
                       after.entry(to, at), state_.entry(from, at)));
  adopt(std::move(after), {});
  for (std::vector<Tokens>* all : {&contents_, &stored_})
    (*all)[static_cast<std::size_t>(to)] = (*all)[static_cast<std::size_t>(from)];
}

void Cache::truncate(std::int64_t sequence, std::int64_t length) {
  history_.push_back(length == 0
                         ? fmt::format("free sequence {}", sequence)
                         : fmt::format("truncate sequence {} to {} tokens", sequence, length));
  prepare();
  const bool good = length >= 0 && length <= this->length(sequence);
  TruncateCall call(state_, sequence, length);
  run(call.call, good ? KV_OK : KV_BAD_ARGUMENT);
  State after = state_;
  call.take(after);
  if (!good) return require_untouched(after);
  Ids lengths = state_.lengths;
  lengths[static_cast<std::size_t>(sequence)] = length;
  require_lengths(after, lengths);
  for (std::int64_t s = 0; s < setup().sequences; ++s)
    require_row_kept(after, s, s == sequence ? state_.pages_of(length) : state_.used(s));
  adopt(std::move(after), {});
  contents_[static_cast<std::size_t>(sequence)].resize(setup(), length);
  Tokens& known = stored_[static_cast<std::size_t>(sequence)];
  known.resize(setup(), std::min(length, known.count(setup())));
}

Tokens Cache::read(std::int64_t sequence, std::int64_t begin, std::int64_t tokens) {
  history_.push_back(fmt::format("read {} tokens of sequence {} from {}", tokens, sequence, begin));
  prepare();
  ReadCall call(state_, sequence, begin, tokens);
  run(call.call, KV_OK);
  Tokens stored = call.tokens();
  const Tokens given = contents_[static_cast<std::size_t>(sequence)].part(setup(), begin, tokens);
  require_stored(*this, {"key", sequence, begin, setup().key_dim}, stored.k, given.k);
  require_stored(*this, {"value", sequence, begin, setup().value_dim}, stored.v, given.v);
  return stored;
}

void Cache::require_contents() {
  for (std::int64_t s = 0; s < setup().sequences; ++s) read(s);
}

Answer Cache::attend(const Question& question) {
  history_.push_back(fmt::format("attend to sequences {} with {} queries",
                                 fmt::join(question.which, ", "),
                                 fmt::join(question.queries, ", ")));
  prepare();
  AttendCall call(state_, question);
  run(call.call, KV_OK);
  return call.answer();
}

std::vector<Tokens> Cache::stored_for(const Question& question) {
  if (setup().stored == KV_F32) return contents_;
  for (const std::int64_t s : question.which) {
    // What is stored of a token never changes: only the new ones are read.
    Tokens& known = stored_[static_cast<std::size_t>(s)];
    const std::int64_t count = known.count(setup());
    if (count < length(s)) known.append(read(s, count, length(s) - count));
  }
  return stored_;
}

Answer Cache::require_attention(const Question& question) {
  const std::vector<Tokens> stored = stored_for(question);
  Answer answer = attend(question);
  require_answer(question, answer, expect_attention(setup(), stored, question));
  return answer;
}

void Cache::require_attention(Rng& rng, const Ids& which, std::int64_t queries,
                              std::int64_t q_heads) {
  require_attention(ask_about(rng, setup(), contents_, which, queries, q_heads));
}

void Cache::require_answer(const Question& question, const Answer& answer,
                           const Expected& expected) {
  const std::int64_t queries = question.rows() / question.q_heads;
  const auto out = kit::index_namer("out", {queries, question.q_heads, setup().value_dim});
  require(kit::worst_miss(std::span(answer.out), expected.out, expected.out_allowed, out));
  note_share(*probe_, kit::worst_ratio(answer.out, expected.out, expected.out_allowed, 1));
  if (!question.want_lse) return;
  const auto lse = kit::index_namer("lse", {queries, question.q_heads});
  require(kit::worst_miss(std::span(answer.lse), expected.lse, expected.lse_allowed, lse));
  for (std::size_t row = 0; row < answer.lse.size(); ++row)
    if (expected.lse_allowed[row] > 0)
      note_share(*probe_,
                 std::abs(answer.lse[row] - expected.lse[row]) / expected.lse_allowed[row]);
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
