// Paged KV cache with GQA attention and INT8/INT4 storage.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "contract.h"

namespace {

// bytes of one stored vector: scales first, then codes
int64_t vec_bytes(const KvShape& s, int64_t dim) {
  const int64_t groups = (dim + s.group - 1) / s.group;
  if (s.stored == KV_INT8) return groups * 4 + dim;
  if (s.stored == KV_INT4) return groups * 8 + (dim + 1) / 2;
  return dim * 4;
}

int64_t token_bytes(const KvShape& s) {
  return s.kv_heads * (vec_bytes(s, s.key_dim) + vec_bytes(s, s.value_dim));
}

int64_t page_size(const KvShape& s) {
  return (s.page_tokens * token_bytes(s) + 63) / 64 * 64;
}

void pack(const KvShape& s, const float* x, int64_t dim, char* dst) {
  if (s.stored == KV_F32) {
    memcpy(dst, x, dim * 4);
    return;
  }
  const int64_t groups = (dim + s.group - 1) / s.group;
  float* scales = reinterpret_cast<float*>(dst);
  uint8_t* codes = reinterpret_cast<uint8_t*>(dst + groups * (s.stored == KV_INT8 ? 4 : 8));
  for (int64_t g = 0; g < groups; ++g) {
    const int64_t end = std::min(dim, (g + 1) * s.group);
    float mn = x[g * s.group], mx = mn;
    for (int64_t d = g * s.group; d < end; ++d) {
      mn = std::min(mn, x[d]);
      mx = std::max(mx, x[d]);
    }
    if (s.stored == KV_INT8) {
      const float scale = std::max(-mn, mx) / 127.0f;
      scales[g] = scale;
      for (int64_t d = g * s.group; d < end; ++d)
        codes[d] = static_cast<uint8_t>(static_cast<int8_t>(std::round(x[d] / scale)));
    } else {
      const float scale = (mx - mn) / 15.0f;
      scales[2 * g] = mn;
      scales[2 * g + 1] = scale;
      for (int64_t d = g * s.group; d < end; ++d) {
        const int q = scale > 0 ? static_cast<int>(std::round((x[d] - mn) / scale)) : 0;
        if (d % 2 == 0)
          codes[d / 2] = static_cast<uint8_t>(q);
        else
          codes[d / 2] |= static_cast<uint8_t>(q << 4);
      }
    }
  }
}

void unpack(const KvShape& s, const char* src, int64_t dim, float* x) {
  if (s.stored == KV_F32) {
    memcpy(x, src, dim * 4);
    return;
  }
  const int64_t groups = (dim + s.group - 1) / s.group;
  const float* scales = reinterpret_cast<const float*>(src);
  const uint8_t* codes =
      reinterpret_cast<const uint8_t*>(src + groups * (s.stored == KV_INT8 ? 4 : 8));
  for (int64_t d = 0; d < dim; ++d) {
    const int64_t g = d / s.group;
    if (s.stored == KV_INT8)
      x[d] = scales[g] * static_cast<float>(static_cast<int8_t>(codes[d]));
    else
      x[d] = scales[2 * g] +
             scales[2 * g + 1] * static_cast<float>(codes[d / 2] >> (d % 2 ? 4 : 0) & 15);
  }
}

char* slot(const KvShape& s, const void* pool, const int32_t* table, int64_t seq, int64_t pos,
           int64_t head) {
  const int64_t page = table[seq * s.table_width + pos / s.page_tokens];
  char* base = const_cast<char*>(static_cast<const char*>(pool)) + page * page_size(s);
  return base + pos % s.page_tokens * token_bytes(s) + head * (token_bytes(s) / s.kv_heads);
}

int32_t find_free(const KvShape& s, const int32_t* refs) {
  for (int64_t p = 0; p < s.pages; ++p)
    if (refs[p] == 0) return static_cast<int32_t>(p);
  return -1;
}

}  // namespace

extern "C" int64_t kv_page_bytes(const KvShape* shape) {
  if (shape->stored < KV_F32 || shape->stored > KV_INT4) return KV_UNSUPPORTED;
  return page_size(*shape);
}

extern "C" int64_t kv_append(const KvAppendArgs* args) {
  const KvShape& s = args->shape;
  if (args->count < 0) return KV_BAD_ARGUMENT;
  for (int64_t i = 0; i < args->count; ++i) {
    const int64_t seq = args->which[i];
    for (int64_t t = args->new_start[i]; t < args->new_start[i + 1]; ++t) {
      const int64_t pos = args->lengths[seq];
      if (pos % s.page_tokens == 0) {
        const int32_t page = find_free(s, args->refs);
        if (page < 0 || pos / s.page_tokens >= s.table_width) return KV_FULL;
        args->refs[page] = 1;
        args->table[seq * s.table_width + pos / s.page_tokens] = page;
      }
      for (int64_t h = 0; h < s.kv_heads; ++h) {
        char* dst = slot(s, args->pool, args->table, seq, pos, h);
        pack(s, args->k + (t * s.kv_heads + h) * s.key_dim, s.key_dim, dst);
        pack(s, args->v + (t * s.kv_heads + h) * s.value_dim, s.value_dim,
             dst + vec_bytes(s, s.key_dim));
      }
      args->lengths[seq]++;
    }
  }
  return KV_OK;
}

extern "C" int64_t kv_fork(const KvForkArgs* args) {
  const KvShape& s = args->shape;
  if (args->lengths[args->to] != 0) return KV_BAD_ARGUMENT;
  const int64_t pages = (args->lengths[args->from] + s.page_tokens - 1) / s.page_tokens;
  for (int64_t i = 0; i < pages; ++i) {
    const int32_t page = args->table[args->from * s.table_width + i];
    args->table[args->to * s.table_width + i] = page;
    args->refs[page]++;
  }
  args->lengths[args->to] = args->lengths[args->from];
  return KV_OK;
}

extern "C" int64_t kv_truncate(const KvTruncateArgs* args) {
  const KvShape& s = args->shape;
  int64_t& length = args->lengths[args->sequence];
  if (args->length < 0 || args->length > length) return KV_BAD_ARGUMENT;
  const int64_t keep = (args->length + s.page_tokens - 1) / s.page_tokens;
  const int64_t used = (length + s.page_tokens - 1) / s.page_tokens;
  for (int64_t i = keep; i < used; ++i)
    args->refs[args->table[args->sequence * s.table_width + i]]--;
  length = args->length;
  return KV_OK;
}

extern "C" int64_t kv_read(const KvReadArgs* args) {
  const KvShape& s = args->shape;
  if (args->begin < 0 || args->tokens < 0 ||
      args->begin + args->tokens > args->lengths[args->sequence])
    return KV_BAD_ARGUMENT;
  for (int64_t t = 0; t < args->tokens; ++t)
    for (int64_t h = 0; h < s.kv_heads; ++h) {
      const char* src = slot(s, args->pool, args->table, args->sequence, args->begin + t, h);
      unpack(s, src, s.key_dim, args->k + (t * s.kv_heads + h) * s.key_dim);
      unpack(s, src + vec_bytes(s, s.key_dim), s.value_dim,
             args->v + (t * s.kv_heads + h) * s.value_dim);
    }
  return KV_OK;
}

extern "C" int64_t kv_attend(const KvAttendArgs* args) {
  const KvShape& s = args->shape;
  if (args->count < 0 || args->q_heads % s.kv_heads != 0) return KV_BAD_ARGUMENT;
  for (int64_t i = 0; i < args->count; ++i) {
    const int64_t seq = args->which[i];
    const int64_t length = args->lengths[seq];
    const int64_t key_lo = args->key_begin ? args->key_begin[i] : 0;
    const int64_t key_hi = args->key_end ? args->key_end[i] : length;
#pragma omp parallel for collapse(2) num_threads(s.num_threads)
    for (int64_t r = args->query_start[i]; r < args->query_start[i + 1]; ++r)
      for (int64_t h = 0; h < args->q_heads; ++h) {
        const int64_t pos = length - (args->query_start[i + 1] - r);
        const int64_t lo = args->window >= 0 ? std::max(key_lo, pos - args->window) : key_lo;
        const int64_t hi = std::min(key_hi, pos + 1);
        const int64_t n = std::max<int64_t>(0, hi - lo);
        const int64_t g = h / (args->q_heads / s.kv_heads);
        const int64_t row = r * args->q_heads + h;
        const float* q = args->q + row * s.key_dim;
        std::vector<float> score(n), k(s.key_dim), v(s.value_dim), acc(s.value_dim, 0.0f);
        float mx = -INFINITY;
        for (int64_t j = 0; j < n; ++j) {
          unpack(s, slot(s, args->pool, args->table, seq, lo + j, g), s.key_dim, k.data());
          float dot = 0;
          for (int64_t d = 0; d < s.key_dim; ++d) dot += q[d] * k[d];
          score[j] = dot * args->scale;
          mx = std::max(mx, score[j]);
        }
        float sum = 0;
        for (int64_t j = 0; j < n; ++j) {
          const float p = std::exp(score[j] - mx);
          sum += p;
          unpack(s, slot(s, args->pool, args->table, seq, lo + j, g) + vec_bytes(s, s.key_dim),
                 s.value_dim, v.data());
          for (int64_t d = 0; d < s.value_dim; ++d) acc[d] += p * v[d];
        }
        for (int64_t d = 0; d < s.value_dim; ++d) args->out[row * s.value_dim + d] = acc[d] / sum;
        if (args->lse) args->lse[row] = mx + std::log(sum);
      }
  }
  return KV_OK;
}

extern "C" int64_t kv_merge(const KvMergeArgs* args) {
  for (int64_t row = 0; row < args->rows; ++row) {
    float mx = -INFINITY;
    for (int64_t p = 0; p < args->parts; ++p)
      mx = std::max(mx, args->part_lse[p * args->rows + row]);
    float sum = 0;
    std::vector<float> acc(args->value_dim, 0.0f);
    for (int64_t p = 0; p < args->parts; ++p) {
      const int64_t at = p * args->rows + row;
      const float w = std::exp(args->part_lse[at] - mx);
      sum += w;
      for (int64_t d = 0; d < args->value_dim; ++d)
        acc[d] += w * args->part_out[at * args->value_dim + d];
    }
    for (int64_t d = 0; d < args->value_dim; ++d)
      args->out[row * args->value_dim + d] = acc[d] / sum;
    if (args->lse) args->lse[row] = mx + std::log(sum);
  }
  return KV_OK;
}
