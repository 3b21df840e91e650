// SPDX-License-Identifier: Apache-2.0
#include "call.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

constexpr Placement kPoolPlacement{64, 0};

/// A table or a list is aligned as its type is and no more: it ends right before a page that
/// faults.
template <class T>
constexpr Placement kOwn{alignof(T), 0};

template <class T>
void copy_result(const Buffer& buffer, std::vector<T>& to) {
  std::memcpy(to.data(), buffer.result.data(), buffer.result.size());
}

template <class Args>
void set_shape(Call<Args>& call, const State& state) {
  call.args.shape = shape_of(state.setup);
  call.args.shape.struct_size = static_cast<std::int32_t>(sizeof(Args));
}

/// The cache in memory that the call could write. Arrays lie one behind the other, so that the
/// order says which of them keep their addresses from one function to the next.
template <class Args>
void add_cache(Call<Args>& call, const State& state) {
  call.inout("table", call.args.table, state.table, kOwn<std::int32_t>);
  call.inout("lengths", call.args.lengths, state.lengths, kOwn<std::int64_t>);
  const auto add_pool = [&](bool now) {
    if constexpr (requires { call.args.pool; })
      if (now) call.inout("pool", call.args.pool, state.pool, kPoolPlacement);
  };
  add_pool(state.setup.options.pool_stays);
  if constexpr (requires { call.args.refs; })
    call.inout("refs", call.args.refs, state.refs, kOwn<std::int32_t>);
  add_pool(!state.setup.options.pool_stays);
}

void take_books(const CallBase& call, State& state) {
  copy_result(call.buffer("table"), state.table);
  copy_result(call.buffer("lengths"), state.lengths);
  copy_result(call.buffer("refs"), state.refs);
}

/// An array without elements is null.
template <class Field, class Args>
void add_input(Call<Args>& call, const char* name, const Field* const& field,
               const std::vector<Field>& data, const Placement& placement = kOwn<Field>) {
  if (!data.empty()) call.in(name, field, data, placement);
}

template <class Args>
void add_state(Call<Args>& call, const State& state) {
  set_shape(call, state);
  if (state.setup.options.pool_stays) return add_cache(call, state);
  if (!state.pool.empty())
    call.in_parts("pool", call.args.pool, state.parts(), state.stride(), kPoolPlacement);
  add_input(call, "table", call.args.table, state.table);
  add_input(call, "lengths", call.args.lengths, state.lengths);
}

Ids starts_of(const Ids& counts) {
  Ids starts(counts.size() + 1, 0);
  std::partial_sum(counts.begin(), counts.end(), starts.begin() + 1);
  return starts;
}

}  // namespace

bool wrote_the_cache(const CallBase& call) {
  return std::ranges::any_of(call.buffers(), [](const Buffer& buffer) {
    return buffer.direction == Direction::inout &&
           !std::equal(buffer.result.begin(), buffer.result.end(), buffer.source);
  });
}

PageBytesCall::PageBytesCall(const Setup& setup) : Call("kv_page_bytes") {
  args = shape_of(setup);
  args.pages = args.sequences = args.table_width = 0;
}

AppendCall::AppendCall(const State& state, const std::vector<Chunk>& chunks) : Call("kv_append") {
  const CallOptions& options = state.setup.options;
  Ids counts;
  for (const Chunk& chunk : chunks) {
    which_.push_back(chunk.sequence);
    counts.push_back(chunk.tokens.count(state.setup));
    tokens_.append(chunk.tokens);
  }
  starts_ = starts_of(counts);
  set_shape(*this, state);
  args.count = std::ssize(which_);
  add_cache(*this, state);
  if (state.setup.far_pages > 0) spread_pool(state);
  add_input(*this, "which", args.which, which_);
  in("new_start", args.new_start, starts_, kOwn<std::int64_t>);
  add_input(*this, "k", args.k, tokens_.k, options.placed("k"));
  add_input(*this, "v", args.v, tokens_.v, options.placed("v"));
}

void AppendCall::spread_pool(const State& state) {
  const std::size_t first = buffers().size() - 1;
  const auto parts = state.parts();
  buffers()[first].bytes = parts[0].size();
  for (std::size_t i = 1; i < parts.size(); ++i)
    add(part_behind(first, i, state.stride(), parts[i].size(),
                    reinterpret_cast<const std::byte*>(parts[i].data())));
}

void AppendCall::take(State& state) const {
  auto to = std::as_writable_bytes(std::span(state.pool)).begin();
  for (const Buffer& part : buffers())
    if (part.name.starts_with("pool")) to = std::ranges::copy(part.result, to).out;
  take_books(*this, state);
}

ForkCall::ForkCall(const State& state, std::int64_t from, std::int64_t to) : Call("kv_fork") {
  set_shape(*this, state);
  args.from = from;
  args.to = to;
  add_cache(*this, state);
}

void ForkCall::take(State& state) const {
  take_books(*this, state);
}

TruncateCall::TruncateCall(const State& state, std::int64_t sequence, std::int64_t length)
    : Call("kv_truncate") {
  set_shape(*this, state);
  args.sequence = sequence;
  args.length = length;
  add_cache(*this, state);
}

void TruncateCall::take(State& state) const {
  take_books(*this, state);
}

ReadCall::ReadCall(const State& state, std::int64_t sequence, std::int64_t begin,
                   std::int64_t tokens)
    : Call("kv_read") {
  const Setup& setup = state.setup;
  add_state(*this, state);
  args.sequence = sequence;
  args.begin = begin;
  args.tokens = tokens;
  if (tokens <= 0) return;
  k_ = out<float>("k", args.k, static_cast<std::size_t>(tokens * setup.key_numbers()),
                  setup.options.placed("k"));
  v_ = out<float>("v", args.v, static_cast<std::size_t>(tokens * setup.value_numbers()),
                  setup.options.placed("v"));
}

Tokens ReadCall::tokens() const {
  if (!k_) return {};
  return {k_->copy(), v_->copy()};
}

AttendCall::AttendCall(const State& state, const Problem& problem)
    : AnsweredCall("kv_attend"), starts_(starts_of(problem.queries)) {
  const CallOptions& options = state.setup.options;
  add_state(*this, state);
  args.count = std::ssize(problem.which);
  args.q_heads = problem.q_heads;
  args.window = problem.window;
  args.scale = problem.scale;
  add_input(*this, "which", args.which, problem.which);
  in("query_start", args.query_start, starts_, kOwn<std::int64_t>);
  add_input(*this, "key_begin", args.key_begin, problem.key_begin);
  add_input(*this, "key_end", args.key_end, problem.key_end);
  add_input(*this, "q", args.q, problem.q, options.placed("q"));
  add_results(problem.rows(), state.setup.value_dim, problem.want_lse, options);
}

MergeCall::MergeCall(const Parts& parts, bool want_lse, const CallOptions& options)
    : AnsweredCall("kv_merge") {
  kit::set_header(args, KV_ABI_VERSION, KV_HOST, options);
  args.parts = parts.parts;
  args.rows = parts.rows;
  args.value_dim = parts.dim;
  add_input(*this, "part_out", args.part_out, parts.out, options.placed("part_out"));
  add_input(*this, "part_lse", args.part_lse, parts.lse, options.placed("part_lse"));
  add_results(parts.rows, parts.dim, want_lse, options);
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
