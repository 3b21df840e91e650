// SPDX-License-Identifier: Apache-2.0
// Cooperative groups of a block: thread_block, thread_block_tile, coalesced_group. Groups of a
// whole grid or cluster are outside the feature set, and their names are not declared.
#pragma once

#include <cuda_runtime.h>

namespace cooperative_groups {

class thread_block {
 public:
  SIMT_MEMBER static void sync() { __syncthreads(); }
  SIMT_MEMBER static void barrier_sync() { __syncthreads(); }
  SIMT_MEMBER static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  SIMT_MEMBER static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  SIMT_MEMBER static dim3 dim_threads() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  SIMT_MEMBER static dim3 group_dim() { return dim_threads(); }
  SIMT_MEMBER static unsigned int thread_rank() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  }
  SIMT_MEMBER static unsigned int num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
  SIMT_MEMBER static unsigned int size() { return num_threads(); }
};
SIMT_DEVICE thread_block this_thread_block() {
  return {};
}

/// What tiles and coalesced groups share: lanes of one warp, by mask.
class simt_lanes {
 public:
  SIMT_MEMBER void sync() const { __syncwarp(mask_); }
  template <class T>
  SIMT_MEMBER T shfl(T value, unsigned int rank) const {
    return __shfl_sync(mask_, value, lane_of(rank));
  }
  SIMT_MEMBER int any(int predicate) const { return __any_sync(mask_, predicate); }
  SIMT_MEMBER int all(int predicate) const { return __all_sync(mask_, predicate); }
  SIMT_MEMBER unsigned int ballot(int predicate) const {
    return packed(__ballot_sync(mask_, predicate));
  }
  template <class T>
  SIMT_MEMBER unsigned int match_any(T value) const {
    return packed(__match_any_sync(mask_, value));
  }
  template <class T>
  SIMT_MEMBER unsigned int match_all(T value, int& all) const {
    return packed(__match_all_sync(mask_, value, &all));
  }
  SIMT_MEMBER unsigned int thread_rank() const { return __popc(mask_ & lanes_below()); }
  SIMT_MEMBER unsigned int num_threads() const { return __popc(mask_); }
  SIMT_MEMBER unsigned int size() const { return num_threads(); }

 protected:
  SIMT_MEMBER explicit simt_lanes(unsigned int mask) : mask_(mask) {}
  SIMT_MEMBER static unsigned int lane() { return thread_block::thread_rank() & 31; }
  SIMT_MEMBER static unsigned int lanes_below() { return (1u << lane()) - 1; }

  /// The lane of a rank: its place among the bits of the mask.
  SIMT_MEMBER unsigned int lane_of(unsigned int rank) const {
    unsigned int left = mask_;
    for (; rank > 0; --rank) left &= left - 1;
    return __ffs(left) - 1;
  }
  /// Bits of the mask's lanes, moved together.
  SIMT_MEMBER unsigned int packed(unsigned int bits) const {
    unsigned int out = 0, rank = 0;
    for (unsigned int left = mask_; left != 0; left &= left - 1, ++rank)
      out |= (bits & left & (0 - left)) != 0 ? 1u << rank : 0;
    return out;
  }

  unsigned int mask_;
};

class coalesced_group : public simt_lanes {
 public:
  SIMT_MEMBER explicit coalesced_group(unsigned int mask) : simt_lanes(mask) {}
  template <class T>
  SIMT_MEMBER T shfl_up(T value, unsigned int delta) const {
    const unsigned int rank = thread_rank();
    return shfl(value, rank >= delta ? rank - delta : rank);
  }
  template <class T>
  SIMT_MEMBER T shfl_down(T value, unsigned int delta) const {
    const unsigned int rank = thread_rank();
    return shfl(value, rank + delta < num_threads() ? rank + delta : rank);
  }
};
SIMT_DEVICE coalesced_group coalesced_threads() {
  return coalesced_group(__activemask());
}

template <unsigned int Size, class Parent = thread_block>
class thread_block_tile : public simt_lanes {
  static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0,
                "a tile has 1, 2, 4, 8, 16 or 32 threads");

 public:
  SIMT_MEMBER thread_block_tile() : simt_lanes(mask_of_lane()) {}
  SIMT_MEMBER static constexpr unsigned int num_threads() { return Size; }
  SIMT_MEMBER static constexpr unsigned int size() { return Size; }
  SIMT_MEMBER static unsigned int thread_rank() { return lane() & (Size - 1); }
  SIMT_MEMBER static unsigned int meta_group_rank() { return thread_block::thread_rank() / Size; }
  SIMT_MEMBER static unsigned int meta_group_size() {
    return (thread_block::num_threads() + Size - 1) / Size;
  }
  template <class T>
  SIMT_MEMBER T shfl(T value, unsigned int rank) const {
    return __shfl_sync(mask_, value, (int)rank, Size);
  }
  template <class T>
  SIMT_MEMBER T shfl_up(T value, unsigned int delta) const {
    return __shfl_up_sync(mask_, value, delta, Size);
  }
  template <class T>
  SIMT_MEMBER T shfl_down(T value, unsigned int delta) const {
    return __shfl_down_sync(mask_, value, delta, Size);
  }
  template <class T>
  SIMT_MEMBER T shfl_xor(T value, unsigned int lanes) const {
    return __shfl_xor_sync(mask_, value, (int)lanes, Size);
  }
  SIMT_MEMBER unsigned int ballot(int predicate) const {
    return __ballot_sync(mask_, predicate) >> first_lane() & low_bits();
  }

 private:
  SIMT_MEMBER static unsigned int first_lane() { return lane() & ~(Size - 1); }
  SIMT_MEMBER static constexpr unsigned int low_bits() {
    return Size == 32 ? ~0u : (1u << (Size & 31)) - 1;
  }
  SIMT_MEMBER static unsigned int mask_of_lane() { return low_bits() << first_lane(); }
};

template <unsigned int Size, class Parent>
SIMT_DEVICE thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
  return {};
}
template <class Group>
SIMT_DEVICE void sync(const Group& group) {
  group.sync();
}

template <class T>
struct plus {
  SIMT_MEMBER T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
  SIMT_MEMBER T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
  SIMT_MEMBER T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
  SIMT_MEMBER T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
  SIMT_MEMBER T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct bit_xor {
  SIMT_MEMBER T operator()(T a, T b) const { return a ^ b; }
};

template <unsigned int Size, class Parent, class T, class Operation>
SIMT_DEVICE T reduce(const thread_block_tile<Size, Parent>& tile, T value, Operation operation) {
  for (unsigned int lanes = Size / 2; lanes > 0; lanes /= 2)
    value = operation(value, tile.shfl_xor(value, lanes));
  return value;
}
template <class T, class Operation>
SIMT_DEVICE T reduce(const coalesced_group& group, T value, Operation operation) {
  T result = group.shfl(value, 0);
  for (unsigned int rank = 1; rank < group.num_threads(); ++rank)
    result = operation(result, group.shfl(value, rank));
  return result;
}

}  // namespace cooperative_groups
