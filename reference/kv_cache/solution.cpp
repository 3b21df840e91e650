// uses: the bytes of a page mean what the solution likes; any free page may be taken
// SPDX-License-Identifier: Apache-2.0
// A paged cache whose attention runs at the speed of memory. page.h says how a page is laid out,
// kernels.h, attend.h and attention.h how it is read; here are the functions of the contract: what
// they refuse, and how pages are taken and given back.
#include "attention.h"

namespace {

bool sound(const KvShape& s) {
  return s.kv_heads >= 1 && s.key_dim >= 1 && s.value_dim >= 1 && s.page_tokens >= 1 &&
         s.group >= 1 && s.num_threads >= 1 && s.pages >= 0 && s.sequences >= 0 &&
         s.table_width >= 0;
}

int64_t refusal(const KvShape& s) {
  if (s.abi_version != KV_ABI_VERSION || s.device != KV_HOST || s.stored < KV_F32 ||
      s.stored > KV_INT4)
    return KV_UNSUPPORTED;
  return sound(s) ? KV_OK : KV_BAD_ARGUMENT;
}

bool is_sequence(const KvShape& shape, int64_t s) {
  return s >= 0 && s < shape.sequences;
}

// Lists as kv_append and kv_attend take them.
bool sound_lists(const KvShape& shape, int64_t count, const int64_t* which, const int64_t* start) {
  if (count < 0) return false;
  for (int64_t i = 0; i < count; ++i)
    if (!is_sequence(shape, which[i]) || start[i + 1] < start[i] || start[0] < 0) return false;
  return true;
}

// Where an append writes the new tokens of one sequence, and how to undo what it did to get there.
struct Growth {
  int64_t sequence;
  int64_t old_length;
  int32_t shared_page = -1;  // that the sequence left for a copy of its own
};

// The accounting of an append: takes pages for all of it, or none.
class Grower {
 public:
  explicit Grower(const KvAppendArgs& args) : a_(args), slots_(args.shape.page_tokens) {}

  bool grow_all() {
    for (int64_t i = 0; i < a_.count; ++i) {
      const int64_t tokens = a_.new_start[i + 1] - a_.new_start[i];
      grown_.push_back({a_.which[i], a_.lengths[a_.which[i]]});
      if (tokens > 0 && !grow(grown_.back(), tokens)) {
        for (const Growth& one : grown_) undo(one);
        return false;
      }
    }
    return true;
  }

  const std::vector<Growth>& grown() const { return grown_; }

 private:
  int32_t* row(int64_t sequence) const { return a_.table + sequence * a_.shape.table_width; }

  bool grow(Growth& one, int64_t tokens) {
    int32_t* pages = row(one.sequence);
    // Asked so that no number of tokens overflows.
    if (tokens > a_.shape.table_width * slots_ - one.old_length) return false;
    const int64_t want = divide_up(one.old_length + tokens, slots_);
    const int64_t last = one.old_length / slots_;
    if (one.old_length % slots_ != 0 && a_.refs[pages[last]] > 1) {
      const int32_t own = take();
      if (own < 0) return false;
      one.shared_page = pages[last];
      --a_.refs[pages[last]];
      pages[last] = own;
    }
    int64_t& length = a_.lengths[one.sequence];
    while (divide_up(length, slots_) < want) {
      const int32_t page = take();
      if (page < 0) return false;
      const int64_t at = divide_up(length, slots_);
      pages[at] = page;
      length = std::min((at + 1) * slots_, one.old_length + tokens);
    }
    length = one.old_length + tokens;
    return true;
  }

  int32_t take() {
    while (next_ < a_.shape.pages && a_.refs[next_] != 0) ++next_;
    if (next_ == a_.shape.pages) return -1;
    a_.refs[next_] = 1;
    return static_cast<int32_t>(next_++);
  }

  void undo(const Growth& one) {
    int32_t* pages = row(one.sequence);
    int64_t& length = a_.lengths[one.sequence];
    const int64_t kept = divide_up(one.old_length, slots_);
    for (int64_t at = kept; at < divide_up(length, slots_); ++at) a_.refs[pages[at]] = 0;
    if (one.shared_page >= 0) {
      a_.refs[pages[kept - 1]] = 0;
      ++a_.refs[one.shared_page];
      pages[kept - 1] = one.shared_page;
    }
    length = one.old_length;
  }

  const KvAppendArgs& a_;
  int64_t slots_;
  int64_t next_ = 0;  // pages before it are taken
  std::vector<Growth> grown_;
};

// New tokens `from` to `to` - 1 of the call go to one page, from `slot` on.
void write_page(const KvAppendArgs& a, const PageFormat& format, char* page, int64_t slot,
                int64_t from, int64_t to) {
  const int64_t k_stride = format.heads * format.key.dim;
  const int64_t v_stride = format.heads * format.value.dim;
  for (int64_t head = 0; head < format.heads; ++head)
    for (int64_t t = from; t < to;) {
      const int64_t at = slot + t - from;
      const int64_t some = std::min(to - t, kLanes - at % kLanes);
      const float* k = a.k + t * k_stride + head * format.key.dim;
      const float* v = a.v + t * v_stride + head * format.value.dim;
      format.encode_keys(page, head, at, some, k, k_stride);
      for (int64_t j = 0; j < some; ++j) {
        fetch(v + (j + kLanes) * v_stride, format.value.dim);
        format.encode_value(page, head, at + j, v + j * v_stride);
      }
      t += some;
    }
}

// Threads meet at the borders of pages only: bytes of neighbouring slots may lie in one word. They
// are woken once for all sequences.
void write_tokens(const KvAppendArgs& a, const PageFormat& format,
                  const std::vector<Growth>& grown) {
  const int64_t tokens = a.count > 0 ? a.new_start[a.count] - a.new_start[0] : 0;
  const int threads = static_cast<int>(std::clamp<int64_t>(tokens / 64, 1, a.shape.num_threads));
#pragma omp parallel num_threads(threads) if (threads > 1)
  for (int64_t i = 0; i < a.count; ++i) {
    const int64_t old_length = grown[i].old_length;
    const int64_t length = old_length + a.new_start[i + 1] - a.new_start[i];
    const int32_t* pages = a.table + grown[i].sequence * a.shape.table_width;
#pragma omp for schedule(static) nowait
    for (int64_t p = old_length / format.slots; p < divide_up(length, format.slots); ++p) {
      const int64_t begin = std::max(old_length, p * format.slots);
      const int64_t end = std::min(length, (p + 1) * format.slots);
      const int64_t from = a.new_start[i] + begin - old_length;
      write_page(a, format, static_cast<char*>(a.pool) + pages[p] * format.bytes,
                 begin % format.slots, from, from + end - begin);
    }
  }
}

}  // namespace

extern "C" int64_t kv_page_bytes(const KvShape* shape) {
  if (const int64_t status = refusal(*shape)) return status;
  return PageFormat(*shape).bytes;
}

extern "C" int64_t kv_append(const KvAppendArgs* args) {
  const KvAppendArgs& a = *args;
  if (const int64_t status = refusal(a.shape)) return status;
  if (!sound_lists(a.shape, a.count, a.which, a.new_start)) return KV_BAD_ARGUMENT;
  Grower grower(a);
  if (!grower.grow_all()) return KV_FULL;
  const PageFormat format(a.shape);
  char* pool = static_cast<char*>(a.pool);
  for (const Growth& one : grower.grown()) {
    if (one.shared_page < 0) continue;
    const int64_t at = one.sequence * a.shape.table_width + one.old_length / format.slots;
    std::memcpy(pool + a.table[at] * format.bytes, pool + one.shared_page * format.bytes,
                format.bytes);
  }
  write_tokens(a, format, grower.grown());
  return KV_OK;
}

extern "C" int64_t kv_fork(const KvForkArgs* args) {
  const KvForkArgs& a = *args;
  if (const int64_t status = refusal(a.shape)) return status;
  if (!is_sequence(a.shape, a.from) || !is_sequence(a.shape, a.to) || a.from == a.to ||
      a.lengths[a.to] != 0)
    return KV_BAD_ARGUMENT;
  const int64_t used = divide_up(a.lengths[a.from], a.shape.page_tokens);
  for (int64_t at = 0; at < used; ++at) {
    const int32_t page = a.table[a.from * a.shape.table_width + at];
    a.table[a.to * a.shape.table_width + at] = page;
    ++a.refs[page];
  }
  a.lengths[a.to] = a.lengths[a.from];
  return KV_OK;
}

extern "C" int64_t kv_truncate(const KvTruncateArgs* args) {
  const KvTruncateArgs& a = *args;
  if (const int64_t status = refusal(a.shape)) return status;
  if (!is_sequence(a.shape, a.sequence) || a.length < 0 || a.length > a.lengths[a.sequence])
    return KV_BAD_ARGUMENT;
  int64_t& length = a.lengths[a.sequence];
  const int32_t* row = a.table + a.sequence * a.shape.table_width;
  for (int64_t at = divide_up(a.length, a.shape.page_tokens);
       at < divide_up(length, a.shape.page_tokens); ++at)
    --a.refs[row[at]];
  length = a.length;
  return KV_OK;
}

extern "C" int64_t kv_read(const KvReadArgs* args) {
  const KvReadArgs& a = *args;
  if (const int64_t status = refusal(a.shape)) return status;
  if (!is_sequence(a.shape, a.sequence) || a.begin < 0 || a.tokens < 0 ||
      a.tokens > a.lengths[a.sequence] - a.begin)
    return KV_BAD_ARGUMENT;
  const PageFormat format(a.shape);
  const Pages pages{static_cast<const char*>(a.pool), a.table + a.sequence * a.shape.table_width};
  for (int64_t t = 0; t < a.tokens; ++t) {
    const char* page = pages.of(format, a.begin + t);
    const int64_t slot = (a.begin + t) % format.slots;
    for (int64_t head = 0; head < format.heads; ++head) {
      float* k = a.k + (t * format.heads + head) * format.key.dim;
      float* v = a.v + (t * format.heads + head) * format.value.dim;
      for (int64_t d = 0; d < format.key.dim; ++d)
        k[d] = format.decode(page, format.key, head, slot, d);
      for (int64_t d = 0; d < format.value.dim; ++d)
        v[d] = format.decode(page, format.value, head, slot, d);
    }
  }
  return KV_OK;
}

extern "C" int64_t kv_attend(const KvAttendArgs* args) {
  const KvAttendArgs& a = *args;
  if (const int64_t status = refusal(a.shape)) return status;
  if (!sound_lists(a.shape, a.count, a.which, a.query_start) || a.q_heads < 1 ||
      a.q_heads % a.shape.kv_heads != 0 || a.window < -1)
    return KV_BAD_ARGUMENT;
  for (int64_t i = 0; i < a.count; ++i) {
    const int64_t length = a.lengths[a.which[i]];
    const int64_t begin = a.key_begin ? a.key_begin[i] : 0;
    const int64_t end = a.key_end ? a.key_end[i] : length;
    if (begin < 0 || end > length || begin > end) return KV_BAD_ARGUMENT;
  }
  Attention(a).run();
  return KV_OK;
}

extern "C" int64_t kv_merge(const KvMergeArgs* args) {
  const KvMergeArgs& a = *args;
  if (a.abi_version != KV_ABI_VERSION || a.device != KV_HOST) return KV_UNSUPPORTED;
  if (a.parts < 0 || a.rows < 0 || a.value_dim < 1 || a.num_threads < 1) return KV_BAD_ARGUMENT;
  for (int64_t row = 0; row < a.rows; ++row) {
    float top = -kInfinity;
    for (int64_t p = 0; p < a.parts; ++p) top = std::max(top, a.part_lse[p * a.rows + row]);
    float* out = a.out + row * a.value_dim;
    std::fill(out, out + a.value_dim, 0.0f);
    float weight = 0;
    for (int64_t p = 0; p < a.parts; ++p) {
      const float lse = a.part_lse[p * a.rows + row];
      if (lse == -kInfinity) continue;
      const float share = std::exp(lse - top);
      weight += share;
      const float* part = a.part_out + (p * a.rows + row) * a.value_dim;
      for (int64_t d = 0; d < a.value_dim; ++d) out[d] += share * part[d];
    }
    for (int64_t d = 0; d < a.value_dim && weight > 0; ++d) out[d] /= weight;
    if (a.lse) a.lse[row] = weight > 0 ? top + std::log(weight) : -kInfinity;
  }
  return KV_OK;
}
