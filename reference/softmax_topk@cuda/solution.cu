// uses: sums may be taken in any order, so that lse and probs differ within ACCURACY
// SPDX-License-Identifier: Apache-2.0
// Softmax and top-k in one pass over the logits. A team of threads, a warp for short rows and a
// block for others, reads a row tile by tile. Each thread keeps a running maximum and sum of
// exponentials, and what may still be among the k best goes to a buffer in shared memory, which is
// sorted when it is full. Few long rows are cut into parts, so that every multiprocessor has work,
// and a second kernel joins what was found in them.
//
// There is shared memory for 4096 winners. For a larger k the rows are read again for every 4096
// more, bounded by the last winner so far: slower, and without scratch memory of the size of k.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "contract.h"
#include "rows.cuh"

namespace {

using namespace fused;

constexpr std::int64_t kMostColumns = 4096;
constexpr std::int64_t kMostBlocks = 1 << 20;  // of a grid; further rows come in turn

std::int64_t status_of(const SoftmaxTopkArgs& args) {
  if (args.abi_version != SOFTMAX_TOPK_ABI_VERSION || args.device != SOFTMAX_TOPK_CUDA ||
      args.data_type != SOFTMAX_TOPK_F32)
    return SOFTMAX_TOPK_UNSUPPORTED;
  const bool sizes = args.rows >= 0 && args.vocab >= 1 && args.vocab <= INT32_MAX && args.k >= 1 &&
                     args.k <= args.vocab && args.row_stride >= args.vocab && args.num_threads >= 1;
  const bool scale = args.scale > 0 && std::isfinite(args.scale);
  const bool arrays = args.rows <= 0 || (args.logits && args.indices && args.probs);
  return sizes && scale && arrays ? SOFTMAX_TOPK_OK : SOFTMAX_TOPK_BAD_ARGUMENT;
}

/// Launches a kernel with as much dynamic shared memory as it needs.
template <class Kernel, class... Arguments>
cudaError_t run(Kernel* kernel, std::int64_t blocks, int threads, std::size_t shared,
                cudaStream_t stream, const Arguments&... arguments) {
  const cudaError_t error = cudaFuncSetAttribute(
      kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared));
  if (error != cudaSuccess) return error;
  kernel<<<static_cast<unsigned>(blocks), static_cast<unsigned>(threads), shared, stream>>>(
      arguments...);
  return cudaGetLastError();
}

template <class Team>
cudaError_t run_whole_rows(const SoftmaxTopkArgs& args, const Window& window, cudaStream_t stream) {
  const std::int64_t blocks = (args.rows + Team::kTeams - 1) / Team::kTeams;
  return run(whole_rows<Team>, std::min(blocks, kMostBlocks), Team::kThreads * Team::kTeams,
             Candidates<Team>::shared_bytes(window.columns), stream, args, window);
}

cudaError_t run_parts(const SoftmaxTopkArgs& args, const Window& window, int per_row,
                      cudaStream_t stream) {
  const std::int64_t blocks = args.rows * per_row;
  const std::size_t sum_bytes = static_cast<std::size_t>(blocks) * sizeof(Part);
  const std::size_t key_bytes = static_cast<std::size_t>(blocks * window.columns) * sizeof(Key);
  char* scratch = nullptr;
  cudaError_t error = cudaMallocAsync(&scratch, sum_bytes + key_bytes, stream);
  if (error != cudaSuccess) return error;
  const Parts parts{per_row, reinterpret_cast<Part*>(scratch),
                    reinterpret_cast<Key*>(scratch + sum_bytes)};
  const std::size_t shared = Candidates<BlockTeam>::shared_bytes(window.columns);
  error = run(parts_of_rows, blocks, BlockTeam::kThreads, shared, stream, args, window, parts);
  if (error == cudaSuccess)
    error = run(join_parts, args.rows, BlockTeam::kThreads, shared, stream, args, window, parts);
  const cudaError_t freed = cudaFreeAsync(scratch, stream);
  return error == cudaSuccess ? freed : error;
}

/// So many that there are two blocks for every multiprocessor, as long as a part is much longer
/// than what is kept of it.
std::int64_t parts_per_row(const SoftmaxTopkArgs& args, const Window& window, int multiprocessors) {
  const std::int64_t least = std::max<std::int64_t>(16 * 1024, 32 * window.columns);
  return std::max<std::int64_t>(1, std::min(2 * multiprocessors / args.rows, args.vocab / least));
}

cudaError_t run_window(const SoftmaxTopkArgs& args, const Window& window, int multiprocessors) {
  const auto stream = static_cast<cudaStream_t>(args.stream);
  if (args.vocab <= 1024 && window.columns <= 128)
    return run_whole_rows<WarpTeam>(args, window, stream);
  const std::int64_t parts = parts_per_row(args, window, multiprocessors);
  if (parts == 1) return run_whole_rows<BlockTeam>(args, window, stream);
  return run_parts(args, window, static_cast<int>(parts), stream);
}

}  // namespace

extern "C" std::int64_t softmax_topk(const SoftmaxTopkArgs* args) {
  if (!args) return SOFTMAX_TOPK_BAD_ARGUMENT;
  if (const std::int64_t status = status_of(*args); status != SOFTMAX_TOPK_OK) return status;
  if (args->rows == 0) return SOFTMAX_TOPK_OK;
  int device = 0, multiprocessors = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  for (std::int64_t first = 0; first < args->k && error == cudaSuccess; first += kMostColumns)
    error = run_window(*args, {first, static_cast<int>(std::min(kMostColumns, args->k - first))},
                       multiprocessors);
  return error;
}
