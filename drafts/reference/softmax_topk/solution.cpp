// Softmax and top-k in one pass over memory. A row is read in groups of neighbouring entries. While
// a group is in registers it gives its maximum, which is kept, and its share of the running sum of
// exponentials. The k-th largest group maximum bounds the k-th largest entry from below, because
// the maxima are k different entries. So only the groups that reach this bound, about k of them,
// are looked at again, while the row is still in the cache; the best group comes first, so that the
// bound rises at once where a group holds many winners. Nothing of this depends on the order of the
// data: a row that ascends costs what a random one costs.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "contract.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace {

constexpr int64_t kLanes = 16;
typedef float Lanes __attribute__((vector_size(kLanes * sizeof(float))));
typedef int32_t IntLanes __attribute__((vector_size(kLanes * sizeof(int32_t))));
typedef double WideLanes __attribute__((vector_size(kLanes * sizeof(double))));

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
constexpr double kLog2e = 1.4426950408889634;
constexpr int64_t kMaxGroup = 16 * kLanes;

Lanes load(const float* from) {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

Lanes larger(Lanes a, Lanes b) {
  return a > b ? a : b;
}

template <class Half, class Full>
Half halved(Full lanes) {
  Half half[2];
  std::memcpy(half, &lanes, sizeof half);
  return half[0] > half[1] ? half[0] : half[1];
}

float largest(Lanes lanes) {
  typedef float Eight __attribute__((vector_size(32)));
  typedef float Four __attribute__((vector_size(16)));
  const Four four = halved<Four>(halved<Eight>(lanes));
  const float a = four[0] > four[1] ? four[0] : four[1];
  const float b = four[2] > four[3] ? four[2] : four[3];
  return a > b ? a : b;
}

// Bit k is set where lane k reaches the bound. False for NaN.
uint32_t reaching(Lanes lanes, float bound) {
#if defined(__AVX512F__)
  return _mm512_cmp_ps_mask(reinterpret_cast<__m512>(lanes), _mm512_set1_ps(bound), _CMP_GE_OQ);
#else
  uint32_t mask = 0;
  for (int64_t k = 0; k < kLanes; ++k) mask |= static_cast<uint32_t>(lanes[k] >= bound) << k;
  return mask;
#endif
}

// exp(scale * d) for lanes in fours, with per_unit = scale * log2(e): 2^n * 2^r, |r| <= 1/2, the
// second factor by the polynomial of degree 5 whose largest relative error is least (9.3e-8) among
// those that give 1 for 0. Four at a time, because each is one long chain of dependent operations.
// What is below 2^-126 becomes that, which no sum that holds a number near 1 can notice.
template <int kFour>
inline void add_exp(const Lanes* d, float per_unit, Lanes* sums) {
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  const float lowest = std::max(-126.0f / per_unit, std::numeric_limits<float>::lowest());
  Lanes shifted[kFour], r[kFour], p[kFour];
  const auto each = [](const auto& step) {
#pragma GCC unroll 4
    for (int v = 0; v < kFour; ++v) step(v);
  };
  each([&](int v) { r[v] = larger(d[v], Lanes{} + lowest); });
  each([&](int v) { shifted[v] = r[v] * per_unit + kRound; });
  each([&](int v) { r[v] = r[v] * per_unit - (shifted[v] - kRound); });
  each([&](int v) { p[v] = r[v] * 1.3263637e-3f + 9.6714851e-3f; });
  each([&](int v) { p[v] = p[v] * r[v] + 5.5507361e-2f; });
  each([&](int v) { p[v] = p[v] * r[v] + 2.4022243e-1f; });
  each([&](int v) { p[v] = p[v] * r[v] + 6.9314698e-1f; });
  each([&](int v) { p[v] = p[v] * r[v] + 1.0f; });
  each([&](int v) {
    const IntLanes exponent = reinterpret_cast<IntLanes>(shifted[v]) << 23;
    sums[v] += reinterpret_cast<Lanes>(reinterpret_cast<IntLanes>(p[v]) + exponent);
  });
}

// Integers in the order of the floats; -0 and +0 are one.
int32_t order_of(float value) {
  const int32_t bits = std::bit_cast<int32_t>(value + 0.0f);
  return bits ^ ((bits >> 31) & 0x7fffffff);
}

float value_of(int32_t order) {
  return std::bit_cast<float>(order ^ ((order >> 31) & 0x7fffffff));
}

// Larger is better: by value, and among equals by smaller position.
uint64_t key_of(int32_t order, int64_t position) {
  const auto high = static_cast<uint64_t>(static_cast<uint32_t>(order) ^ 0x80000000u);
  return high << 32 | static_cast<uint32_t>(~static_cast<uint32_t>(position));
}
int64_t position_of(uint64_t key) {
  return static_cast<int64_t>(~static_cast<uint32_t>(key));
}
int32_t order_in(uint64_t key) {
  return static_cast<int32_t>(static_cast<uint32_t>(key >> 32) ^ 0x80000000u);
}

// Both sort descending, into `keys`. A short list is sorted by counting who is larger, which
// vectorises; a long one byte by byte, leaving out the bytes in which all keys agree.
void count_sort(std::vector<uint64_t>& keys, std::vector<uint64_t>& scratch) {
  scratch.resize(keys.size());
  for (const uint64_t key : keys) {
    uint64_t rank = 0;
    for (const uint64_t other : keys) rank += other > key;
    scratch[rank] = key;
  }
  keys.swap(scratch);
}

void radix_sort(std::vector<uint64_t>& keys, std::vector<uint64_t>& scratch) {
  constexpr int kBytes = 8;
  constexpr size_t kDigits = 256;
  std::array<std::array<uint32_t, kDigits>, kBytes> starts{};
  for (const uint64_t key : keys)
    for (int byte = 0; byte < kBytes; ++byte) ++starts[byte][~key >> (8 * byte) & 0xff];
  scratch.resize(keys.size());
  for (int byte = 0; byte < kBytes; ++byte) {
    auto& start = starts[byte];
    if (start[~keys[0] >> (8 * byte) & 0xff] == keys.size()) continue;
    std::exclusive_scan(start.begin(), start.end(), start.begin(), 0u);
    for (const uint64_t key : keys) scratch[start[~key >> (8 * byte) & 0xff]++] = key;
    keys.swap(scratch);
  }
}

void sort_keys(std::vector<uint64_t>& keys, std::vector<uint64_t>& scratch) {
  constexpr size_t kShort = 160;
  keys.size() <= kShort ? count_sort(keys, scratch) : radix_sort(keys, scratch);
}

// The sum of exp(scale * (z - origin)). The origin follows the maximum, a little behind it; while
// it is -inf nothing but -inf has been seen, and the sum means nothing.
struct Online {
  float origin = kMinusInfinity;
  double sum = 0;

  void move_to(float next, float scale) {
    const double unit = scale;
    sum = origin == kMinusInfinity ? 0 : sum * std::exp(unit * (double{origin} - double{next}));
    origin = next;
  }

  void merge(Online other, float scale) {
    if (other.origin > origin) std::swap(*this, other);
    if (other.origin == kMinusInfinity) return;
    other.move_to(origin, scale);
    sum += other.sum;
  }
};

struct Row {
  const float* z;
  int64_t len;
  float scale;
  int64_t group;  // entries in a group: kLanes times 1, 4 or 16

  int64_t groups() const { return (len + group - 1) / group; }
};

// The group's entries; the last group of a row is copied and filled up.
const float* entries_of(const Row& row, int64_t g, float* filled) {
  const int64_t begin = g * row.group;
  if (begin + row.group <= row.len) return row.z + begin;
  std::fill(filled, filled + row.group, kMinusInfinity);
  std::copy(row.z + begin, row.z + row.len, filled);
  return filled;
}

double sum_of(const WideLanes& lanes) {
  double total = 0;
  for (int64_t k = 0; k < kLanes; ++k) total += lanes[k];
  return total;
}

template <int kVectors>
float largest_of(const float* z) {
  Lanes best = Lanes{} + kMinusInfinity;  // on the right of every comparison: NaN never wins
  for (int v = 0; v < kVectors; ++v) best = larger(load(z + v * kLanes), best);
  return largest(best);
}

// Reads groups [begin, end) once: their maxima in the order of order_of, and what they add up to.
template <int kVectors>
Online read_groups(const Row& row, int64_t begin, int64_t end, int32_t* maxima) {
  constexpr int kFour = std::min(kVectors, 4);
  constexpr int64_t kAhead = 2048;  // entries; hardware prefetchers stop at every page
  const float per_unit = static_cast<float>(double{row.scale} * kLog2e);
  const float slack = 2 / row.scale;
  alignas(64) float filled[kMaxGroup];
  Online online;
  WideLanes total{};
  for (int64_t g = begin; g < end; ++g) {
    const float* z = entries_of(row, g, filled);
    const float max = largest_of<kVectors>(z);
    maxima[g] = order_of(max);
    if (!(max <= online.origin + slack)) {
      online.sum = sum_of(total);
      online.move_to(max, row.scale);
      total = WideLanes{};
      total[0] = online.sum;
    }
    const float origin = online.origin == kMinusInfinity ? 0 : online.origin;
    Lanes sums[kFour]{};
    for (int v = 0; v < kVectors; v += kFour) {
      Lanes d[kFour];
      for (int w = 0; w < kFour; ++w) {
        __builtin_prefetch(z + (v + w) * kLanes + kAhead);
        d[w] = load(z + (v + w) * kLanes) - origin;
      }
      add_exp<kFour>(d, per_unit, sums);
    }
    for (int w = 1; w < kFour; ++w) sums[0] += sums[w];
    total += __builtin_convertvector(sums[0], WideLanes);
  }
  online.sum = sum_of(total);
  return online;
}

Online read_part(const Row& row, int64_t begin, int64_t end, int32_t* maxima) {
  switch (row.group / kLanes) {
    case 16:
      return read_groups<16>(row, begin, end, maxima);
    case 4:
      return read_groups<4>(row, begin, end, maxima);
    default:
      return read_groups<1>(row, begin, end, maxima);
  }
}

// Keeps the k best of the entries it is shown.
class Selection {
 public:
  void start(int64_t k) {
    k_ = static_cast<size_t>(k);
    keys_.clear();
    bound_ = 0;
  }

  // Picks the k best out of the row, given the maxima of its groups.
  std::vector<uint64_t>& pick(const Row& row, const int32_t* maxima) {
    choose_groups(row, maxima);
    for (const uint64_t group : groups_) {
      const int64_t begin = position_of(group) * row.group;
      if (key_of(order_in(group), begin) < bound_) break;  // and so are all that follow
      take(row, position_of(group));
      if (keys_.size() >= 2 * k_) trim();
    }
    const size_t want = std::min<size_t>(k_, static_cast<size_t>(row.len));
    if (keys_.size() < want) take_nan(row, want);
    sort_keys(keys_, scratch_);
    if (keys_.size() > k_) keys_.resize(k_);
    return keys_;
  }

 private:
  // The groups whose maximum is among the k largest, best first. Where many are equal, no more than
  // those above them are sorted; the equal ones are in order already.
  void choose_groups(const Row& row, const int32_t* maxima) {
    const int64_t count = row.groups();
    const auto k = static_cast<int64_t>(k_);
    const int32_t bound = count > k ? kth_largest(maxima, count) : order_of(kMinusInfinity);
    start_ = value_of(bound);
    groups_.clear();
    equal_.clear();
    for (int64_t g = 0; g < count; ++g) {
      if (maxima[g] < bound) continue;
      (maxima[g] > bound ? groups_ : equal_).push_back(key_of(maxima[g], g));
    }
    sort_keys(groups_, scratch_);
    groups_.insert(groups_.end(), equal_.begin(), equal_.end());
  }

  // A number that at least k of the maxima reach, and few more than k unless they are equal.
  int32_t kth_largest(const int32_t* maxima, int64_t count) const {
    const auto k = static_cast<int64_t>(k_);
    int64_t low = maxima[0];
    int64_t high = maxima[0];
    for (int64_t g = 0; g < count; ++g) {
      low = std::min<int64_t>(low, maxima[g]);
      high = std::max<int64_t>(high, maxima[g]);
    }
    for (++high; high - low > 1;) {  // k or more reach `low`, fewer reach `high`
      const int64_t middle = low + (high - low) / 2;
      const auto bound = static_cast<int32_t>(middle);
      int32_t reached = 0;
      for (int64_t g = 0; g < count; ++g) reached += maxima[g] >= bound;
      (reached >= k ? low : high) = middle;
      if (reached >= k && reached <= k + k / 8) break;
    }
    return static_cast<int32_t>(low);
  }

  void take(const Row& row, int64_t g) {
    alignas(64) float filled[kMaxGroup];
    const float* z = entries_of(row, g, filled);
    const int64_t begin = g * row.group;
    const float least = bound_ == 0 ? start_ : value_of(order_in(bound_));
    for (int64_t v = 0; v < row.group; v += kLanes)
      for (uint32_t mask = reaching(load(z + v), least); mask != 0; mask &= mask - 1) {
        const int64_t at = v + std::countr_zero(mask);
        const uint64_t key = key_of(order_of(z[at]), begin + at);
        if (key > bound_ && begin + at < row.len) keys_.push_back(key);
      }
  }

  void trim() {
    const auto last = keys_.begin() + static_cast<std::ptrdiff_t>(k_) - 1;
    std::nth_element(keys_.begin(), last, keys_.end(), std::greater<>());
    keys_.resize(k_);
    bound_ = keys_.back();
  }

  // Entries that compare with nothing come last; a row that needs them has no right answer.
  void take_nan(const Row& row, size_t want) {
    for (int64_t j = 0; j < row.len && keys_.size() < want; ++j)
      if (std::isnan(row.z[j])) keys_.push_back(key_of(std::numeric_limits<int32_t>::min(), j));
  }

  size_t k_ = 0;
  float start_ = kMinusInfinity;  // what an entry must reach while fewer than k are known
  uint64_t bound_ = 0;            // the k-th best so far; 0: fewer than k are known
  std::vector<uint64_t> keys_, groups_, equal_, scratch_;
};

Row row_of(const SoftmaxTopkArgs& args, int64_t i) {
  Row row{static_cast<const float*>(args.logits) + i * args.row_stride,
          args.valid_len ? args.valid_len[i] : args.vocab, args.scale, kMaxGroup};
  while (row.group > kLanes && 4 * row.groups() < 5 * args.k) row.group /= 4;
  return row;
}

void write_row(const SoftmaxTopkArgs& args, int64_t i, const Row& row, const Online& online,
               const std::vector<uint64_t>& best) {
  const bool empty = online.origin == kMinusInfinity;
  int32_t* indices = args.indices + i * args.k;
  float* probs = args.probs + i * args.k;
  const double scale = row.scale;
  for (int64_t j = 0; j < args.k; ++j) {
    const bool known = j < static_cast<int64_t>(best.size());
    indices[j] = known ? static_cast<int32_t>(position_of(best[j])) : -1;
    probs[j] = 0;
    if (known && !empty)
      probs[j] = static_cast<float>(
          std::exp(scale * (double{row.z[indices[j]]} - double{online.origin})) / online.sum);
  }
  if (args.row_max)
    args.row_max[i] = best.empty() ? kMinusInfinity : row.scale * row.z[position_of(best[0])];
  if (args.lse)
    args.lse[i] = empty ? kMinusInfinity
                        : static_cast<float>(scale * double{online.origin} + std::log(online.sum));
}

// Rows are the work of one thread each.
void by_row(const SoftmaxTopkArgs& args, int threads) {
#pragma omp parallel num_threads(threads)
  {
    Selection selection;
    std::vector<int32_t> maxima;
#pragma omp for schedule(dynamic, 1)
    for (int64_t i = 0; i < args.rows; ++i) {
      const Row row = row_of(args, i);
      maxima.resize(static_cast<size_t>(row.groups()));
      const Online online = read_part(row, 0, row.groups(), maxima.data());
      selection.start(args.k);
      write_row(args, i, row, online, selection.pick(row, maxima.data()));
    }
  }
}

// Few rows: all threads share each row's groups.
void by_part(const SoftmaxTopkArgs& args, int threads) {
  Selection selection;
  std::vector<int32_t> maxima;
  std::vector<Online> parts(static_cast<size_t>(threads) * 4);
  for (int64_t i = 0; i < args.rows; ++i) {
    const Row row = row_of(args, i);
    const int64_t groups = row.groups();
    const auto count = static_cast<int64_t>(parts.size());
    maxima.resize(static_cast<size_t>(groups));
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (int64_t part = 0; part < count; ++part)
      parts[part] =
          read_part(row, groups * part / count, groups * (part + 1) / count, maxima.data());
    Online online;
    for (const Online& part : parts) online.merge(part, row.scale);
    selection.start(args.k);
    write_row(args, i, row, online, selection.pick(row, maxima.data()));
  }
}

int64_t status_of(const SoftmaxTopkArgs* args) {
  if (!args) return SOFTMAX_TOPK_BAD_ARGUMENT;
  if (args->abi_version != SOFTMAX_TOPK_ABI_VERSION || args->device != SOFTMAX_TOPK_HOST ||
      args->data_type != SOFTMAX_TOPK_F32)
    return SOFTMAX_TOPK_UNSUPPORTED;
  if (args->rows < 0 || args->vocab < 1 || args->k < 1 || args->k > args->vocab ||
      args->row_stride < args->vocab || args->num_threads < 1 ||
      args->vocab > std::numeric_limits<int32_t>::max())
    return SOFTMAX_TOPK_BAD_ARGUMENT;
  if (!(args->scale > 0) || std::isinf(args->scale)) return SOFTMAX_TOPK_BAD_ARGUMENT;
  if (args->rows > 0 && (!args->logits || !args->indices || !args->probs))
    return SOFTMAX_TOPK_BAD_ARGUMENT;
  return SOFTMAX_TOPK_OK;
}

}  // namespace

extern "C" int64_t softmax_topk(const SoftmaxTopkArgs* args) {
  if (const int64_t status = status_of(args); status != SOFTMAX_TOPK_OK) return status;
  constexpr int64_t kLeastWork = 16 * 1024;  // entries that are worth another thread
  const int64_t useful = std::max<int64_t>(1, args->rows * args->vocab / kLeastWork);
  const int threads = static_cast<int>(std::min<int64_t>(args->num_threads, useful));
  args->rows >= 2 * threads ? by_row(*args, threads) : by_part(*args, threads);
  return SOFTMAX_TOPK_OK;
}
