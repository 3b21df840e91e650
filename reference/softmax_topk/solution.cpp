// uses: sums may be taken in any order, so that lse and probs differ within ACCURACY
// SPDX-License-Identifier: Apache-2.0
// Softmax and top-k in one pass over memory. A row is read in blocks of neighbouring entries. While
// a block is in registers, every vector lane gives the maximum of its entries, which is kept, and
// the block its share of the running sum of exponentials. The k-th largest of these maxima bounds
// the k-th largest entry from below, because they are k different entries. So only the groups of
// entries whose maximum reaches this bound, about k of them, are looked at again, while the row is
// still in the cache. Nothing of this depends on the order of the data: a row that ascends costs
// what a random one costs.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "contract.h"
#include "online_sum.h"
#include "selection.h"

namespace {

using namespace fused;

double sum_of(const WideLanes& lanes) {
  double total = 0;
  for (int64_t k = 0; k < kLanes; ++k) total += lanes[k];
  return total;
}

template <int kVectors>
Lanes maxima_of(const float* z) {
  Lanes best = Lanes{} + kMinusInfinity;  // on the right of every comparison: NaN never wins
  for (int v = 0; v < kVectors; ++v) best = larger(load(z + v * kLanes), best);
  return best;
}

// Reads blocks [begin, end) once: the maxima of their groups in the order of order_of, and what
// they add up to.
template <int kVectors>
Online read_blocks(const Row& row, int64_t begin, int64_t end, int32_t* maxima) {
  constexpr int kFour = std::min(kVectors, 4);
  constexpr int64_t kAhead = 2048;  // entries; hardware prefetchers stop at every page
  Exponential exponential(row.scale);
  const float slack = 2 / row.scale;
  alignas(64) float filled[kMostVectors * kLanes];
  Online online;
  float limit = kMinusInfinity;
  WideLanes total{};
  for (int64_t b = begin; b < end; ++b) {
    const float* z = entries_of(row, b, filled);
    const Lanes best = maxima_of<kVectors>(z);
    store(maxima + b * kLanes, order_of(best));
    if (above(best, limit)) {
      online.sum += sum_of(total);
      total = WideLanes{};
      online.move_to(largest(best), row.scale);
      exponential.move_to(online.origin);
      limit = online.origin + slack;
    }
    Lanes sums[kFour]{};
    for (int v = 0; v < kVectors; v += kFour)
      for (int w = 0; w < kFour; ++w) {
        __builtin_prefetch(z + (v + w) * kLanes + kAhead);
        sums[w] += exponential(load(z + (v + w) * kLanes));
      }
    for (int w = 1; w < kFour; ++w) sums[0] += sums[w];
    total += __builtin_convertvector(sums[0], WideLanes);
  }
  online.sum += sum_of(total);
  return online;
}

Online read_part(const Row& row, int64_t begin, int64_t end, int32_t* maxima) {
  switch (row.vectors) {
    case 16:
      return read_blocks<16>(row, begin, end, maxima);
    case 4:
      return read_blocks<4>(row, begin, end, maxima);
    default:
      return read_blocks<1>(row, begin, end, maxima);
  }
}

// Many small groups cost more to keep, few large ones more to look into again.
Row row_of(const SoftmaxTopkArgs& args, int64_t i) {
  Row row{static_cast<const float*>(args.logits) + i * args.row_stride,
          args.valid_len ? args.valid_len[i] : args.vocab, args.scale, kMostVectors};
  while (row.vectors > 1 && row.groups() < 8 * args.k) row.vectors /= 4;
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
      const Online online = read_part(row, 0, row.blocks(), maxima.data());
      write_row(args, i, row, online, selection.pick(row, args.k, maxima.data()));
    }
  }
}

// Few rows: all threads share each row's blocks.
void by_part(const SoftmaxTopkArgs& args, int threads) {
  Selection selection;
  std::vector<int32_t> maxima;
  std::vector<Online> parts(static_cast<size_t>(threads) * 4);
  for (int64_t i = 0; i < args.rows; ++i) {
    const Row row = row_of(args, i);
    const int64_t blocks = row.blocks();
    const auto count = static_cast<int64_t>(parts.size());
    maxima.resize(static_cast<size_t>(row.groups()));
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (int64_t part = 0; part < count; ++part)
      parts[part] =
          read_part(row, blocks * part / count, blocks * (part + 1) / count, maxima.data());
    Online online;
    for (const Online& part : parts) online.merge(part, row.scale);
    write_row(args, i, row, online, selection.pick(row, args.k, maxima.data()));
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
