// Tests of a paged cache through its contract alone: a model that keeps every token, a random life
// of sequences that is compared with it, and a few calls whose results are known by hand.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "contract.h"

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

int failures = 0;

void expect(bool holds) {
  if (!holds) ++failures;
}

using Vector = std::vector<float>;

// A cache in memory of our own, and what should be in it. What is not in use is spoiled before
// every call.
class Cache {
 public:
  Cache(KvStored stored, int64_t heads, int64_t key_dim, int64_t value_dim, int64_t page_tokens,
        int64_t group, int64_t pages, int64_t sequences, int64_t width, int threads) {
    s.abi_version = KV_ABI_VERSION;
    s.struct_size = sizeof(KvShape);
    s.num_threads = threads;
    s.stored = stored;
    s.min_align = 4;
    s.kv_heads = heads;
    s.key_dim = key_dim;
    s.value_dim = value_dim;
    s.page_tokens = page_tokens;
    s.group = group;
    page_bytes = kv_page_bytes(&s);
    expect(page_bytes > 0 && page_bytes <= budget());
    page_bytes = std::clamp<int64_t>(page_bytes, 1, 1 << 20);
    s.pages = pages;
    s.sequences = sequences;
    s.table_width = width;
    memory.resize(pages * page_bytes + 64);
    pool = memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64;
    table.assign(sequences * width, -1);
    lengths.assign(sequences, 0);
    refs.assign(pages, 0);
    k.resize(sequences);
    v.resize(sequences);
  }

  int64_t budget() const {
    int64_t token = 0;
    for (const int64_t dim : {s.key_dim, s.value_dim}) {
      const int64_t groups = (dim + s.group - 1) / s.group;
      token += s.stored == KV_F32    ? 4 * dim
               : s.stored == KV_INT8 ? dim + 4 * groups
                                     : (dim + 1) / 2 + 8 * groups;
    }
    return (s.page_tokens * s.kv_heads * token + 63) / 64 * 64;
  }

  int64_t used(int64_t sequence) const {
    return (lengths[sequence] + s.page_tokens - 1) / s.page_tokens;
  }

  int64_t append(const std::vector<int64_t>& which, const std::vector<int64_t>& counts,
                 float size = 1, bool broken = false, float base = 0) {
    spoil();
    std::vector<int64_t> start{0};
    for (const int64_t count : counts) start.push_back(start.back() + count);
    Vector new_k(start.back() * s.kv_heads * s.key_dim);
    Vector new_v(start.back() * s.kv_heads * s.value_dim);
    for (float& x : new_k) x = broken ? NAN : base + size * normal(random);
    for (float& x : new_v) x = broken ? NAN : base - 30 * size * (normal(random) + 0.5f);
    KvAppendArgs a{};
    a.shape = s;
    a.pool = pool;
    a.table = table.data();
    a.lengths = lengths.data();
    a.refs = refs.data();
    a.count = static_cast<int64_t>(which.size());
    a.which = which.data();
    a.new_start = start.data();
    a.k = new_k.data();
    a.v = new_v.data();
    const auto before = std::make_pair(lengths, refs);
    const int64_t status = kv_append(&a);
    if (status != KV_OK) expect(before == std::make_pair(lengths, refs));
    if (status == KV_OK)
      for (size_t i = 0; i < which.size(); ++i) {
        const auto add = [&](Vector& to, const Vector& from, int64_t each) {
          to.insert(to.end(), from.begin() + start[i] * each, from.begin() + start[i + 1] * each);
        };
        add(k[which[i]], new_k, s.kv_heads * s.key_dim);
        add(v[which[i]], new_v, s.kv_heads * s.value_dim);
      }
    check_books();
    return status;
  }

  int64_t fork(int64_t from, int64_t to) {
    spoil();
    KvForkArgs a{s, table.data(), lengths.data(), refs.data(), from, to};
    const int64_t status = kv_fork(&a);
    if (status == KV_OK) k[to] = k[from], v[to] = v[from];
    check_books();
    return status;
  }

  int64_t truncate(int64_t sequence, int64_t length) {
    spoil();
    KvTruncateArgs a{s, table.data(), lengths.data(), refs.data(), sequence, length};
    const int64_t status = kv_truncate(&a);
    if (status == KV_OK) {
      k[sequence].resize(length * s.kv_heads * s.key_dim);
      v[sequence].resize(length * s.kv_heads * s.value_dim);
    }
    check_books();
    return status;
  }

  // What is stored, which has to be near to what was given.
  void read(int64_t sequence, Vector& keys, Vector& values) {
    spoil();
    keys.assign(k[sequence].size(), NAN);
    values.assign(v[sequence].size(), NAN);
    KvReadArgs a{
        s,           pool,         table.data(), lengths.data(), sequence, 0, lengths[sequence],
        keys.data(), values.data()};
    expect(kv_read(&a) == KV_OK);
    check_stored(keys, k[sequence], s.key_dim);
    check_stored(values, v[sequence], s.value_dim);
  }

  struct Result {
    Vector out, lse;
  };

  Result attend(const std::vector<int64_t>& which, const std::vector<int64_t>& queries,
                int64_t q_heads, const Vector& q, int64_t window, const int64_t* begin,
                const int64_t* end, bool want_lse = true) {
    spoil();
    std::vector<int64_t> start{0};
    for (const int64_t count : queries) start.push_back(start.back() + count);
    Result result{Vector(start.back() * q_heads * s.value_dim, NAN),
                  Vector(start.back() * q_heads, NAN)};
    KvAttendArgs a{};
    a.shape = s;
    a.pool = pool;
    a.table = table.data();
    a.lengths = lengths.data();
    a.count = static_cast<int64_t>(which.size());
    a.which = which.data();
    a.query_start = start.data();
    a.key_begin = begin;
    a.key_end = end;
    a.q_heads = q_heads;
    a.window = window;
    a.scale = 0.5f;
    a.q = q.data();
    a.out = result.out.data();
    a.lse = want_lse ? result.lse.data() : nullptr;
    expect(kv_attend(&a) == KV_OK);
    return result;
  }

  // Attention against the formulas in float64 over what kv_read says.
  void check_attention(const std::vector<int64_t>& which, const std::vector<int64_t>& queries,
                       int64_t ratio, int64_t window = -1, float size = 1) {
    const int64_t q_heads = ratio * s.kv_heads;
    int64_t rows = 0;
    for (const int64_t count : queries) rows += count * q_heads;
    Vector q(rows * s.key_dim);
    for (float& x : q) x = size * normal(random);
    const Result result = attend(which, queries, q_heads, q, window, nullptr, nullptr);
    const Result quiet = attend(which, queries, q_heads, q, window, nullptr, nullptr, false);
    expect(quiet.out == result.out && std::isnan(quiet.lse[0]));
    int64_t row = 0;
    for (size_t i = 0; i < which.size(); ++i) {
      Vector keys, values;
      read(which[i], keys, values);
      for (int64_t n = 0; n < queries[i]; ++n) {
        const int64_t position = lengths[which[i]] - queries[i] + n;
        const int64_t first = window < 0 ? 0 : std::max<int64_t>(0, position - window);
        for (int64_t h = 0; h < q_heads; ++h, ++row)
          check_row(&q[row * s.key_dim], keys, values, h / ratio, first, position + 1,
                    &result.out[row * s.value_dim], result.lse[row]);
      }
    }
  }

  KvShape s{};
  int64_t page_bytes;
  std::vector<char> memory;
  char* pool;
  std::vector<int32_t> table, refs;
  std::vector<int64_t> lengths;
  std::vector<Vector> k, v;
  std::mt19937 random{12345};
  std::normal_distribution<float> normal;

 private:
  void spoil() {
    const unsigned char bytes[] = {0xff, 0x7f, 0x71, 0x00};
    for (int64_t p = 0; p < s.pages; ++p)
      if (refs[p] == 0) std::memset(pool + p * page_bytes, bytes[random() % 4], page_bytes);
    for (int64_t q = 0; q < s.sequences; ++q)
      for (int64_t i = used(q); i < s.table_width; ++i) table[q * s.table_width + i] = -7 - q;
  }

  void check_books() {
    std::vector<int32_t> uses(s.pages, 0);
    for (int64_t q = 0; q < s.sequences; ++q) {
      expect(lengths[q] == static_cast<int64_t>(k[q].size()) / (s.kv_heads * s.key_dim));
      for (int64_t i = 0; i < std::min(used(q), s.table_width); ++i) {
        const int32_t page = table[q * s.table_width + i];
        expect(page >= 0 && page < s.pages);
        if (page >= 0 && page < s.pages) ++uses[page];
      }
    }
    expect(uses == refs);
  }

  void check_stored(const Vector& got, const Vector& given, int64_t dim) {
    for (size_t row = 0; row < given.size(); row += dim)
      for (int64_t begin = 0; begin < dim; begin += s.group) {
        const size_t first = row + begin;
        const size_t last = row + std::min(dim, begin + s.group);
        const auto [low, high] = std::minmax_element(&given[first], &given[0] + last);
        const double most = std::max(std::abs(double(*low)), std::abs(double(*high)));
        double allowed = s.stored == KV_INT8 ? most / 254 : (double(*high) - *low) / 30;
        allowed = allowed * (1 + 0x1p-10) + most * 0x1p-20 + 1e-30;
        if (s.stored == KV_F32) allowed = 0;
        for (size_t i = first; i < last; ++i)
          expect(std::abs(double(got[i]) - given[i]) <= allowed ||
                 (std::isnan(given[i]) && std::isnan(got[i])));
      }
  }

  void check_row(const float* q, const Vector& keys, const Vector& values, int64_t head,
                 int64_t first, int64_t end, const float* out, float lse) {
    std::vector<double> sum(s.value_dim, 0.0), sizes(s.value_dim, 0.0), scores;
    double top = -kInfinity, weights = 0, widest = 0;
    for (int64_t j = first; j < end; ++j) {
      double score = 0, width = 0;
      for (int64_t d = 0; d < s.key_dim; ++d) {
        const double product = double(q[d]) * keys[(j * s.kv_heads + head) * s.key_dim + d];
        score += 0.5 * product;
        width += std::abs(product);
      }
      scores.push_back(score);
      top = std::max(top, score);
      widest = std::max(widest, width);
    }
    for (int64_t j = first; j < end; ++j) {
      const double weight = std::exp(scores[j - first] - top);
      weights += weight;
      for (int64_t d = 0; d < s.value_dim; ++d) {
        const double value = values[(j * s.kv_heads + head) * s.value_dim + d];
        sum[d] += weight * value;
        sizes[d] += weight * (std::abs(value) + (s.stored == KV_F32 ? 0 : 100));
      }
    }
    const double share = 1e-5 * (1 + widest);
    expect(end <= first ? lse == -kInfinity : std::abs(top + std::log(weights) - lse) <= share);
    for (int64_t d = 0; d < s.value_dim; ++d)
      expect(end <= first ? out[d] == 0 : std::abs(sum[d] - weights * out[d]) <= share * sizes[d]);
  }
};

// Sequences grow, fork and shrink at random; refusals are as good as successes, when they are due.
void test_lives(KvStored stored, int64_t heads, int64_t page_tokens, int64_t dim, int64_t group) {
  Cache cache(stored, heads, dim, dim + 3, page_tokens, group, 14, 4, 6, 1);
  auto& random = cache.random;
  for (int step = 0; step < 60; ++step) {
    const int64_t a = random() % 4, b = (a + 1 + random() % 3) % 4;
    const int64_t some = random() % (page_tokens + 3);
    const int64_t kind = random() % 10;
    if (kind < 4) {
      cache.append({a, b}, {some, static_cast<int64_t>(random() % 3)}, kind == 0 ? 100 : 1);
    } else if (kind < 6) {
      const int64_t due = cache.lengths[b] == 0 ? KV_OK : KV_BAD_ARGUMENT;
      expect(cache.fork(a, b) == due);
    } else if (kind < 8) {
      expect(cache.truncate(a, std::max<int64_t>(0, cache.lengths[a] - some)) == KV_OK);
    } else if (kind == 8 && cache.lengths[a] > 0) {
      const int64_t length = cache.lengths[a];
      if (cache.append({a}, {2}, 1, true) == KV_OK) cache.truncate(a, length);
    } else {
      cache.check_attention({b, a, b}, {1, 3, 0}, 2, kind == 9 ? -1 : some);
    }
  }
  for (int64_t i = 0; i < 4; ++i) cache.check_attention({i}, {2}, 3, 4);
  expect(cache.truncate(0, cache.lengths[0] + 1) == KV_BAD_ARGUMENT);
}

// The pool is used to its last page, and the table to its last entry.
void test_limits() {
  Cache cache(KV_F32, 1, 4, 4, 4, 4, 5, 3, 3, 1);
  expect(cache.append({0}, {13}) == KV_FULL);      // wider than the table
  expect(cache.append({0, 1}, {10, 5}) == KV_OK);  // 3 and 2 pages: all
  expect(cache.append({2}, {1}) == KV_FULL);
  expect(cache.append({0, 1, 2}, {2, 3, 0}) == KV_OK);  // room in the last pages, nothing for 2
  expect(cache.truncate(1, 3) == KV_OK);                // gives a page back
  expect(cache.fork(1, 2) == KV_OK);
  expect(cache.append({2, 1}, {1, 1}) == KV_OK);  // one copies the page, the other keeps it
  expect(cache.append({1}, {1}) == KV_FULL);
  expect(cache.append({}, {}) == KV_OK);
  for (int64_t i = 0; i < 3; ++i) cache.check_attention({i}, {1}, 1);
}

// Scores below and above all that exp can hold, long sequences, several threads.
void test_scores(KvStored stored) {
  Cache cache(stored, 2, 12, 8, 16, 12, 80, 3, 40, 3);
  expect(cache.append({1, 2}, {500, 37}) == KV_OK);
  for (const float size : {0.0f, 1.0f, 8.0f, 300.0f})
    cache.check_attention({2, 1, 0}, {3, 1, 1}, 4, -1, size);
  cache.check_attention({1}, {4}, 5, 20);
}

// Numbers that are hard to store.
void test_storage(KvStored stored) {
  for (const float base : {0.0f, 5.0f, -70.0f})
    for (const float spread : {0.0f, 1.0f, 1e-3f, 1e5f}) {
      Cache cache(stored, 2, 23, 40, 5, 8, 6, 1, 6, 1);
      expect(cache.append({0}, {11}, spread, false, base) == KV_OK);
      Vector keys, values;
      cache.read(0, keys, values);
    }
}

// Parts of the keys, some of them empty, joined to the whole.
void test_merge() {
  Cache cache(KV_F32, 1, 6, 5, 4, 6, 20, 1, 20, 1);
  cache.append({0}, {41});
  for (const float size : {1.0f, 40.0f}) {
    Vector q(6);
    for (float& x : q) x = size * cache.normal(cache.random);
    const auto whole = cache.attend({0}, {1}, 1, q, -1, nullptr, nullptr);
    const int64_t cuts[] = {0, 7, 7, 24, 40, 41, 41};
    Vector outs, lses;
    for (int i = 0; i < 6; ++i) {
      const auto part = cache.attend({0}, {1}, 1, q, -1, &cuts[i], &cuts[i + 1]);
      if (cuts[i] == cuts[i + 1]) expect(part.lse[0] == -kInfinity && part.out[0] == 0);
      for (const float x : part.out) outs.push_back(cuts[i] == cuts[i + 1] ? NAN : x);
      lses.push_back(part.lse[0]);
    }
    Vector out(5, NAN), lse(1, NAN);
    KvMergeArgs a{1, sizeof(KvMergeArgs), 0,           1,          nullptr,   6, 1,
                  5, outs.data(),         lses.data(), out.data(), lse.data()};
    expect(kv_merge(&a) == KV_OK);
    expect(std::abs(lse[0] - whole.lse[0]) <= 1e-5f * (1 + std::abs(whole.lse[0])));
    for (int d = 0; d < 5; ++d) expect(std::abs(out[d] - whole.out[d]) < 1e-3f);
    for (float& x : lses) x += 5000;  // out stays, lse moves along
    const Vector before = out;
    expect(kv_merge(&a) == KV_OK && std::abs(lse[0] - whole.lse[0] - 5000) < 0.05f);
    for (int d = 0; d < 5; ++d) expect(std::abs(out[d] - before[d]) < 2e-2f);
    for (float& x : lses) x = -kInfinity;
    expect(kv_merge(&a) == KV_OK && lse[0] == -kInfinity && out[2] == 0);
  }
}

void test_refusals() {
  Cache cache(KV_INT8, 2, 4, 4, 4, 4, 4, 2, 2, 1);
  cache.append({0}, {3});
  expect(cache.fork(0, 0) == KV_BAD_ARGUMENT);
  expect(cache.append({2}, {1}) == KV_BAD_ARGUMENT);
  KvShape shape = cache.s;
  shape.stored = 9;
  expect(kv_page_bytes(&shape) == KV_UNSUPPORTED);
  shape = cache.s;
  shape.page_tokens = 0;
  expect(kv_page_bytes(&shape) == KV_BAD_ARGUMENT);
}

}  // namespace

extern "C" int self_test(void) {
  failures = 0;
  for (const KvStored stored : {KV_F32, KV_INT8, KV_INT4}) {
    test_lives(stored, 2, 4, 9, 4);
    test_lives(stored, 3, 3, 4, 4);
    test_lives(stored, 1, 16, 32, 16);
    test_scores(stored);
    test_storage(stored);
  }
  test_limits();
  test_merge();
  test_refusals();
  return failures;
}
