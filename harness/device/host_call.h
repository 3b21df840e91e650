// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "harness/device/cuda_device.h"
#include "harness/worker/call.h"

namespace gauntlet {

/// What the worker is asked in place of a call on a device: the same function with the same struct,
/// whose pointers are addresses of device memory. It has no buffers of its own.
class HostCall : public CallBase {
 public:
  /// `addresses` are those of the call's buffers, in their order. Fields that no buffer is for stay
  /// as they are; device and stream are set as the call's device_fields say.
  HostCall(const CallBase& call, DeviceStream stream, const std::vector<DeviceAddress>& addresses);

 private:
  template <class T>
  void set(std::size_t offset, T value);

  std::vector<std::byte> bytes_;
};

/// Copies what the worker made of it: what was returned, and how long it took.
void take_over(const HostCall& from, CallBase& to);

}  // namespace gauntlet
