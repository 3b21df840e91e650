// SPDX-License-Identifier: Apache-2.0
#include "harness/device/host_call.h"

#include <cstring>

namespace gauntlet {

template <class T>
void HostCall::set(std::size_t offset, T value) {
  std::memcpy(bytes_.data() + offset, &value, sizeof value);
}

HostCall::HostCall(const CallBase& call, DeviceStream stream,
                   const std::vector<DeviceAddress>& addresses)
    : CallBase(call.symbol, {}), bytes_(call.arguments().begin(), call.arguments().end()) {
  arguments_ = bytes_;
  callbacks_ = call.callbacks();
  for (std::size_t n = 0; n < addresses.size(); ++n)
    if (!call.buffers()[n].behind) set(call.buffers()[n].field_offset, addresses[n]);
  for (const InputView& view : call.views())
    set(view.field_offset, DeviceAddress{addresses[view.buffer] + view.bytes});
  const DeviceFields& fields = *call.device_fields;
  std::int32_t device = 0;
  std::memcpy(&device, bytes_.data() + fields.device_offset, sizeof device);
  if (device != fields.host) return;  // a device that is to be refused
  set(fields.device_offset, fields.cuda);
  set(fields.stream_offset, stream);
}

void take_over(const HostCall& from, CallBase& to) {
  to.returned = from.returned;
  to.elapsed = from.elapsed;
  to.processor = from.processor;
  to.lost = from.lost;
}

}  // namespace gauntlet
