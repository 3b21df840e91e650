// Softmax and top-k of every row in one sweep: the running maximum and the running sum of
// exponentials ("online softmax"), and beside them a heap of the k best entries so far.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "contract.h"

namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

struct Entry {
  float logit;
  int32_t index;
};

bool comes_before(const Entry& a, const Entry& b) {
  return a.logit > b.logit || (a.logit == b.logit && a.index < b.index);
}

// The k entries that come first. The top of the heap is the one that comes last among them.
class BestEntries {
 public:
  explicit BestEntries(int64_t k) : k_(static_cast<size_t>(k)) {}

  void offer(const Entry& entry) {
    if (heap_.size() < k_) {
      heap_.push_back(entry);
      std::push_heap(heap_.begin(), heap_.end(), comes_before);
    } else if (comes_before(entry, heap_.front())) {
      std::pop_heap(heap_.begin(), heap_.end(), comes_before);
      heap_.back() = entry;
      std::push_heap(heap_.begin(), heap_.end(), comes_before);
    }
  }

  const std::vector<Entry>& sorted() {
    std::sort_heap(heap_.begin(), heap_.end(), comes_before);
    return heap_;
  }

 private:
  size_t k_;
  std::vector<Entry> heap_;
};

// log(sum(exp(x))), kept as a maximum and a sum relative to it.
struct LogSumExp {
  double max = kMinusInfinity;
  double sum = 0;

  void add(double x) {
    if (x == kMinusInfinity) return;
    if (x <= max) {
      sum += std::exp(x - max);
    } else {
      sum = sum * std::exp(max - x) + 1;
      max = x;
    }
  }

  double value() const { return sum > 0 ? max + std::log(sum) : kMinusInfinity; }
};

void solve_row(const SoftmaxTopkArgs& args, int64_t i) {
  const float* logits = static_cast<const float*>(args.logits) + i * args.row_stride;
  const int64_t len = args.valid_len ? args.valid_len[i] : args.vocab;
  const double scale = args.scale;

  LogSumExp total;
  BestEntries best(args.k);
  for (int64_t j = 0; j < len; ++j) {
    // NaN has no place in the order; as -inf it gets one.
    const float logit = std::isnan(logits[j]) ? -INFINITY : logits[j];
    total.add(scale * double{logit});
    best.offer({logit, static_cast<int32_t>(j)});
  }

  const std::vector<Entry>& winners = best.sorted();
  for (int64_t j = 0; j < args.k; ++j) {
    int32_t& index = args.indices[i * args.k + j];
    float& prob = args.probs[i * args.k + j];
    index = -1;
    prob = 0;
    if (j >= static_cast<int64_t>(winners.size())) continue;
    index = winners[j].index;
    if (total.sum > 0)
      prob = static_cast<float>(std::exp(scale * double{winners[j].logit} - total.max) / total.sum);
  }
  if (args.lse) args.lse[i] = static_cast<float>(total.value());
  if (args.row_max) args.row_max[i] = static_cast<float>(total.max);
}

bool is_supported(const SoftmaxTopkArgs& args) {
  return args.abi_version == SOFTMAX_TOPK_ABI_VERSION && args.device == SOFTMAX_TOPK_HOST &&
         args.data_type == SOFTMAX_TOPK_F32;
}

bool is_sensible(const SoftmaxTopkArgs& args) {
  if (args.rows < 0 || args.vocab < 1 || args.k < 1 || args.k > args.vocab) return false;
  if (args.row_stride < args.vocab || args.num_threads < 1) return false;
  if (!std::isfinite(args.scale) || args.scale <= 0) return false;
  return args.rows == 0 || (args.logits && args.indices && args.probs);
}

}  // namespace

extern "C" int64_t softmax_topk(const SoftmaxTopkArgs* args) {
  if (!is_supported(*args)) return SOFTMAX_TOPK_UNSUPPORTED;
  if (!is_sensible(*args)) return SOFTMAX_TOPK_BAD_ARGUMENT;
#pragma omp parallel for num_threads(args->num_threads) schedule(dynamic)
  for (int64_t i = 0; i < args->rows; ++i) solve_row(*args, i);
  return SOFTMAX_TOPK_OK;
}
