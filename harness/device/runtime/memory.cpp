// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "harness/device/runtime/mailbox.h"
#include "harness/device/runtime/registry.h"

namespace {

using namespace gauntlet::cuda_runtime;
using gauntlet::device_wire::Answer;
using gauntlet::device_wire::Command;
using gauntlet::device_wire::is_device_address;
using gauntlet::device_wire::Kind;
using gauntlet::device_wire::kPayload;

constexpr std::size_t kPitch = 512;  // rows of cudaMallocPitch begin at multiples of it

cudaError_t allocate(void** pointer, std::size_t bytes) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  Command asked = command(Kind::allocate);
  asked.bytes = bytes;
  const Answer answer = ask(asked);
  if (answer.error == cudaSuccess) *pointer = reinterpret_cast<void*>(answer.first);
  return static_cast<cudaError_t>(answer.error);
}

cudaError_t release(void* pointer, cudaStream_t stream, bool in_turn) {
  if (pointer == nullptr) return cudaSuccess;
  Command asked = command(Kind::release);
  asked.address = number_of(pointer);
  asked.stream = number_of(stream);
  asked.first = in_turn ? 1 : 0;
  return static_cast<cudaError_t>(ask(asked).error);
}

/// The mailbox takes a part at a time. The device checks at the first one that all of it fits.
cudaError_t copy_by_parts(Kind kind, std::uint64_t address, std::byte* host, std::size_t bytes,
                          cudaStream_t stream) {
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t part = std::min(bytes - done, kPayload);
    Command asked = command(kind);
    asked.stream = number_of(stream);
    asked.address = address + done;
    asked.bytes = part;
    asked.other = bytes - done;
    const Payload payload = kind == Kind::copy_in ? Payload{host + done, part, nullptr, 0}
                                                  : Payload{nullptr, 0, host + done, part};
    const Answer answer = ask(asked, payload);
    if (answer.error != cudaSuccess) return static_cast<cudaError_t>(answer.error);
    done += part;
  }
  return cudaSuccess;
}

cudaError_t wait_for(cudaStream_t stream) {
  Command asked = command(Kind::wait_stream);
  asked.stream = number_of(stream);
  return static_cast<cudaError_t>(ask(asked).error);
}

cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                 cudaStream_t stream) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
    return cudaErrorInvalidMemcpyDirection;
  if (bytes == 0) return cudaSuccess;
  const bool into_device = is_device_address(number_of(to));
  const bool from_device = is_device_address(number_of(from));
  if (kind != cudaMemcpyDefault && kind != from_device * 2 + into_device)
    return cudaErrorInvalidValue;
  auto* const host = static_cast<std::byte*>(const_cast<void*>(into_device ? from : to));
  if (into_device && from_device) {
    Command asked = command(Kind::copy_within);
    asked.stream = number_of(stream);
    asked.address = number_of(to);
    asked.other = number_of(from);
    asked.bytes = bytes;
    return static_cast<cudaError_t>(ask(asked).error);
  }
  if (into_device) return copy_by_parts(Kind::copy_in, number_of(to), host, bytes, stream);
  if (from_device) return copy_by_parts(Kind::copy_out, number_of(from), host, bytes, stream);
  if (const cudaError_t error = wait_for(stream); error != cudaSuccess) return error;
  std::memmove(to, from, bytes);
  return cudaSuccess;
}

cudaError_t copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                      std::size_t width, std::size_t height, cudaMemcpyKind kind,
                      cudaStream_t stream) {
  if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
  if (width == to_pitch && width == from_pitch) return copy(to, from, width * height, kind, stream);
  for (std::size_t row = 0; row < height; ++row) {
    const cudaError_t error =
        copy(static_cast<std::byte*>(to) + row * to_pitch,
             static_cast<const std::byte*>(from) + row * from_pitch, width, kind, stream);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

cudaError_t fill(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  if (bytes == 0) return cudaSuccess;
  Command asked = command(Kind::fill);
  asked.stream = number_of(stream);
  asked.address = number_of(to);
  asked.bytes = bytes;
  asked.first = static_cast<unsigned char>(value);
  return static_cast<cudaError_t>(ask(asked).error);
}

/// A range of a variable, as a pointer of the device.
cudaError_t place_in(const void* symbol, std::size_t bytes, std::size_t offset, void** place) {
  std::uint64_t address = 0, size = 0;
  if (const cudaError_t error = find_variable(symbol, address, size); error != cudaSuccess)
    return error;
  if (offset > size || bytes > size - offset) return cudaErrorInvalidValue;
  *place = reinterpret_cast<void*>(address + offset);
  return cudaSuccess;
}

cudaError_t copy_to_symbol(const void* symbol, const void* from, std::size_t bytes,
                           std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  void* place = nullptr;
  const cudaError_t error = place_in(symbol, bytes, offset, &place);
  return error != cudaSuccess ? error : copy(place, from, bytes, kind, stream);
}

cudaError_t copy_from_symbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                             cudaMemcpyKind kind, cudaStream_t stream) {
  void* place = nullptr;
  const cudaError_t error = place_in(symbol, bytes, offset, &place);
  return error != cudaSuccess ? error : copy(to, place, bytes, kind, stream);
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  return noted(allocate(pointer, bytes));
}
cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t /*stream*/) {
  return noted(allocate(pointer, bytes));
}
cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width,
                            std::size_t height) {
  if (pitch == nullptr) return noted(cudaErrorInvalidValue);
  *pitch = (width + kPitch - 1) / kPitch * kPitch;
  return noted(allocate(pointer, *pitch * height));
}
cudaError_t cudaFree(void* pointer) {
  return noted(release(pointer, nullptr, false));
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return noted(release(pointer, stream, true));
}
cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned int /*flags*/) {
  *pointer = std::malloc(bytes);
  return noted(*pointer == nullptr ? cudaErrorMemoryAllocation : cudaSuccess);
}
cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) {
  return cudaHostAlloc(pointer, bytes, cudaHostAllocDefault);
}
cudaError_t cudaFreeHost(void* pointer) {
  std::free(pointer);
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  const Answer answer = ask(command(Kind::memory_info));
  *free_bytes = answer.first;
  *total_bytes = answer.second;
  return noted(answer);
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return noted(copy(to, from, bytes, kind, nullptr));
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return noted(copy(to, from, bytes, kind, stream));
}
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return noted(copy_rows(to, to_pitch, from, from_pitch, width, height, kind, nullptr));
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  return noted(copy_rows(to, to_pitch, from, from_pitch, width, height, kind, stream));
}
cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  return noted(fill(to, value, bytes, nullptr));
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  return noted(fill(to, value, bytes, stream));
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes,
                               std::size_t offset, cudaMemcpyKind kind) {
  return noted(copy_to_symbol(symbol, from, bytes, offset, kind, nullptr));
}
cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes,
                                 std::size_t offset, cudaMemcpyKind kind) {
  return noted(copy_from_symbol(to, symbol, bytes, offset, kind, nullptr));
}
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t bytes,
                                    std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return noted(copy_to_symbol(symbol, from, bytes, offset, kind, stream));
}
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t bytes,
                                      std::size_t offset, cudaMemcpyKind kind,
                                      cudaStream_t stream) {
  return noted(copy_from_symbol(to, symbol, bytes, offset, kind, stream));
}
cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  return noted(place_in(symbol, 0, 0, pointer));
}
cudaError_t cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
  std::uint64_t address = 0, size = 0;
  const cudaError_t error = find_variable(symbol, address, size);
  *bytes = size;
  return noted(error);
}
}
