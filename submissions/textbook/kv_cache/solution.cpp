// A paged key-value cache as one would explain it: a page holds tokens one after the other, the
// cache's bookkeeping is a small class of its own, and attention walks over the pages of a sequence
// with a running maximum, one head of one query at a time.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "contract.h"

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

int64_t ceil_div(int64_t a, int64_t b) {
  return a / b + (a % b != 0);
}

int64_t validate(const KvShape& shape) {
  if (shape.abi_version != KV_ABI_VERSION || shape.device != KV_HOST) return KV_UNSUPPORTED;
  if (shape.stored < KV_F32 || shape.stored > KV_INT4) return KV_UNSUPPORTED;
  if (shape.kv_heads < 1 || shape.key_dim < 1 || shape.value_dim < 1) return KV_BAD_ARGUMENT;
  if (shape.page_tokens < 1 || shape.group < 1 || shape.num_threads < 1) return KV_BAD_ARGUMENT;
  if (shape.pages < 0 || shape.sequences < 0 || shape.table_width < 0) return KV_BAD_ARGUMENT;
  return KV_OK;
}

// One vector of numbers as bytes: for each group its step (and least number), then the codes.

class VectorCodec {
 public:
  VectorCodec(const KvShape& shape, int64_t dim)
      : type_(shape.stored), dim_(dim), group_(shape.group), groups_(ceil_div(dim, shape.group)) {}

  int64_t dim() const { return dim_; }

  int64_t bytes() const {
    if (type_ == KV_F32) return dim_ * 4;
    if (type_ == KV_INT8) return groups_ * 4 + dim_;
    return groups_ * 8 + ceil_div(dim_, 2);
  }

  void encode(const float* x, char* to) const {
    if (type_ == KV_F32) std::memcpy(to, x, bytes());
    if (type_ == KV_INT8) encode8(x, to);
    if (type_ == KV_INT4) encode4(x, to);
  }

  void decode(const char* from, float* x) const {
    if (type_ == KV_F32) std::memcpy(x, from, bytes());
    if (type_ == KV_INT8) decode8(from, x);
    if (type_ == KV_INT4) decode4(from, x);
  }

 private:
  int64_t end(int64_t g) const { return std::min(dim_, (g + 1) * group_); }

  void encode8(const float* x, char* to) const {
    int8_t* codes = reinterpret_cast<int8_t*>(to + groups_ * 4);
    for (int64_t g = 0; g < groups_; ++g) {
      float largest = 0;
      for (int64_t d = g * group_; d < end(g); ++d) largest = std::max(largest, std::fabs(x[d]));
      float step = largest / 127;
      if (step < 1e-35f) step = 0;  // 1 / step would overflow
      const float inverse = step == 0 ? 0 : 1 / step;
      std::memcpy(to + g * 4, &step, 4);
      for (int64_t d = g * group_; d < end(g); ++d)
        codes[d] = static_cast<int8_t>(
            static_cast<int>(std::min(127.0f, std::max(-127.0f, std::nearbyint(x[d] * inverse)))));
    }
  }

  void decode8(const char* from, float* x) const {
    const int8_t* codes = reinterpret_cast<const int8_t*>(from + groups_ * 4);
    for (int64_t g = 0; g < groups_; ++g) {
      float step;
      std::memcpy(&step, from + g * 4, 4);
      for (int64_t d = g * group_; d < end(g); ++d) x[d] = step * static_cast<float>(codes[d]);
    }
  }

  void encode4(const float* x, char* to) const {
    uint8_t* codes = reinterpret_cast<uint8_t*>(to + groups_ * 8);
    std::memset(codes, 0, ceil_div(dim_, 2));
    for (int64_t g = 0; g < groups_; ++g) {
      const float low = *std::min_element(x + g * group_, x + end(g));
      const float high = *std::max_element(x + g * group_, x + end(g));
      float step = (high - low) / 15;
      if (step < 1e-35f) step = 0;
      const float inverse = step == 0 ? 0 : 1 / step;
      std::memcpy(to + g * 8, &low, 4);
      std::memcpy(to + g * 8 + 4, &step, 4);
      for (int64_t d = g * group_; d < end(g); ++d) {
        const float code = std::min(15.0f, std::max(0.0f, std::nearbyint((x[d] - low) * inverse)));
        codes[d / 2] |= static_cast<uint8_t>(static_cast<int>(code) << (d % 2 ? 4 : 0));
      }
    }
  }

  void decode4(const char* from, float* x) const {
    const uint8_t* codes = reinterpret_cast<const uint8_t*>(from + groups_ * 8);
    for (int64_t g = 0; g < groups_; ++g) {
      float low, step;
      std::memcpy(&low, from + g * 8, 4);
      std::memcpy(&step, from + g * 8 + 4, 4);
      for (int64_t d = g * group_; d < end(g); ++d) {
        const int code = d % 2 ? codes[d / 2] >> 4 : codes[d / 2] & 15;
        x[d] = low + step * static_cast<float>(code);
      }
    }
  }

  int32_t type_;
  int64_t dim_, group_, groups_;
};

// Where a token's vectors lie: page, then head, then slot; the key before the value.

struct Layout {
  explicit Layout(const KvShape& shape)
      : key(shape, shape.key_dim),
        value(shape, shape.value_dim),
        heads(shape.kv_heads),
        slots(shape.page_tokens),
        width(shape.table_width) {
    pair_bytes = key.bytes() + value.bytes();
    page_bytes = ceil_div(heads * slots * pair_bytes, 64) * 64;
  }

  int64_t offset(const int32_t* table, int64_t sequence, int64_t token, int64_t head) const {
    const int64_t page = table[sequence * width + token / slots];
    return page * page_bytes + (head * slots + token % slots) * pair_bytes;
  }

  VectorCodec key, value;
  int64_t heads, slots, width, pair_bytes, page_bytes;
};

// Bookkeeping. Whatever was done can be undone, for appends that turn out not to fit.

class Books {
 public:
  Books(const KvShape& shape, int32_t* table, int64_t* lengths, int32_t* refs)
      : shape_(shape), table_(table), lengths_(lengths), refs_(refs) {}

  struct Copied {
    int32_t from, to;
  };

  bool grow(int64_t sequence, int64_t tokens) {
    const int64_t slots = shape_.page_tokens;
    const int64_t length = lengths_[sequence];
    const int64_t have = ceil_div(length, slots);
    if (tokens == 0) return true;
    if (tokens > shape_.table_width * slots - length) return false;
    const int64_t need = ceil_div(length + tokens, slots);
    int32_t* row = table_ + sequence * shape_.table_width;
    if (length % slots != 0 && refs_[row[have - 1]] > 1) {
      const int32_t page = allocate();
      if (page < 0) return false;
      copied_.push_back({row[have - 1], page});
      set(refs_[row[have - 1]], refs_[row[have - 1]] - 1);
      set(row[have - 1], page);
    }
    for (int64_t i = have; i < need; ++i) {
      const int32_t page = allocate();
      if (page < 0) return false;
      set(row[i], page);
    }
    old_lengths_.push_back({sequence, length});
    lengths_[sequence] = length + tokens;
    return true;
  }

  void undo() {
    for (auto change = changes_.rbegin(); change != changes_.rend(); ++change)
      *change->where = change->old;
    for (const auto& [sequence, length] : old_lengths_) lengths_[sequence] = length;
  }

  const std::vector<Copied>& copied() const { return copied_; }

 private:
  struct Change {
    int32_t* where;
    int32_t old;
  };

  void set(int32_t& where, int32_t value) {
    changes_.push_back({&where, where});
    where = value;
  }

  int32_t allocate() {
    while (next_ < shape_.pages && refs_[next_] > 0) ++next_;
    if (next_ >= shape_.pages) return -1;
    set(refs_[next_], 1);
    return static_cast<int32_t>(next_);
  }

  const KvShape& shape_;
  int32_t* table_;
  int64_t* lengths_;
  int32_t* refs_;
  int64_t next_ = 0;
  std::vector<Change> changes_;
  std::vector<std::pair<int64_t, int64_t>> old_lengths_;
  std::vector<Copied> copied_;
};

bool is_sequence(const KvShape& shape, int64_t sequence) {
  return sequence >= 0 && sequence < shape.sequences;
}

bool are_lists(const KvShape& shape, int64_t count, const int64_t* which, const int64_t* start) {
  if (count < 0) return false;
  for (int64_t i = 0; i < count; ++i)
    if (!is_sequence(shape, which[i]) || start[i + 1] < start[i]) return false;
  return true;
}

// Attention of one head of one query.

struct Visible {
  int64_t begin, end;
};

Visible visible_keys(const KvAttendArgs& args, int64_t i, int64_t query) {
  const int64_t length = args.lengths[args.which[i]];
  const int64_t position = length - (args.query_start[i + 1] - query);
  Visible keys{args.key_begin ? args.key_begin[i] : 0, args.key_end ? args.key_end[i] : length};
  keys.end = std::min(keys.end, position + 1);
  if (args.window >= 0 && position > args.window)
    keys.begin = std::max(keys.begin, position - args.window);
  return keys;
}

void attend_one(const KvAttendArgs& args, const Layout& layout, int64_t i, int64_t query,
                int64_t head) {
  const int64_t kv_head = head / (args.q_heads / layout.heads);
  const int64_t row = query * args.q_heads + head;
  const char* pool = static_cast<const char*>(args.pool);
  const float* q = args.q + row * layout.key.dim();
  const Visible keys = visible_keys(args, i, query);
  std::vector<float> key(layout.key.dim()), value(layout.value.dim());
  std::vector<float> out(layout.value.dim(), 0.0f);
  float maximum = -kInfinity;
  float sum = 0;
  for (int64_t j = keys.begin; j < keys.end; ++j) {
    const char* pair = pool + layout.offset(args.table, args.which[i], j, kv_head);
    layout.key.decode(pair, key.data());
    layout.value.decode(pair + layout.key.bytes(), value.data());
    float score = 0;
#pragma omp simd reduction(+ : score)
    for (int64_t d = 0; d < layout.key.dim(); ++d) score += q[d] * key[d];
    score *= args.scale;
    if (score > maximum) {
      const float rescale = std::exp(maximum - score);
      sum *= rescale;
      for (float& x : out) x *= rescale;
      maximum = score;
    }
    const float p = std::exp(score - maximum);
    sum += p;
#pragma omp simd
    for (int64_t d = 0; d < layout.value.dim(); ++d) out[d] += p * value[d];
  }
  for (int64_t d = 0; d < layout.value.dim(); ++d)
    args.out[row * layout.value.dim() + d] = sum > 0 ? out[d] / sum : 0.0f;
  if (args.lse) args.lse[row] = sum > 0 ? maximum + std::log(sum) : -kInfinity;
}

}  // namespace

extern "C" int64_t kv_page_bytes(const KvShape* shape) {
  const int64_t status = validate(*shape);
  return status == KV_OK ? Layout(*shape).page_bytes : status;
}

extern "C" int64_t kv_append(const KvAppendArgs* args) {
  if (const int64_t status = validate(args->shape)) return status;
  if (!are_lists(args->shape, args->count, args->which, args->new_start)) return KV_BAD_ARGUMENT;
  Books books(args->shape, args->table, args->lengths, args->refs);
  for (int64_t i = 0; i < args->count; ++i)
    if (!books.grow(args->which[i], args->new_start[i + 1] - args->new_start[i])) {
      books.undo();
      return KV_FULL;
    }
  const Layout layout(args->shape);
  char* pool = static_cast<char*>(args->pool);
  for (const Books::Copied& copy : books.copied())
    std::memcpy(pool + copy.to * layout.page_bytes, pool + copy.from * layout.page_bytes,
                layout.page_bytes);
  for (int64_t i = 0; i < args->count; ++i) {
    const int64_t fresh = args->new_start[i + 1] - args->new_start[i];
    const int64_t first = args->lengths[args->which[i]] - fresh;
    for (int64_t t = 0; t < fresh; ++t)
      for (int64_t head = 0; head < layout.heads; ++head) {
        const int64_t row = (args->new_start[i] + t) * layout.heads + head;
        char* pair = pool + layout.offset(args->table, args->which[i], first + t, head);
        layout.key.encode(args->k + row * layout.key.dim(), pair);
        layout.value.encode(args->v + row * layout.value.dim(), pair + layout.key.bytes());
      }
  }
  return KV_OK;
}

extern "C" int64_t kv_fork(const KvForkArgs* args) {
  if (const int64_t status = validate(args->shape)) return status;
  if (!is_sequence(args->shape, args->from) || !is_sequence(args->shape, args->to))
    return KV_BAD_ARGUMENT;
  if (args->from == args->to || args->lengths[args->to] != 0) return KV_BAD_ARGUMENT;
  const int64_t pages = ceil_div(args->lengths[args->from], args->shape.page_tokens);
  for (int64_t i = 0; i < pages; ++i) {
    const int32_t page = args->table[args->from * args->shape.table_width + i];
    args->table[args->to * args->shape.table_width + i] = page;
    args->refs[page] += 1;
  }
  args->lengths[args->to] = args->lengths[args->from];
  return KV_OK;
}

extern "C" int64_t kv_truncate(const KvTruncateArgs* args) {
  if (const int64_t status = validate(args->shape)) return status;
  if (!is_sequence(args->shape, args->sequence) || args->length < 0) return KV_BAD_ARGUMENT;
  const int64_t length = args->lengths[args->sequence];
  if (args->length > length) return KV_BAD_ARGUMENT;
  const int64_t slots = args->shape.page_tokens;
  for (int64_t i = ceil_div(args->length, slots); i < ceil_div(length, slots); ++i)
    args->refs[args->table[args->sequence * args->shape.table_width + i]] -= 1;
  args->lengths[args->sequence] = args->length;
  return KV_OK;
}

extern "C" int64_t kv_read(const KvReadArgs* args) {
  if (const int64_t status = validate(args->shape)) return status;
  if (!is_sequence(args->shape, args->sequence) || args->begin < 0 || args->tokens < 0)
    return KV_BAD_ARGUMENT;
  if (args->tokens > args->lengths[args->sequence] - args->begin) return KV_BAD_ARGUMENT;
  const Layout layout(args->shape);
  const char* pool = static_cast<const char*>(args->pool);
  for (int64_t t = 0; t < args->tokens; ++t)
    for (int64_t head = 0; head < layout.heads; ++head) {
      const int64_t row = t * layout.heads + head;
      const char* pair = pool + layout.offset(args->table, args->sequence, args->begin + t, head);
      layout.key.decode(pair, args->k + row * layout.key.dim());
      layout.value.decode(pair + layout.key.bytes(), args->v + row * layout.value.dim());
    }
  return KV_OK;
}

extern "C" int64_t kv_attend(const KvAttendArgs* args) {
  if (const int64_t status = validate(args->shape)) return status;
  if (!are_lists(args->shape, args->count, args->which, args->query_start)) return KV_BAD_ARGUMENT;
  if (args->q_heads < 1 || args->q_heads % args->shape.kv_heads != 0 || args->window < -1)
    return KV_BAD_ARGUMENT;
  for (int64_t i = 0; i < args->count; ++i) {
    const int64_t length = args->lengths[args->which[i]];
    const int64_t begin = args->key_begin ? args->key_begin[i] : 0;
    const int64_t end = args->key_end ? args->key_end[i] : length;
    if (begin < 0 || end > length || begin > end) return KV_BAD_ARGUMENT;
  }
  const Layout layout(args->shape);
  std::vector<int64_t> entry_of;  // of each query
  for (int64_t i = 0; i < args->count; ++i) entry_of.resize(args->query_start[i + 1], i);
  const int64_t rows = static_cast<int64_t>(entry_of.size()) * args->q_heads;
#pragma omp parallel for num_threads(args->shape.num_threads) schedule(dynamic)
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t query = row / args->q_heads;
    attend_one(*args, layout, entry_of[query], query, row % args->q_heads);
  }
  return KV_OK;
}

extern "C" int64_t kv_merge(const KvMergeArgs* args) {
  if (args->abi_version != KV_ABI_VERSION || args->device != KV_HOST) return KV_UNSUPPORTED;
  if (args->parts < 0 || args->rows < 0 || args->value_dim < 1 || args->num_threads < 1)
    return KV_BAD_ARGUMENT;
  for (int64_t row = 0; row < args->rows; ++row) {
    float maximum = -kInfinity;
    for (int64_t p = 0; p < args->parts; ++p)
      maximum = std::max(maximum, args->part_lse[p * args->rows + row]);
    float* out = args->out + row * args->value_dim;
    std::fill(out, out + args->value_dim, 0.0f);
    float sum = 0;
    for (int64_t p = 0; p < args->parts; ++p) {
      const int64_t at = p * args->rows + row;
      if (args->part_lse[at] == -kInfinity) continue;  // an empty part; its output is garbage
      const float weight = std::exp(args->part_lse[at] - maximum);
      sum += weight;
      for (int64_t d = 0; d < args->value_dim; ++d)
        out[d] += weight * args->part_out[at * args->value_dim + d];
    }
    if (sum > 0)
      for (int64_t d = 0; d < args->value_dim; ++d) out[d] /= sum;
    if (args->lse) args->lse[row] = sum > 0 ? maximum + std::log(sum) : -kInfinity;
  }
  return KV_OK;
}
