// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "graders/kit/inputs.h"
#include "harness/worker/call.h"

namespace gauntlet::kit {

/// Strides of floats at which offsets leave 32 bits: signed and unsigned, in bytes and in elements.
inline constexpr std::int64_t kFarStrides[] = {std::int64_t{1} << 29, std::int64_t{1} << 30,
                                               std::int64_t{1} << 31, std::int64_t{1} << 32};

/// More threads than anybody has. Contracts allow 1,024; a worker has room for 512.
inline constexpr int kManyThreads = 480;

/// How a call is put to a solution, apart from what it asks.
struct CallOptions {
  int threads = 2;
  std::int32_t deterministic = 0;   // where the contract offers the choice; anything but 0 is yes
  Placement placement{};            // of every array that has no rule of its own
  std::string_view displaced = {};  // the one array that is aligned to an element and no more
  std::string_view missing = {};    // the array whose pointer is null, by its name in the contract
  bool null_when_empty = false;     // an array without elements is null

  /// One array whose parts lie so many elements apart, with nothing between them but faults. Which
  /// parts: the grader's call says.
  struct FarApart {
    std::string_view array;
    std::int64_t stride;
  };
  std::optional<FarApart> far = {};

  Placement placed(std::string_view array) const {
    return array == displaced ? Placement{16, 4} : placement;
  }
  bool is_far(std::string_view array) const {
    return far && far->array == array && missing != array;
  }
  bool left_out(std::string_view array, std::int64_t elements) const {
    return array == missing || (null_when_empty && elements == 0);
  }
};

/// Sets what the argument structs of all contracts begin with: version, size, device, threads, and
/// where they have them `deterministic` and `min_align`.
template <class Args>
void set_header(Args& args, std::int32_t abi_version, std::int32_t device,
                const CallOptions& options) {
  args.abi_version = abi_version;
  args.struct_size = static_cast<std::int32_t>(sizeof(Args));
  args.device = device;
  args.num_threads = options.threads;
  if constexpr (requires { args.deterministic; }) args.deterministic = options.deterministic;
  if constexpr (requires { args.min_align; })
    args.min_align = guaranteed_alignment(
        options.displaced.empty() ? options.placement : options.placed(options.displaced));
}

/// The same for a call of a contract that knows a device besides the host: a session on a device
/// finds where to say so, and fails the call where it copies more bytes to the host than the
/// contract allows. The struct says `host`.
template <class Args>
void set_header(Call<Args>& call, std::int32_t abi_version, std::int32_t host, std::int32_t cuda,
                std::uint64_t host_copy_bytes, const CallOptions& options) {
  set_header(call.args, abi_version, host, options);
  call.lies_on(call.args.device, host, cuda, call.args.stream, host_copy_bytes);
}

}  // namespace gauntlet::kit
