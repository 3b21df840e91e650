// strategy: codes and steps apart, tiles of 48 keys gathered and joined by their lse, pages counted
// first
// uses: the bytes of a page mean what the solution likes, here codes and steps apart; any free page
// may be taken
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "common.h"

namespace {

constexpr int64_t kTile = 48;
constexpr float kNothing = -std::numeric_limits<float>::infinity();

// Numbers of a vector, and where its codes and steps are in a page.
struct Part {
  int64_t dim, groups;
  int64_t code_bytes, step_bytes;  // of one vector
  int64_t codes, steps;            // of slot 0, head 0, from the start of the page
};

struct Plan {
  explicit Plan(const KvShape& s) : heads(s.kv_heads), slots(s.page_tokens), group(s.group) {
    kind = static_cast<KvStored>(s.stored);
    int64_t at = 0;
    for (int i = 0; i < 2; ++i) {
      Part& part = parts[static_cast<size_t>(i)];
      part.dim = i == 0 ? s.key_dim : s.value_dim;
      part.groups = kind == KV_F32 ? 0 : (part.dim - 1) / group + 1;
      part.code_bytes = kind == KV_F32    ? 4 * part.dim
                        : kind == KV_INT8 ? part.dim
                                          : (part.dim + 1) / 2;
      part.step_bytes = part.groups * (kind == KV_INT8 ? 4 : 8);
      part.codes = at;
      at += heads * slots * part.code_bytes;
      part.steps = at;
      at += heads * slots * part.step_bytes;
    }
    page_bytes = (at + 63) / 64 * 64;
  }

  KvStored kind;
  int64_t heads, slots, group, page_bytes;
  std::array<Part, 2> parts;  // key, value
};

struct Scale {
  float low, step;
};

void put(const Plan& plan, const Part& part, char* page, int64_t index, const float* x) {
  char* codes = page + part.codes + index * part.code_bytes;
  char* steps = page + part.steps + index * part.step_bytes;
  if (plan.kind == KV_F32) {
    std::memcpy(codes, x, static_cast<size_t>(part.code_bytes));
    return;
  }
  if (plan.kind == KV_INT4) std::memset(codes, 0, static_cast<size_t>(part.code_bytes));
  for (int64_t g = 0; g < part.groups; ++g) {
    const float* first = x + g * plan.group;
    const float* last = x + std::min(part.dim, (g + 1) * plan.group);
    const auto [low, high] = std::minmax_element(first, last);
    Scale scale{*low, (*high - *low) / 15};
    if (plan.kind == KV_INT8) scale = {0, std::max(std::abs(*low), std::abs(*high)) / 127};
    const bool flat = !(scale.step > std::numeric_limits<float>::min() * 64);
    if (flat) scale.step = 0;
    if (plan.kind == KV_INT8) {
      std::memcpy(steps + 4 * g, &scale.step, 4);
    } else {
      std::memcpy(steps + 8 * g, &scale, 8);
    }
    for (const float* each = first; each != last; ++each) {
      const int64_t d = each - x;
      const int code =
          flat ? 0 : static_cast<int>(std::nearbyint((*each - scale.low) / scale.step));
      if (plan.kind == KV_INT8) {
        codes[d] = static_cast<char>(std::clamp(code, -127, 127));
      } else {
        codes[d / 2] = static_cast<char>(codes[d / 2] | std::clamp(code, 0, 15) << (d & 1) * 4);
      }
    }
  }
}

void get(const Plan& plan, const Part& part, const char* page, int64_t index, float* x) {
  const char* codes = page + part.codes + index * part.code_bytes;
  const char* steps = page + part.steps + index * part.step_bytes;
  if (plan.kind == KV_F32) {
    std::memcpy(x, codes, static_cast<size_t>(part.code_bytes));
    return;
  }
  for (int64_t g = 0; g < part.groups; ++g) {
    Scale scale{0, 0};
    if (plan.kind == KV_INT8) {
      std::memcpy(&scale.step, steps + 4 * g, 4);
    } else {
      std::memcpy(&scale, steps + 8 * g, 8);
    }
    for (int64_t d = g * plan.group; d < std::min(part.dim, (g + 1) * plan.group); ++d) {
      const int code = plan.kind == KV_INT8
                           ? static_cast<signed char>(codes[d])
                           : static_cast<unsigned char>(codes[d / 2]) >> (d & 1) * 4 & 15;
      x[d] = scale.low + scale.step * static_cast<float>(code);
    }
  }
}

// How much an append needs is known before anything is written.
bool enough(const KvAppendArgs& a) {
  int64_t need = 0;
  std::vector<int32_t> users(a.refs, a.refs + a.shape.pages);
  for (int64_t i = 0; i < a.count; ++i) {
    const int64_t fresh = a.new_start[i + 1] - a.new_start[i];
    if (fresh == 0) continue;
    const int64_t length = a.lengths[a.which[i]];
    const int64_t size = a.shape.page_tokens;
    const int64_t before = (length + size - 1) / size;
    if (fresh > a.shape.table_width * size - length) return false;
    const int64_t after = (length + fresh + size - 1) / size;
    need += after - before;
    if (length % size == 0) continue;
    int32_t& users_of_last = users[a.table[a.which[i] * a.shape.table_width + before - 1]];
    if (users_of_last > 1) {
      users_of_last -= 1;
      need += 1;
    }
  }
  return std::count(users.begin(), users.end(), 0) >= need;
}

// The online state of one row: what has been joined so far.
struct Joined {
  float lse = kNothing;
  std::vector<float> out;

  void join(float other_lse, const float* other) {
    const float top = std::max(lse, other_lse);
    const float mine = std::exp(lse - top);
    const float its = std::exp(other_lse - top);
    const float total = mine + its;
    for (size_t d = 0; d < out.size(); ++d) out[d] = (out[d] * mine + other[d] * its) / total;
    lse = top + std::log(total);
  }
};

// One head of keys, one entry: the query heads that read it, over tiles of keys.
class Worker {
 public:
  Worker(const KvAttendArgs& a, const Plan& plan, int64_t entry, int64_t head)
      : a_(a), plan_(plan), entry_(entry), head_(head), shared_(a.q_heads / a.shape.kv_heads) {
    keys_.resize(static_cast<size_t>(kTile * plan.parts[0].dim));
    values_.resize(static_cast<size_t>(kTile * plan.parts[1].dim));
    tile_out_.resize(static_cast<size_t>(plan.parts[1].dim));
  }

  void run() {
    const int64_t length = a_.lengths[a_.which[entry_]];
    const int64_t first = a_.query_start[entry_];
    const int64_t last = a_.query_start[entry_ + 1];
    for (int64_t query = first; query < last; ++query) {
      const int64_t position = length - (last - query);
      int64_t begin = a_.key_begin ? a_.key_begin[entry_] : 0;
      const int64_t end = std::min(position + 1, a_.key_end ? a_.key_end[entry_] : length);
      if (a_.window >= 0 && position > a_.window) begin = std::max(begin, position - a_.window);
      rows_.assign(static_cast<size_t>(shared_), Joined{});
      for (Joined& row : rows_) row.out.assign(tile_out_.size(), 0.0f);
      for (int64_t at = begin; at < end; at += kTile) take(query, at, std::min(kTile, end - at));
      for (int64_t r = 0; r < shared_; ++r) {
        const int64_t row = query * a_.q_heads + head_ * shared_ + r;
        const Joined& joined = rows_[static_cast<size_t>(r)];
        std::copy(joined.out.begin(), joined.out.end(), a_.out + row * plan_.parts[1].dim);
        if (a_.lse) a_.lse[row] = joined.lse;
      }
    }
  }

 private:
  void take(int64_t query, int64_t first, int64_t count) {
    const int32_t* table = a_.table + a_.which[entry_] * a_.shape.table_width;
    for (int64_t j = 0; j < count; ++j) {
      const int64_t token = first + j;
      const char* page =
          static_cast<const char*>(a_.pool) + table[token / plan_.slots] * plan_.page_bytes;
      const int64_t index = token % plan_.slots * plan_.heads + head_;
      get(plan_, plan_.parts[0], page, index, &keys_[static_cast<size_t>(j * plan_.parts[0].dim)]);
      get(plan_, plan_.parts[1], page, index,
          &values_[static_cast<size_t>(j * plan_.parts[1].dim)]);
    }
    for (int64_t r = 0; r < shared_; ++r) {
      const int64_t row = query * a_.q_heads + head_ * shared_ + r;
      dense(a_.q + row * plan_.parts[0].dim, count, rows_[static_cast<size_t>(r)]);
    }
  }

  void dense(const float* q, int64_t count, Joined& joined) {
    const int64_t key_dim = plan_.parts[0].dim;
    const int64_t value_dim = plan_.parts[1].dim;
    float scores[kTile];
    for (int64_t j = 0; j < count; ++j) {
      float dot = 0;
#pragma omp simd reduction(+ : dot)
      for (int64_t d = 0; d < key_dim; ++d)
        dot += q[d] * keys_[static_cast<size_t>(j * key_dim + d)];
      scores[j] = a_.scale * dot;
    }
    const float top = *std::max_element(scores, scores + count);
    float total = 0;
    std::fill(tile_out_.begin(), tile_out_.end(), 0.0f);
    for (int64_t j = 0; j < count; ++j) {
      const float weight = std::exp(scores[j] - top);
      total += weight;
      for (int64_t d = 0; d < value_dim; ++d)
        tile_out_[static_cast<size_t>(d)] +=
            weight * values_[static_cast<size_t>(j * value_dim + d)];
    }
    for (float& x : tile_out_) x /= total;
    joined.join(top + std::log(total), tile_out_.data());
  }

  const KvAttendArgs& a_;
  const Plan& plan_;
  int64_t entry_, head_, shared_;
  std::vector<float> keys_, values_, tile_out_;
  std::vector<Joined> rows_;
};

}  // namespace

extern "C" int64_t kv_page_bytes(const KvShape* shape) {
  const int64_t status = shape_status(*shape);
  return status == KV_OK ? Plan(*shape).page_bytes : status;
}

extern "C" int64_t kv_append(const KvAppendArgs* args) {
  const KvAppendArgs& a = *args;
  if (const int64_t status = shape_status(a.shape)) return status;
  if (bad(a)) return KV_BAD_ARGUMENT;
  if (!enough(a)) return KV_FULL;
  const Plan plan(a.shape);
  char* pool = static_cast<char*>(a.pool);
  int32_t next = 0;
  const auto take = [&] {
    while (a.refs[next] != 0) ++next;
    a.refs[next] = 1;
    return next;
  };
  // All pages first: a page that a sequence leaves must be copied before another writes to it.
  for (int64_t i = 0; i < a.count; ++i) {
    const int64_t fresh = a.new_start[i + 1] - a.new_start[i];
    if (fresh == 0) continue;
    int64_t& length = a.lengths[a.which[i]];
    int32_t* row = a.table + a.which[i] * a.shape.table_width;
    int32_t& last = row[length / plan.slots];
    if (length % plan.slots != 0 && a.refs[last] > 1) {
      const int32_t own = take();
      std::memcpy(pool + own * plan.page_bytes, pool + last * plan.page_bytes,
                  static_cast<size_t>(plan.page_bytes));
      a.refs[last] -= 1;
      last = own;
    }
    for (int64_t end = length + fresh; length < end; ++length)
      if (length % plan.slots == 0) row[length / plan.slots] = take();
  }
  for (int64_t i = 0; i < a.count; ++i) {
    const int64_t end = a.lengths[a.which[i]];
    for (int64_t t = a.new_start[i]; t < a.new_start[i + 1]; ++t) {
      const int64_t token = end - (a.new_start[i + 1] - t);
      const int64_t number = a.table[a.which[i] * a.shape.table_width + token / plan.slots];
      char* page = pool + number * plan.page_bytes;
      for (int64_t head = 0; head < plan.heads; ++head) {
        const int64_t index = token % plan.slots * plan.heads + head;
        const int64_t row = t * plan.heads + head;
        put(plan, plan.parts[0], page, index, a.k + row * plan.parts[0].dim);
        put(plan, plan.parts[1], page, index, a.v + row * plan.parts[1].dim);
      }
    }
  }
  return KV_OK;
}

extern "C" int64_t kv_fork(const KvForkArgs* args) {
  const KvForkArgs& a = *args;
  if (const int64_t status = shape_status(a.shape)) return status;
  if (bad(a)) return KV_BAD_ARGUMENT;
  const int64_t used = (a.lengths[a.from] + a.shape.page_tokens - 1) / a.shape.page_tokens;
  for (int64_t i = 0; i < used; ++i) {
    const int32_t page = a.table[a.from * a.shape.table_width + i];
    a.table[a.to * a.shape.table_width + i] = page;
    a.refs[page] += 1;
  }
  a.lengths[a.to] = a.lengths[a.from];
  return KV_OK;
}

extern "C" int64_t kv_truncate(const KvTruncateArgs* args) {
  const KvTruncateArgs& a = *args;
  if (const int64_t status = shape_status(a.shape)) return status;
  if (bad(a)) return KV_BAD_ARGUMENT;
  const int64_t size = a.shape.page_tokens;
  for (int64_t used = (a.lengths[a.sequence] + size - 1) / size; used * size >= a.length + size;
       --used)
    a.refs[a.table[a.sequence * a.shape.table_width + used - 1]] -= 1;
  a.lengths[a.sequence] = a.length;
  return KV_OK;
}

extern "C" int64_t kv_read(const KvReadArgs* args) {
  const KvReadArgs& a = *args;
  if (const int64_t status = shape_status(a.shape)) return status;
  if (bad(a)) return KV_BAD_ARGUMENT;
  const Plan plan(a.shape);
  for (int64_t t = 0; t < a.tokens * plan.heads; ++t) {
    const int64_t token = a.begin + t / plan.heads;
    const int64_t number = a.table[a.sequence * a.shape.table_width + token / plan.slots];
    const char* page = static_cast<const char*>(a.pool) + number * plan.page_bytes;
    const int64_t index = token % plan.slots * plan.heads + t % plan.heads;
    get(plan, plan.parts[0], page, index, a.k + t * plan.parts[0].dim);
    get(plan, plan.parts[1], page, index, a.v + t * plan.parts[1].dim);
  }
  return KV_OK;
}

extern "C" int64_t kv_attend(const KvAttendArgs* args) {
  const KvAttendArgs& a = *args;
  if (const int64_t status = shape_status(a.shape)) return status;
  if (bad(a)) return KV_BAD_ARGUMENT;
  const Plan plan(a.shape);
#pragma omp parallel for num_threads(a.shape.num_threads) schedule(dynamic)
  for (int64_t i = 0; i < a.count * plan.heads; ++i)
    Worker(a, plan, i / plan.heads, i % plan.heads).run();
  return KV_OK;
}

extern "C" int64_t kv_merge(const KvMergeArgs* args) {
  const KvMergeArgs& a = *args;
  if (unsupported(a)) return KV_UNSUPPORTED;
  if (bad(a)) return KV_BAD_ARGUMENT;
  for (int64_t row = 0; row < a.rows; ++row) {
    Joined joined;
    joined.out.assign(static_cast<size_t>(a.value_dim), 0.0f);
    for (int64_t p = 0; p < a.parts; ++p) {
      const int64_t at = p * a.rows + row;
      if (a.part_lse[at] != kNothing) joined.join(a.part_lse[at], a.part_out + at * a.value_dim);
    }
    std::copy(joined.out.begin(), joined.out.end(), a.out + row * a.value_dim);
    if (a.lse) a.lse[row] = joined.lse;
  }
  return KV_OK;
}
