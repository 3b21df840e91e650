#include "asking.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr Placement kPoolPlacement{64, 0};

template <class T>
void copy_result(const Buffer& buffer, std::vector<T>& to) {
  std::memcpy(to.data(), buffer.result.data(), buffer.result.size());
}

template <class Args>
void add_books(Call<Args>& call, const State& state) {
  call.inout("table", call.args.table, state.table);
  call.inout("lengths", call.args.lengths, state.lengths);
  call.inout("refs", call.args.refs, state.refs);
}

void take_books(const CallBase& call, State& state) {
  copy_result(call.buffer("table"), state.table);
  copy_result(call.buffer("lengths"), state.lengths);
  copy_result(call.buffer("refs"), state.refs);
}

template <class Args>
void set_shape(Call<Args>& call, const State& state) {
  call.args.shape = shape_of(state.setup);
  call.args.shape.struct_size = static_cast<std::int32_t>(sizeof(Args));
}

template <class Args>
void add_reading(Call<Args>& call, const State& state) {
  set_shape(call, state);
  if (!state.pool.empty()) call.in("pool", call.args.pool, state.pool, kPoolPlacement);
  if (!state.table.empty()) call.in("table", call.args.table, state.table);
  if (!state.lengths.empty()) call.in("lengths", call.args.lengths, state.lengths);
}

template <class Field, class Args>
void add_input(Call<Args>& call, const char* name, const Field* const& field,
               const std::vector<Field>& data, const Placement& placement = {}) {
  if (!data.empty()) call.in(name, field, data, placement);
}

Ids starts_of(const Ids& counts) {
  Ids starts{0};
  for (const std::int64_t count : counts) starts.push_back(starts.back() + count);
  return starts;
}

/// Bytes that are as harmful as possible when taken for numbers.
void spoil(Rng& rng, std::span<std::uint8_t> bytes) {
  constexpr std::uint32_t kWords[] = {0xffffffffu, 0x7f800000u, 0x7149f2cau, 0x00000000u};
  const auto kind = static_cast<std::size_t>(rng.integer(0, 4));
  for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
    const std::uint64_t word = kind == 4 ? rng() : kWords[kind] * 0x100000001ull;
    std::memcpy(&bytes[i], &word, sizeof word);
  }
}

}  // namespace

State::State(const Setup& setup, std::int64_t page_bytes)
    : setup(setup),
      page_bytes(page_bytes),
      pool(static_cast<std::size_t>(setup.pages * page_bytes), 0xff),
      table(static_cast<std::size_t>(setup.sequences * setup.width), -1),
      lengths(static_cast<std::size_t>(setup.sequences), 0),
      refs(static_cast<std::size_t>(setup.pages), 0) {}

void State::litter(Rng& rng) {
  for (std::int64_t p = 0; p < setup.pages; ++p)
    if (refs[static_cast<std::size_t>(p)] == 0) spoil(rng, page(p));
  for (std::int64_t s = 0; s < setup.sequences; ++s)
    for (std::int64_t at = used(s); at < setup.width; ++at) {
      const std::int64_t any = setup.pages > 0 ? rng.integer(0, setup.pages - 1) : 0;
      const std::int64_t wild[] = {-1, std::numeric_limits<std::int32_t>::max(),
                                   std::numeric_limits<std::int32_t>::min(), any, any};
      // Who looks one entry too far falls over it in every other sequence, whatever is drawn.
      const bool surely_wild = s % 2 == 0 && at == used(s);
      entry(s, at) = static_cast<std::int32_t>(wild[surely_wild ? 1 : rng.integer(0, 4)]);
    }
}

void State::renumber(Rng& rng) {
  const Ids numbers = random_order(rng, setup.pages);
  const State old = *this;
  for (std::int64_t p = 0; p < setup.pages; ++p) {
    const auto to = numbers[static_cast<std::size_t>(p)];
    std::ranges::copy(old.page(p), page(to).begin());
    refs[static_cast<std::size_t>(to)] = old.refs[static_cast<std::size_t>(p)];
  }
  for (std::int64_t s = 0; s < setup.sequences; ++s)
    for (std::int64_t at = 0; at < used(s); ++at)
      entry(s, at) = static_cast<std::int32_t>(numbers[static_cast<std::size_t>(entry(s, at))]);
}

AppendCall::AppendCall(const State& state, const std::vector<Chunk>& chunks) {
  Ids counts;
  for (const Chunk& chunk : chunks) {
    which_.push_back(chunk.sequence);
    counts.push_back(chunk.tokens.count(state.setup));
    tokens_.append(chunk.tokens);
  }
  starts_ = starts_of(counts);
  set_shape(call, state);
  call.args.count = std::ssize(which_);
  call.inout("pool", call.args.pool, state.pool, kPoolPlacement);
  add_books(call, state);
  add_input(call, "which", call.args.which, which_);
  call.in("new_start", call.args.new_start, starts_);
  add_input(call, "k", call.args.k, tokens_.k, state.setup.placement);
  add_input(call, "v", call.args.v, tokens_.v, state.setup.placement);
}

void AppendCall::take(State& state) const {
  copy_result(call.buffer("pool"), state.pool);
  take_books(call, state);
}

AttendCall::AttendCall(const State& state, const Question& question)
    : starts_(starts_of(question.queries)) {
  const Placement& placement = state.setup.placement;
  add_reading(call, state);
  call.args.count = std::ssize(question.which);
  call.args.q_heads = question.q_heads;
  call.args.window = question.window;
  call.args.scale = question.scale;
  add_input(call, "which", call.args.which, question.which);
  call.in("query_start", call.args.query_start, starts_);
  add_input(call, "key_begin", call.args.key_begin, question.key_begin);
  add_input(call, "key_end", call.args.key_end, question.key_end);
  add_input(call, "q", call.args.q, question.q, placement);
  const auto rows = static_cast<std::size_t>(question.rows());
  const auto dim = static_cast<std::size_t>(state.setup.value_dim);
  if (rows == 0) return;
  out_ = call.out<float>("out", call.args.out, rows * dim, placement);
  if (question.want_lse) lse_ = call.out<float>("lse", call.args.lse, rows, placement);
}

Answer AttendCall::answer() const {
  return {out_ ? out_->copy() : std::vector<float>(), lse_ ? lse_->copy() : std::vector<float>()};
}

ReadCall::ReadCall(const State& state, std::int64_t sequence, std::int64_t begin,
                   std::int64_t tokens) {
  const Setup& setup = state.setup;
  add_reading(call, state);
  call.args.sequence = sequence;
  call.args.begin = begin;
  call.args.tokens = tokens;
  if (tokens <= 0) return;
  k_ = call.out<float>("k", call.args.k, static_cast<std::size_t>(tokens * setup.key_numbers()),
                       setup.placement);
  v_ = call.out<float>("v", call.args.v, static_cast<std::size_t>(tokens * setup.value_numbers()),
                       setup.placement);
}

Tokens ReadCall::tokens() const {
  if (!k_) return {};
  return {k_->copy(), v_->copy()};
}

ForkCall::ForkCall(const State& state, std::int64_t from, std::int64_t to) {
  set_shape(call, state);
  call.args.from = from;
  call.args.to = to;
  add_books(call, state);
}

void ForkCall::take(State& state) const {
  take_books(call, state);
}

TruncateCall::TruncateCall(const State& state, std::int64_t sequence, std::int64_t length) {
  set_shape(call, state);
  call.args.sequence = sequence;
  call.args.length = length;
  add_books(call, state);
}

void TruncateCall::take(State& state) const {
  take_books(call, state);
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
