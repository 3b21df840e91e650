// SPDX-License-Identifier: Apache-2.0
#include "harness/device/runtime/mailbox.h"

namespace {

using namespace gauntlet::cuda_runtime;
using gauntlet::device_wire::Answer;
using gauntlet::device_wire::Command;
using gauntlet::device_wire::Kind;

cudaError_t on_stream(Kind kind, cudaStream_t stream) {
  Command asked = command(kind);
  asked.stream = number_of(stream);
  return noted(ask(asked));
}

cudaError_t on_event(Kind kind, cudaEvent_t event, cudaStream_t stream = nullptr) {
  Command asked = command(kind);
  asked.first = number_of(event);
  asked.stream = number_of(stream);
  return noted(ask(asked));
}

template <class Handle>
cudaError_t make(Kind kind, std::uint64_t flag, Handle* handle) {
  if (handle == nullptr) return noted(cudaErrorInvalidValue);
  Command asked = command(kind);
  asked.first = flag;
  const Answer answer = ask(asked);
  if (answer.error == cudaSuccess) *handle = reinterpret_cast<Handle>(answer.first);
  return noted(answer);
}

}  // namespace

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  if (flags > cudaStreamNonBlocking) return noted(cudaErrorInvalidValue);
  return make(Kind::make_stream, flags, stream);
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags,
                                         int /*priority*/) {
  return cudaStreamCreateWithFlags(stream, flags);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return on_stream(Kind::end_stream, stream);
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return on_stream(Kind::wait_stream, stream);
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return on_stream(Kind::query_stream, stream);
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int /*flags*/) {
  return on_event(Kind::stream_waits, event, stream);
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int /*flags*/) {
  return make(Kind::make_event, 0, event);
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return make(Kind::make_event, 0, event);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return on_event(Kind::end_event, event);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return on_event(Kind::record_event, event, stream);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return on_event(Kind::wait_event, event);
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return on_event(Kind::query_event, event);
}
/// No time is modelled. Both events have to be there and to have come.
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  if (milliseconds == nullptr) return noted(cudaErrorInvalidValue);
  *milliseconds = 0;
  const cudaError_t error = on_event(Kind::query_event, start);
  return error != cudaSuccess ? error : on_event(Kind::query_event, end);
}
cudaError_t cudaDeviceSynchronize() {
  return noted(ask(command(Kind::wait_device)));
}
}
