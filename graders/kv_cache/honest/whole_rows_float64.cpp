// strategy: heads apart in the page, float64, the scores of thousands of keys before any weight,
// pages from the top
// uses: the bytes of a page mean what the solution likes, here heads apart; any free page may be
// taken, here from the top
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "common.h"

namespace {

// Half of a page belongs to keys, the other to values; in each, a run of slots for every head.
class Store {
 public:
  Store(const KvShape& shape, const void* pool)
      : shape_(shape), pool_(static_cast<char*>(const_cast<void*>(pool))) {}

  int64_t groups(int64_t dim) const { return (dim - 1) / shape_.group + 1; }

  int64_t width(int64_t dim) const {
    switch (shape_.stored) {
      case KV_F32:
        return dim * 4;
      case KV_INT8:
        return dim + groups(dim) * 4;
      default:
        return (dim + 1) / 2 + groups(dim) * 8;
    }
  }

  int64_t page_bytes() const {
    const int64_t used =
        shape_.page_tokens * shape_.kv_heads * (width(shape_.key_dim) + width(shape_.value_dim));
    return (used + 63) & ~int64_t{63};
  }

  char* page(int64_t number) const { return pool_ + number * page_bytes(); }

  char* key(int64_t number, int64_t slot, int64_t head) const {
    return page(number) + (head * shape_.page_tokens + slot) * width(shape_.key_dim);
  }
  char* value(int64_t number, int64_t slot, int64_t head) const {
    return page(number) + shape_.kv_heads * shape_.page_tokens * width(shape_.key_dim) +
           (head * shape_.page_tokens + slot) * width(shape_.value_dim);
  }

  void write(char* to, const float* x, int64_t dim) const {
    if (shape_.stored == KV_F32) {
      std::memcpy(to, x, 4 * dim);
      return;
    }
    std::vector<int> codes(dim + 1, 0);
    for (int64_t g = 0; g < groups(dim); ++g) {
      float low = std::numeric_limits<float>::infinity();
      float high = -low;
      const int64_t end = std::min(dim, (g + 1) * shape_.group);
      for (int64_t d = g * shape_.group; d < end; ++d) {
        low = std::fmin(low, x[d]);
        high = std::fmax(high, x[d]);
      }
      const bool bytes = shape_.stored == KV_INT8;
      const float ends[2] = {bytes ? std::fmax(-low, high) : low, high};
      std::memcpy(to + g * (bytes ? 4 : 8), ends, bytes ? 4 : 8);
      const double origin = bytes ? 0 : low;
      const double step = bytes ? ends[0] / 127.0 : (double(high) - low) / 15.0;
      for (int64_t d = g * shape_.group; d < end; ++d)
        codes[d] = step > 0 ? static_cast<int>(std::lrint((x[d] - origin) / step)) : 0;
    }
    if (shape_.stored == KV_INT8) {
      for (int64_t d = 0; d < dim; ++d) to[groups(dim) * 4 + d] = static_cast<char>(codes[d]);
    } else {
      for (int64_t d = 0; d < dim; d += 2)
        to[groups(dim) * 8 + d / 2] = static_cast<char>(codes[d] * 16 + codes[d + 1]);
    }
  }

  std::vector<double> load(const char* from, int64_t dim) const {
    std::vector<double> x(dim);
    for (int64_t d = 0; d < dim; ++d) x[d] = number(from, dim, d);
    return x;
  }

 private:
  double number(const char* from, int64_t dim, int64_t d) const {
    float ends[2];
    const int64_t g = d / shape_.group;
    if (shape_.stored == KV_F32) {
      std::memcpy(ends, from + 4 * d, 4);
      return ends[0];
    }
    if (shape_.stored == KV_INT8) {
      std::memcpy(ends, from + 4 * g, 4);
      return ends[0] / 127.0 * static_cast<signed char>(from[groups(dim) * 4 + d]);
    }
    std::memcpy(ends, from + 8 * g, 8);
    const auto pair = static_cast<unsigned char>(from[groups(dim) * 8 + d / 2]);
    const int code = d % 2 == 0 ? pair / 16 : pair % 16;
    return ends[0] + (double(ends[1]) - ends[0]) / 15.0 * code;
  }

  const KvShape& shape_;
  char* pool_;
};

// Table, lengths and refs, with a copy of what they were.
class Books {
 public:
  Books(const KvShape& shape, int32_t* table, int64_t* lengths, int32_t* refs)
      : shape_(shape),
        table_(table),
        lengths_(lengths),
        refs_(refs),
        last_(shape.pages - 1),
        old_refs_(refs, refs + shape.pages),
        old_lengths_(lengths, lengths + shape.sequences),
        old_table_(table, table + shape.sequences * shape.table_width) {}

  void restore() {
    std::copy(old_refs_.begin(), old_refs_.end(), refs_);
    std::copy(old_lengths_.begin(), old_lengths_.end(), lengths_);
    std::copy(old_table_.begin(), old_table_.end(), table_);
  }

  // A free page, or -1.
  int32_t take() {
    while (last_ >= 0 && refs_[last_] != 0) --last_;
    if (last_ >= 0) refs_[last_] = 1;
    return static_cast<int32_t>(last_);
  }

  int32_t& entry(int64_t sequence, int64_t token) {
    return table_[sequence * shape_.table_width + token / shape_.page_tokens];
  }
  int64_t& length(int64_t sequence) { return lengths_[sequence]; }
  int32_t& refs(int64_t page) { return refs_[page]; }

 private:
  const KvShape& shape_;
  int32_t* table_;
  int64_t* lengths_;
  int32_t* refs_;
  int64_t last_;  // pages behind it are taken
  std::vector<int32_t> old_refs_;
  std::vector<int64_t> old_lengths_;
  std::vector<int32_t> old_table_;
};

struct Copy {
  int32_t from, to;
};

// Makes room for one token more.
bool make_room(const KvShape& shape, Books& books, int64_t sequence, std::vector<Copy>& copies) {
  const int64_t token = books.length(sequence)++;
  if (token % shape.page_tokens != 0) {
    int32_t& page = books.entry(sequence, token);
    if (books.refs(page) == 1) return true;
    const int32_t own = books.take();
    if (own < 0) return false;
    copies.push_back({page, own});
    --books.refs(page);
    page = own;
    return true;
  }
  if (token / shape.page_tokens >= shape.table_width) return false;
  const int32_t page = books.take();
  if (page < 0) return false;
  books.entry(sequence, token) = page;
  return true;
}

constexpr int64_t kTogether = 4096;  // keys whose scores are kept at a time

struct Query {
  int64_t sequence, begin, end, head, row;
};

void answer(const KvAttendArgs& a, const Store& store, const Query& query) {
  const int64_t kv_head = query.head * a.shape.kv_heads / a.q_heads;
  const float* q = a.q + query.row * a.shape.key_dim;
  const int32_t* pages = a.table + query.sequence * a.shape.table_width;
  double top = -std::numeric_limits<double>::infinity();
  double weights = 0;
  std::vector<double> out(a.shape.value_dim, 0.0);
  for (int64_t begin = query.begin; begin < query.end; begin += kTogether) {
    const int64_t end = std::min(query.end, begin + kTogether);
    std::vector<double> scores;
    for (int64_t j = begin; j < end; ++j) {
      const auto key =
          store.load(store.key(pages[j / a.shape.page_tokens], j % a.shape.page_tokens, kv_head),
                     a.shape.key_dim);
      scores.push_back(a.scale * std::inner_product(key.begin(), key.end(), q, 0.0));
    }
    double higher = top;
    for (const double score : scores) higher = std::fmax(higher, score);
    const double fade = std::exp(top - higher);
    weights *= fade;
    for (double& x : out) x *= fade;
    top = higher;
    for (int64_t j = begin; j < end; ++j) {
      const double weight = std::exp(scores[j - begin] - top);
      const auto value =
          store.load(store.value(pages[j / a.shape.page_tokens], j % a.shape.page_tokens, kv_head),
                     a.shape.value_dim);
      weights += weight;
      for (size_t d = 0; d < out.size(); ++d) out[d] += weight * value[d];
    }
  }
  const bool none = query.begin >= query.end;
  for (size_t d = 0; d < out.size(); ++d)
    a.out[query.row * a.shape.value_dim + d] = none ? 0.0f : static_cast<float>(out[d] / weights);
  if (a.lse) a.lse[query.row] = static_cast<float>(none ? top : top + std::log(weights));
}

}  // namespace

extern "C" {

int64_t kv_page_bytes(const KvShape* shape) {
  if (const int64_t status = shape_status(*shape)) return status;
  return Store(*shape, nullptr).page_bytes();
}

int64_t kv_append(const KvAppendArgs* a) {
  if (const int64_t status = shape_status(a->shape)) return status;
  if (bad(*a)) return KV_BAD_ARGUMENT;
  Books books(a->shape, a->table, a->lengths, a->refs);
  std::vector<Copy> copies;
  for (int64_t i = 0; i < a->count; ++i)
    for (int64_t t = a->new_start[i]; t < a->new_start[i + 1]; ++t)
      if (!make_room(a->shape, books, a->which[i], copies)) {
        books.restore();
        return KV_FULL;
      }
  const Store store(a->shape, a->pool);
  for (const Copy& copy : copies)
    std::memcpy(store.page(copy.to), store.page(copy.from), store.page_bytes());
  for (int64_t i = 0; i < a->count; ++i) {
    int64_t token = a->lengths[a->which[i]] - (a->new_start[i + 1] - a->new_start[i]);
    for (int64_t t = a->new_start[i]; t < a->new_start[i + 1]; ++t, ++token) {
      const int32_t page = books.entry(a->which[i], token);
      const int64_t slot = token % a->shape.page_tokens;
      for (int64_t head = 0; head < a->shape.kv_heads; ++head) {
        const int64_t row = t * a->shape.kv_heads + head;
        store.write(store.key(page, slot, head), a->k + row * a->shape.key_dim, a->shape.key_dim);
        store.write(store.value(page, slot, head), a->v + row * a->shape.value_dim,
                    a->shape.value_dim);
      }
    }
  }
  return KV_OK;
}

int64_t kv_fork(const KvForkArgs* a) {
  if (const int64_t status = shape_status(a->shape)) return status;
  if (bad(*a)) return KV_BAD_ARGUMENT;
  Books books(a->shape, a->table, a->lengths, a->refs);
  for (int64_t t = 0; t < books.length(a->from); t += a->shape.page_tokens)
    ++books.refs(books.entry(a->to, t) = books.entry(a->from, t));
  books.length(a->to) = books.length(a->from);
  return KV_OK;
}

int64_t kv_truncate(const KvTruncateArgs* a) {
  if (const int64_t status = shape_status(a->shape)) return status;
  if (bad(*a)) return KV_BAD_ARGUMENT;
  Books books(a->shape, a->table, a->lengths, a->refs);
  int64_t& length = books.length(a->sequence);
  while (length > a->length)
    if (--length % a->shape.page_tokens == 0) --books.refs(books.entry(a->sequence, length));
  return KV_OK;
}

int64_t kv_read(const KvReadArgs* a) {
  if (const int64_t status = shape_status(a->shape)) return status;
  if (bad(*a)) return KV_BAD_ARGUMENT;
  const Store store(a->shape, a->pool);
  const int32_t* pages = a->table + a->sequence * a->shape.table_width;
  float* k = a->k;
  float* v = a->v;
  for (int64_t t = a->begin; t < a->begin + a->tokens; ++t)
    for (int64_t head = 0; head < a->shape.kv_heads; ++head) {
      const int32_t page = pages[t / a->shape.page_tokens];
      const int64_t slot = t % a->shape.page_tokens;
      for (const double x : store.load(store.key(page, slot, head), a->shape.key_dim))
        *k++ = static_cast<float>(x);
      for (const double x : store.load(store.value(page, slot, head), a->shape.value_dim))
        *v++ = static_cast<float>(x);
    }
  return KV_OK;
}

int64_t kv_attend(const KvAttendArgs* a) {
  if (const int64_t status = shape_status(a->shape)) return status;
  if (bad(*a)) return KV_BAD_ARGUMENT;
  std::vector<Query> queries;
  for (int64_t i = 0; i < a->count; ++i) {
    const int64_t length = a->lengths[a->which[i]];
    const int64_t low = a->key_begin ? a->key_begin[i] : 0;
    const int64_t high = a->key_end ? a->key_end[i] : length;
    for (int64_t row = a->query_start[i]; row < a->query_start[i + 1]; ++row) {
      const int64_t position = length - (a->query_start[i + 1] - row);
      const bool far = a->window >= 0 && position > a->window;
      const int64_t begin = far ? std::max(low, position - a->window) : low;
      for (int64_t head = 0; head < a->q_heads; ++head)
        queries.push_back(
            {a->which[i], begin, std::min(high, position + 1), head, row * a->q_heads + head});
    }
  }
  const Store store(a->shape, a->pool);
#pragma omp parallel for num_threads(a->shape.num_threads)
  for (size_t i = 0; i < queries.size(); ++i) answer(*a, store, queries[i]);
  return KV_OK;
}

int64_t kv_merge(const KvMergeArgs* a) {
  if (unsupported(*a)) return KV_UNSUPPORTED;
  if (bad(*a)) return KV_BAD_ARGUMENT;
  const double nothing = -std::numeric_limits<double>::infinity();
  for (int64_t row = 0; row < a->rows; ++row) {
    double lse = nothing;
    std::vector<double> out(a->value_dim, 0.0);
    for (int64_t p = 0; p < a->parts; ++p) {
      const int64_t at = p * a->rows + row;
      if (a->part_lse[at] == nothing) continue;
      const double joined = lse == nothing
                                ? a->part_lse[at]
                                : std::fmax(lse, a->part_lse[at]) +
                                      std::log1p(std::exp(-std::fabs(lse - a->part_lse[at])));
      const double keep = std::exp(lse - joined);
      const double add = std::exp(a->part_lse[at] - joined);
      for (size_t d = 0; d < out.size(); ++d)
        out[d] = keep * out[d] + add * a->part_out[at * a->value_dim + d];
      lse = joined;
    }
    std::copy(out.begin(), out.end(), a->out + row * a->value_dim);
    if (a->lse) a->lse[row] = static_cast<float>(lse);
  }
  return KV_OK;
}
}
