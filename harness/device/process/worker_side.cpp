// SPDX-License-Identifier: Apache-2.0
#include "harness/device/process/worker_side.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

#include "harness/core/text.h"
#include "harness/simt/include/cuda_runtime_api.h"

namespace gauntlet::device_process {
namespace {

using device_wire::Answer;
using device_wire::Command;
using device_wire::Kind;

constexpr std::uint32_t kMostShared = 163u << 10;  // of a block, compute capability 8.0

Answer done(std::uint64_t first = 0, std::uint64_t second = 0) {
  return {cudaSuccess, 0, first, second};
}

}  // namespace

void WorkerSide::serve() {
  Command command;
  std::memcpy(&command, &mailbox_.command, sizeof command);
  std::atomic_signal_fence(std::memory_order_seq_cst);  // what was copied is never read again
  ++engine_.accounts.commands;
  // The default stream has two names.
  if (command.stream == device_wire::kLegacyStream) command.stream = device_wire::kDefaultStream;
  Answer answer{};
  engine_.guarded([&] { answer = carry_out(command); });
  if (engine_.error != 0) answer = {engine_.error, 0, 0, 0};
  mailbox_.answer = answer;
}

Answer WorkerSide::refuse(std::uint32_t error, const std::string& why) {
  engine_.accounts.refuse(why);
  return {error, 0, 0, 0};
}

/// The runtime never sends it: the worker's memory was overwritten, or somebody else writes here.
Answer WorkerSide::forged(const std::string& why) {
  if (engine_.accounts.mailbox_fault.empty()) engine_.accounts.mailbox_fault = why;
  engine_.fail(cudaErrorUnknown, why);
  return {cudaErrorUnknown, 0, 0, 0};
}

Answer WorkerSide::after_running() {
  return {engine_.error, 0, 0, 0};
}

void WorkerSide::reply(Answer& answer, const void* bytes, std::size_t count) {
  std::memcpy(mailbox_.payload, bytes, std::min(count, device_wire::kPayload));
  answer.payload_bytes = static_cast<std::uint32_t>(std::min(count, device_wire::kPayload));
}

Answer WorkerSide::carry_out(const Command& command) {
  const auto kind = static_cast<std::uint32_t>(command.kind);
  if (kind == 0 || kind >= device_wire::kKinds)
    return forged(fmt::format("a command of kind {}, which there is not", kind));
  if (command.payload_bytes > device_wire::kPayload)
    return forged(fmt::format("a command with {} bytes of payload, where {} fit",
                              command.payload_bytes, device_wire::kPayload));
  if (engine_.error != 0) return after_running();
  if (command.kind < Kind::make_stream) {
    if (!engine_.streams.has_stream(command.stream))
      return refuse(cudaErrorInvalidResourceHandle,
                    fmt::format("stream {:#x}, which there is not", command.stream));
    return carry_out_on_memory(command);
  }
  return carry_out_on_streams(command);
}

Answer WorkerSide::carry_out_on_memory(const Command& command) {
  switch (command.kind) {
    case Kind::facts: {
      Answer answer = done();
      const device_wire::DeviceFacts facts = engine_.back_end->facts();
      reply(answer, &facts, sizeof facts);
      return answer;
    }
    case Kind::memory_info:
      return done(engine_.capacity - std::min(engine_.capacity, engine_.buffers.bytes()),
                  engine_.capacity);
    case Kind::allocate:
      return allocate(command);
    case Kind::release:
      return release(command);
    case Kind::copy_in:
      return copy_in(command);
    case Kind::copy_out:
      return copy_out(command);
    case Kind::copy_within:
      return copy_within(command);
    case Kind::fill:
      return fill(command);
    case Kind::find_kernel:
      return find_kernel(command);
    case Kind::find_variable:
      return find_variable(command);
    case Kind::set_shared_limit:
      return set_shared_limit(command);
    default:
      return launch(command);
  }
}

Answer WorkerSide::carry_out_on_streams(const Command& command) {
  Streams& streams = engine_.streams;
  const auto made = [&](std::optional<std::uint64_t> handle, const char* what) {
    return handle ? done(*handle) : refuse(cudaErrorMemoryAllocation, what);
  };
  switch (command.kind) {
    case Kind::make_stream:
      return made(streams.make_stream(command.first != 0), "too many streams");
    case Kind::make_event:
      return made(streams.make_event(), "too many events");
    case Kind::wait_device:
      streams.wait_all();
      return after_running();
    default:
      break;
  }
  const bool names_event = command.kind == Kind::end_event || command.kind == Kind::record_event ||
                           command.kind == Kind::stream_waits || command.kind == Kind::wait_event ||
                           command.kind == Kind::query_event;
  const bool names_stream = command.kind <= Kind::query_stream ||
                            command.kind == Kind::record_event ||
                            command.kind == Kind::stream_waits;
  if (names_event && !streams.has_event(command.first))
    return refuse(cudaErrorInvalidResourceHandle,
                  fmt::format("event {:#x}, which there is not", command.first));
  if (names_stream && !streams.has_stream(command.stream))
    return refuse(cudaErrorInvalidResourceHandle,
                  fmt::format("stream {:#x}, which there is not", command.stream));
  switch (command.kind) {
    case Kind::end_stream:
      if (command.stream <= device_wire::kPerThreadStream)
        return refuse(cudaErrorInvalidResourceHandle, "the default stream cannot be destroyed");
      if (streams.is_callers(command.stream))
        engine_.fail(cudaErrorInvalidResourceHandle, "the caller's stream was destroyed");
      else
        streams.end_stream(command.stream);
      return after_running();
    case Kind::wait_stream:
      streams.wait_stream(command.stream);
      return after_running();
    case Kind::query_stream:
      if (!streams.query_stream(command.stream)) return {cudaErrorNotReady, 0, 0, 0};
      return after_running();
    case Kind::end_event:
      streams.end_event(command.first);
      return done();
    case Kind::record_event:
      streams.record(command.first, command.stream);
      return after_running();
    case Kind::stream_waits:
      streams.make_wait(command.stream, command.first);
      return after_running();
    case Kind::wait_event:
      streams.wait_event(command.first);
      return after_running();
    default:
      if (!streams.query_event(command.first)) return {cudaErrorNotReady, 0, 0, 0};
      return after_running();
  }
}

Answer WorkerSide::allocate(const Command& command) {
  const std::uint64_t number = ++engine_.accounts.allocations;
  const Buffer* const made =
      engine_.map(fmt::format("cudaMalloc {}", number), Role::scratch, command.bytes);
  if (made == nullptr)
    return refuse(cudaErrorMemoryAllocation,
                  fmt::format("cudaMalloc of {} bytes: there is no more memory", command.bytes));
  return done(made->address);
}

Answer WorkerSide::release(const Command& command) {
  const Buffer* const buffer = engine_.buffers.at(command.address);
  if (buffer == nullptr || buffer->role != Role::scratch)
    return refuse(
        cudaErrorInvalidValue,
        fmt::format("cudaFree of {:#x}, where {}", command.address,
                    buffer == nullptr ? "no allocation begins" : "memory of the caller begins"));
  if (command.first == 0) {
    engine_.streams.wait_all();
    engine_.unmap(command.address);
    return after_running();
  }
  engine_.streams.queue(command.stream, [this, address = command.address] {
    if (engine_.buffers.at(address) != nullptr) engine_.unmap(address);
  });
  return done();
}

Buffer* WorkerSide::to_write(std::uint64_t address, std::uint64_t bytes) {
  Buffer* const buffer = engine_.buffers.holding(address, bytes);
  return buffer != nullptr && buffer->role != Role::input ? buffer : nullptr;
}

Answer WorkerSide::copy_in(const Command& command) {
  if (command.bytes != command.payload_bytes || command.other < command.bytes)
    return forged("a copy whose length is not that of its bytes");
  engine_.streams.wait_stream(command.stream);
  if (engine_.error != 0) return after_running();
  Buffer* const buffer = to_write(command.address, command.other);
  if (buffer == nullptr)
    return refuse(cudaErrorInvalidValue,
                  fmt::format("a copy of {} bytes from the host to {:#x}, which is no memory that "
                              "holds it and may be written",
                              command.other, command.address));
  engine_.back_end->copy_in(command.address, std::span(mailbox_.payload, command.bytes),
                            BackEnd::Writer::host);
  buffer->copied_in += command.bytes;
  engine_.accounts.copied_in += command.bytes;
  return done();
}

Answer WorkerSide::copy_out(const Command& command) {
  if (command.bytes > device_wire::kPayload || command.other < command.bytes)
    return forged("a copy that is longer than the mailbox");
  engine_.streams.wait_stream(command.stream);
  if (engine_.error != 0) return after_running();
  Buffer* const buffer = engine_.buffers.holding(command.address, command.other);
  if (buffer == nullptr)
    return refuse(cudaErrorInvalidValue,
                  fmt::format("a copy of {} bytes to the host from {:#x}, which is no memory that "
                              "holds it",
                              command.other, command.address));
  engine_.back_end->copy_out(command.address, std::span(mailbox_.payload, command.bytes));
  buffer->copied_out += command.bytes;
  engine_.accounts.copied_out += command.bytes;
  Answer answer = done();
  answer.payload_bytes = static_cast<std::uint32_t>(command.bytes);
  return answer;
}

Answer WorkerSide::copy_within(const Command& command) {
  if (to_write(command.address, command.bytes) == nullptr ||
      engine_.buffers.holding(command.other, command.bytes) == nullptr)
    return refuse(cudaErrorInvalidValue,
                  fmt::format("a copy of {} bytes from {:#x} to {:#x} within the device, one of "
                              "which does not hold it or may not be written",
                              command.bytes, command.other, command.address));
  engine_.streams.queue(command.stream, [this, command] {
    // Either may have been freed meanwhile.
    if (!engine_.pay_for(command.bytes)) return;
    if (engine_.buffers.holding(command.address, command.bytes) == nullptr ||
        engine_.buffers.holding(command.other, command.bytes) == nullptr)
      return engine_.fail(cudaErrorIllegalAddress,
                          "a copy within the device from or to memory "
                          "that was freed");
    engine_.back_end->copy_within(command.address, command.other, command.bytes);
  });
  return done();
}

Answer WorkerSide::fill(const Command& command) {
  if (to_write(command.address, command.bytes) == nullptr)
    return refuse(cudaErrorInvalidValue,
                  fmt::format("a cudaMemset of {} bytes at {:#x}, which is no memory that holds it "
                              "and may be written",
                              command.bytes, command.address));
  engine_.streams.queue(command.stream, [this, command] {
    if (!engine_.pay_for(command.bytes)) return;
    if (engine_.buffers.holding(command.address, command.bytes) == nullptr)
      return engine_.fail(cudaErrorIllegalAddress, "a cudaMemset of memory that was freed");
    engine_.back_end->fill(command.address, static_cast<std::byte>(command.first), command.bytes);
  });
  return done();
}

bool WorkerSide::takes_name(const Command& command, std::string& name) {
  if (command.payload_bytes == 0 || command.payload_bytes > device_wire::kMostName) return false;
  name.resize(command.payload_bytes);
  std::memcpy(name.data(), mailbox_.payload, name.size());
  return true;
}

Answer WorkerSide::find_kernel(const Command& command) {
  std::string name;
  if (!takes_name(command, name)) return forged("a kernel's name of no or of too many letters");
  for (std::size_t n = 0; n < engine_.kernels.size(); ++n) {
    const KernelInfo& kernel = engine_.kernels[n];
    if (kernel.name != name) continue;
    Answer answer = done(n);
    std::vector<std::byte> told(sizeof kernel.facts +
                                kernel.parameters.size() * sizeof(device_wire::Parameter));
    std::memcpy(told.data(), &kernel.facts, sizeof kernel.facts);
    if (!kernel.parameters.empty())
      std::memcpy(told.data() + sizeof kernel.facts, kernel.parameters.data(),
                  told.size() - sizeof kernel.facts);
    reply(answer, told.data(), told.size());
    return answer;
  }
  return refuse(cudaErrorInvalidDeviceFunction,
                fmt::format("kernel '{}', which there is not", one_line(name, 200)));
}

Answer WorkerSide::find_variable(const Command& command) {
  std::string name;
  if (!takes_name(command, name)) return forged("a variable's name of no or of too many letters");
  for (const VariableInfo& variable : engine_.back_end->variables())
    if (variable.name == name) return done(variable.address, variable.bytes);
  return refuse(cudaErrorInvalidSymbol,
                fmt::format("variable '{}', which there is not", one_line(name, 200)));
}

Answer WorkerSide::set_shared_limit(const Command& command) {
  if (command.first >= engine_.kernels.size())
    return forged(fmt::format("kernel number {}, which there is not", command.first));
  device_wire::KernelFacts& facts = engine_.kernels[command.first].facts;
  if (command.bytes > kMostShared - std::min(kMostShared, facts.static_shared))
    return refuse(
        cudaErrorInvalidValue,
        fmt::format("{} bytes of dynamic shared memory for {}, beyond {} together", command.bytes,
                    one_line(engine_.kernels[command.first].name, 200), kMostShared));
  facts.most_dynamic_shared = static_cast<std::uint32_t>(command.bytes);
  return done();
}

Answer WorkerSide::launch(const Command& command) {
  if (command.first >= engine_.kernels.size())
    return forged(fmt::format("kernel number {}, which there is not", command.first));
  if (command.payload_bytes > device_wire::kMostParameters)
    return forged("a launch with too many bytes of parameters");
  const KernelInfo& kernel = engine_.kernels[command.first];
  if (command.shared > kernel.facts.most_dynamic_shared)
    return refuse(
        cudaErrorInvalidValue,
        fmt::format("{} was launched with {} bytes of dynamic shared memory, and {} are "
                    "the most without cudaFuncSetAttribute",
                    one_line(kernel.name, 200), command.shared, kernel.facts.most_dynamic_shared));
  simt::LaunchShape shape;
  std::copy_n(command.grid, 3, shape.grid.begin());
  std::copy_n(command.block, 3, shape.block.begin());
  shape.dynamic_shared = static_cast<std::uint32_t>(command.shared);
  const std::string why = engine_.back_end->refusal(command.first, shape, command.payload_bytes);
  if (!why.empty())
    return refuse(cudaErrorInvalidConfiguration,
                  fmt::format("{} was launched with {}", one_line(kernel.name, 200), why));
  std::vector<std::byte> parameters(command.payload_bytes);
  std::memcpy(parameters.data(), mailbox_.payload, parameters.size());
  engine_.streams.queue(command.stream,
                        [this, number = command.first, shape, given = std::move(parameters)] {
                          engine_.launch(number, shape, given);
                        });
  return done();
}

}  // namespace gauntlet::device_process
