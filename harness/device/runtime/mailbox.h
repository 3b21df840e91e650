// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "harness/device/wire.h"
#include "harness/simt/include/cuda_runtime_api.h"

namespace gauntlet::cuda_runtime {

/// What goes along with a command, and where to put what comes back. Both may be nothing.
struct Payload {
  const void* out = nullptr;
  std::size_t out_bytes = 0;
  void* in = nullptr;
  std::size_t most_in = 0;
};

/// Puts one command to the device and waits for its answer. Any thread may call it; they take
/// turns. The answer's error is cudaErrorInitializationError before the library was given a
/// mailbox, cudaErrorNoDevice when nobody answers any more, and the sticky one once there is one.
device_wire::Answer ask(const device_wire::Command& command, const Payload& payload = {});

/// Remembers an error for cudaGetLastError of this thread, and hands it on.
cudaError_t noted(cudaError_t error);

/// Of an answer that has nothing else.
inline cudaError_t noted(const device_wire::Answer& answer) {
  return noted(static_cast<cudaError_t>(answer.error));
}

inline device_wire::Command command(device_wire::Kind kind) {
  device_wire::Command made{};
  made.kind = kind;
  return made;
}

inline std::uint64_t number_of(const void* handle) {
  return reinterpret_cast<std::uint64_t>(handle);
}

}  // namespace gauntlet::cuda_runtime
