// strategy: a record for each token and head, bookkeeping on copies, softmax key by key,
// std::thread
// uses: the bytes of a page mean what the solution likes, here a record for each token and head;
// any free page may be taken
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "common.h"

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

int64_t divide_up(int64_t value, int64_t by) {
  return value / by + (value % by != 0);
}

// A page is a row of records, head by head in each slot: steps and codes of the key, then those of
// the value.
struct Format {
  explicit Format(const KvShape& shape) : s(shape) {}

  int64_t vector_bytes(int64_t dim) const {
    const int64_t groups = divide_up(dim, s.group);
    if (s.stored == KV_F32) return 4 * dim;
    if (s.stored == KV_INT8) return 4 * groups + dim;
    return 8 * groups + divide_up(dim, 2);
  }
  int64_t record_bytes() const { return vector_bytes(s.key_dim) + vector_bytes(s.value_dim); }
  int64_t page_bytes() const {
    return divide_up(s.page_tokens * s.kv_heads * record_bytes(), 64) * 64;
  }

  void store(char* to, const float* x, int64_t dim) const {
    if (s.stored == KV_F32) {
      std::memcpy(to, x, dim * sizeof(float));
      return;
    }
    const int64_t groups = divide_up(dim, s.group);
    char* codes = to + groups * (s.stored == KV_INT8 ? 4 : 8);
    std::memset(codes, 0, vector_bytes(dim) - (codes - to));
    for (int64_t g = 0; g < groups; ++g) {
      const int64_t begin = g * s.group;
      const int64_t end = std::min(dim, begin + s.group);
      if (s.stored == KV_INT8) {
        store_bytes(to, codes, x, g, begin, end);
      } else {
        store_nibbles(to, codes, x, g, begin, end);
      }
    }
  }

  void load(const char* from, float* x, int64_t dim) const {
    if (s.stored == KV_F32) {
      std::memcpy(x, from, dim * sizeof(float));
      return;
    }
    const int64_t groups = divide_up(dim, s.group);
    const char* codes = from + groups * (s.stored == KV_INT8 ? 4 : 8);
    for (int64_t d = 0; d < dim; ++d) {
      const int64_t g = d / s.group;
      if (s.stored == KV_INT8) {
        x[d] = number(from, g) * static_cast<float>(static_cast<int8_t>(codes[d]));
      } else {
        const int code = (static_cast<uint8_t>(codes[d / 2]) >> (d % 2 * 4)) & 15;
        x[d] = number(from, 2 * g) + number(from, 2 * g + 1) * static_cast<float>(code);
      }
    }
  }

  const KvShape& s;

 private:
  static float number(const char* base, int64_t i) {
    float x;
    std::memcpy(&x, base + i * 4, 4);
    return x;
  }
  static void set_number(char* base, int64_t i, float x) { std::memcpy(base + i * 4, &x, 4); }

  static void store_bytes(char* to, char* codes, const float* x, int64_t g, int64_t begin,
                          int64_t end) {
    float top = 0;
    for (int64_t d = begin; d < end; ++d) top = std::max(top, std::abs(x[d]));
    const float step = top < 1e-30f ? 0.0f : top / 127;
    set_number(to, g, step);
    for (int64_t d = begin; d < end; ++d) {
      const float code = step > 0 ? std::round(x[d] / step) : 0.0f;
      codes[d] = static_cast<char>(static_cast<int>(std::clamp(code, -127.0f, 127.0f)));
    }
  }

  static void store_nibbles(char* to, char* codes, const float* x, int64_t g, int64_t begin,
                            int64_t end) {
    float low = x[begin];
    float high = x[begin];
    for (int64_t d = begin; d < end; ++d) {
      low = std::min(low, x[d]);
      high = std::max(high, x[d]);
    }
    const float step = high - low < 1e-30f ? 0.0f : (high - low) / 15;
    set_number(to, 2 * g, low);
    set_number(to, 2 * g + 1, step);
    for (int64_t d = begin; d < end; ++d) {
      const float code = step > 0 ? std::round((x[d] - low) / step) : 0.0f;
      const int nibble = static_cast<int>(std::clamp(code, 0.0f, 15.0f));
      codes[d / 2] = static_cast<char>(codes[d / 2] | nibble << (d % 2 * 4));
    }
  }
};

// Tokens of one sequence, by position.
class Sequence {
 public:
  Sequence(const Format& format, const void* pool, const int32_t* table, int64_t sequence)
      : format_(format),
        pool_(const_cast<char*>(static_cast<const char*>(pool))),
        row_(table + sequence * format.s.table_width) {}

  char* key(int64_t token, int64_t head) const {
    const int64_t page = row_[token / format_.s.page_tokens];
    const int64_t slot = token % format_.s.page_tokens;
    return pool_ + page * format_.page_bytes() +
           (slot * format_.s.kv_heads + head) * format_.record_bytes();
  }
  char* value(int64_t token, int64_t head) const {
    return key(token, head) + format_.vector_bytes(format_.s.key_dim);
  }

 private:
  const Format& format_;
  char* pool_;
  const int32_t* row_;
};

// What an append does to table and refs, tried out before any of it is done.
struct Plan {
  struct Entry {
    int64_t at;  // in the table
    int32_t page;
    int32_t copy_of;  // -1: none
  };
  std::vector<Entry> entries;
  std::vector<int32_t> refs;
  int64_t next = 0;  // pages before it are taken

  bool take(int64_t at, int32_t copy_of) {
    const auto free = std::find(refs.begin() + next, refs.end(), 0);
    next = free - refs.begin();
    if (free == refs.end()) return false;
    *free = 1;
    entries.push_back({at, static_cast<int32_t>(next), copy_of});
    return true;
  }
};

bool plan_growth(const KvAppendArgs& a, int64_t sequence, int64_t tokens, Plan& plan) {
  const int64_t page_tokens = a.shape.page_tokens;
  const int64_t old = a.lengths[sequence];
  const int64_t row = sequence * a.shape.table_width;
  if (tokens > a.shape.table_width * page_tokens - old) return false;
  if (tokens > 0 && old % page_tokens != 0) {
    const int32_t last = a.table[row + old / page_tokens];
    if (plan.refs[last] > 1) {
      if (!plan.take(row + old / page_tokens, last)) return false;
      --plan.refs[last];
    }
  }
  for (int64_t at = divide_up(old, page_tokens); at < divide_up(old + tokens, page_tokens); ++at)
    if (!plan.take(row + at, -1)) return false;
  return true;
}

struct Row {
  int64_t entry, query, head;
};

// One head of one query.
void attend_row(const KvAttendArgs& a, const Format& format, const Row& row, int64_t at) {
  const int64_t sequence = a.which[row.entry];
  const int64_t length = a.lengths[sequence];
  const int64_t queries = a.query_start[row.entry + 1] - a.query_start[row.entry];
  const int64_t position = length - queries + row.query;
  int64_t begin = a.key_begin ? a.key_begin[row.entry] : 0;
  int64_t end = a.key_end ? a.key_end[row.entry] : length;
  end = std::min(end, position + 1);
  if (a.window >= 0 && position > a.window) begin = std::max(begin, position - a.window);

  const int64_t kv_head = row.head / (a.q_heads / a.shape.kv_heads);
  const int64_t key_dim = a.shape.key_dim;
  const int64_t value_dim = a.shape.value_dim;
  const Sequence tokens(format, a.pool, a.table, sequence);
  std::vector<float> key(key_dim);
  std::vector<float> value(value_dim);
  std::vector<float> sum(value_dim, 0.0f);
  float top = -kInfinity;
  float weights = 0;
  for (int64_t j = begin; j < end; ++j) {
    format.load(tokens.key(j, kv_head), key.data(), key_dim);
    format.load(tokens.value(j, kv_head), value.data(), value_dim);
    float score = 0;
    for (int64_t d = 0; d < key_dim; ++d) score += a.q[at * key_dim + d] * key[d];
    score *= a.scale;
    if (score > top) {
      const float fade = std::exp(top - score);
      weights *= fade;
      for (float& x : sum) x *= fade;
      top = score;
    }
    const float weight = std::exp(score - top);
    weights += weight;
    for (int64_t d = 0; d < value_dim; ++d) sum[d] += weight * value[d];
  }
  for (int64_t d = 0; d < value_dim; ++d)
    a.out[at * value_dim + d] = weights > 0 ? sum[d] / weights : 0.0f;
  if (a.lse) a.lse[at] = weights > 0 ? top + std::log(weights) : -kInfinity;
}

}  // namespace

extern "C" int64_t kv_page_bytes(const KvShape* shape) {
  const int64_t status = shape_status(*shape);
  return status != KV_OK ? status : Format(*shape).page_bytes();
}

extern "C" int64_t kv_append(const KvAppendArgs* args) {
  const KvAppendArgs& a = *args;
  if (const int64_t status = shape_status(a.shape)) return status;
  if (bad(a)) return KV_BAD_ARGUMENT;
  const Format format(a.shape);
  Plan plan;
  plan.refs.assign(a.refs, a.refs + a.shape.pages);
  for (int64_t i = 0; i < a.count; ++i)
    if (!plan_growth(a, a.which[i], a.new_start[i + 1] - a.new_start[i], plan)) return KV_FULL;

  char* pool = static_cast<char*>(a.pool);
  std::copy(plan.refs.begin(), plan.refs.end(), a.refs);
  for (const Plan::Entry& entry : plan.entries) {
    a.table[entry.at] = entry.page;
    if (entry.copy_of >= 0)
      std::memcpy(pool + entry.page * format.page_bytes(),
                  pool + entry.copy_of * format.page_bytes(), format.page_bytes());
  }
  for (int64_t i = 0; i < a.count; ++i) {
    const Sequence sequence(format, a.pool, a.table, a.which[i]);
    int64_t& length = a.lengths[a.which[i]];
    for (int64_t t = a.new_start[i]; t < a.new_start[i + 1]; ++t, ++length)
      for (int64_t head = 0; head < a.shape.kv_heads; ++head) {
        const int64_t at = t * a.shape.kv_heads + head;
        format.store(sequence.key(length, head), a.k + at * a.shape.key_dim, a.shape.key_dim);
        format.store(sequence.value(length, head), a.v + at * a.shape.value_dim, a.shape.value_dim);
      }
  }
  return KV_OK;
}

extern "C" int64_t kv_fork(const KvForkArgs* args) {
  const KvForkArgs& a = *args;
  if (const int64_t status = shape_status(a.shape)) return status;
  if (bad(a)) return KV_BAD_ARGUMENT;
  const int64_t pages = divide_up(a.lengths[a.from], a.shape.page_tokens);
  const int32_t* from = a.table + a.from * a.shape.table_width;
  std::copy(from, from + pages, a.table + a.to * a.shape.table_width);
  for (int64_t i = 0; i < pages; ++i) a.refs[from[i]] += 1;
  a.lengths[a.to] = a.lengths[a.from];
  return KV_OK;
}

extern "C" int64_t kv_truncate(const KvTruncateArgs* args) {
  const KvTruncateArgs& a = *args;
  if (const int64_t status = shape_status(a.shape)) return status;
  if (bad(a)) return KV_BAD_ARGUMENT;
  const int32_t* row = a.table + a.sequence * a.shape.table_width;
  const int64_t used = divide_up(a.lengths[a.sequence], a.shape.page_tokens);
  for (int64_t i = divide_up(a.length, a.shape.page_tokens); i < used; ++i) a.refs[row[i]] -= 1;
  a.lengths[a.sequence] = a.length;
  return KV_OK;
}

extern "C" int64_t kv_read(const KvReadArgs* args) {
  const KvReadArgs& a = *args;
  if (const int64_t status = shape_status(a.shape)) return status;
  if (bad(a)) return KV_BAD_ARGUMENT;
  const Format format(a.shape);
  const Sequence sequence(format, a.pool, a.table, a.sequence);
  for (int64_t t = 0; t < a.tokens; ++t)
    for (int64_t head = 0; head < a.shape.kv_heads; ++head) {
      const int64_t at = t * a.shape.kv_heads + head;
      format.load(sequence.key(a.begin + t, head), a.k + at * a.shape.key_dim, a.shape.key_dim);
      format.load(sequence.value(a.begin + t, head), a.v + at * a.shape.value_dim,
                  a.shape.value_dim);
    }
  return KV_OK;
}

extern "C" int64_t kv_attend(const KvAttendArgs* args) {
  const KvAttendArgs& a = *args;
  if (const int64_t status = shape_status(a.shape)) return status;
  if (bad(a)) return KV_BAD_ARGUMENT;
  const Format format(a.shape);
  std::vector<Row> rows;
  for (int64_t i = 0; i < a.count; ++i)
    for (int64_t query = 0; query < a.query_start[i + 1] - a.query_start[i]; ++query)
      for (int64_t head = 0; head < a.q_heads; ++head) rows.push_back({i, query, head});
  const int64_t count = static_cast<int64_t>(rows.size());
  const int64_t threads = std::clamp<int64_t>(count / 4, 1, a.shape.num_threads);
  const auto work = [&](int64_t part) {
    for (int64_t at = part; at < count; at += threads) attend_row(a, format, rows[at], at);
  };
  std::vector<std::thread> others;
  for (int64_t part = 1; part < threads; ++part) others.emplace_back(work, part);
  work(0);
  for (std::thread& other : others) other.join();
  return KV_OK;
}

extern "C" int64_t kv_merge(const KvMergeArgs* args) {
  const KvMergeArgs& a = *args;
  if (unsupported(a)) return KV_UNSUPPORTED;
  if (bad(a)) return KV_BAD_ARGUMENT;
  for (int64_t row = 0; row < a.rows; ++row) {
    float top = -kInfinity;
    for (int64_t p = 0; p < a.parts; ++p) top = std::max(top, a.part_lse[p * a.rows + row]);
    std::vector<float> sum(a.value_dim, 0.0f);
    float weights = 0;
    for (int64_t p = 0; p < a.parts; ++p) {
      const int64_t at = p * a.rows + row;
      if (a.part_lse[at] == -kInfinity) continue;
      const float weight = std::exp(a.part_lse[at] - top);
      weights += weight;
      for (int64_t d = 0; d < a.value_dim; ++d) sum[d] += weight * a.part_out[at * a.value_dim + d];
    }
    for (int64_t d = 0; d < a.value_dim; ++d)
      a.out[row * a.value_dim + d] = weights > 0 ? sum[d] / weights : 0.0f;
    if (a.lse) a.lse[row] = weights > 0 ? top + std::log(weights) : -kInfinity;
  }
  return KV_OK;
}
