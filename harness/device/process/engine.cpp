// SPDX-License-Identifier: Apache-2.0
#include "harness/device/process/engine.h"

#include <algorithm>
#include <fmt/format.h>
#include <new>

#include "harness/core/text.h"
#include "harness/simt/include/cuda_runtime_api.h"

namespace gauntlet::device_process {
namespace {

// Freed ones keep their names, so that a later access is told what it was.
constexpr std::uint64_t kMostPieces = 65536;
// In instructions of warps: what work costs however little it does; bytes that are moved for one.
constexpr std::uint64_t kPriceOfWork = 1000;
constexpr std::uint64_t kBytesPerInstruction = 64;
constexpr std::byte kPoison{0xff};  // NaN in every floating format, -1 in every integer

/// What a GPU's context would say.
std::uint32_t error_of(const simt::LaunchResult& result) {
  using simt::Fault;
  switch (result.status) {
    case simt::Status::completed:
      return cudaSuccess;
    case simt::Status::trapped:
      return result.why.starts_with("assertion") ? cudaErrorAssert : cudaErrorLaunchFailure;
    case simt::Status::timed_out:
      return cudaErrorLaunchTimeout;
    case simt::Status::refused:
      return cudaErrorLaunchFailure;
    case simt::Status::faulted:
      break;
  }
  for (const simt::Diagnostic& seen : result.diagnostics) {
    if (seen.fault == Fault::out_of_bounds || seen.fault == Fault::freed ||
        seen.fault == Fault::read_only)
      return cudaErrorIllegalAddress;
    if (seen.fault == Fault::misaligned) return cudaErrorMisalignedAddress;
  }
  return cudaErrorLaunchFailure;
}

}  // namespace

Buffer* Engine::map(const std::string& name, Role role, std::uint64_t bytes,
                    simt::Alignment alignment) {
  const std::uint64_t used = buffers.bytes();
  if (bytes > capacity - std::min(capacity, used)) return nullptr;
  if (role == Role::scratch && ++scratch_pieces > kMostPieces) return nullptr;
  try {
    const std::uint64_t address = back_end->map(name, bytes, kPoison, alignment);
    buffers.add({name, role, address, bytes});
    return buffers.at(address);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void Engine::unmap(std::uint64_t address) {
  buffers.remove(address);
  back_end->unmap(address);
}

void Engine::launch(std::size_t kernel, const simt::LaunchShape& shape,
                    const std::vector<std::byte>& parameters) {
  if (error != 0) return;
  const std::string& name = kernels.at(kernel).name;
  if (options.budget == 0) return out_of_budget("before " + one_line(name, 200) + " began");
  simt::LaunchResult result = back_end->launch(kernel, shape, parameters, options);
  options.budget -= std::min(options.budget, result.budget_used + kPriceOfWork);
  if (const std::uint32_t sticky = error_of(result); sticky != cudaSuccess)
    fail(sticky, result.why);
  accounts.add(name, shape, std::move(result));
}

bool Engine::pay_for(std::uint64_t bytes) {
  if (error != 0) return false;
  const std::uint64_t price = bytes / kBytesPerInstruction + kPriceOfWork;
  if (options.budget < price) {
    options.budget = 0;
    out_of_budget("by fills and copies");
    return false;
  }
  options.budget -= price;
  return true;
}

void Engine::out_of_budget(const std::string& when) {
  fail(cudaErrorLaunchTimeout,
       fmt::format("the call's budget of {} instructions was used up {}", budget, when));
}

void Engine::fail(std::uint32_t sticky, const std::string& why) {
  if (error != 0) return;
  error = sticky;
  error_why = why;
}

void Engine::guarded(const std::function<void()>& work) {
  try {
    work();
  } catch (const std::bad_alloc&) {
    accounts.out_of_memory = true;
    fail(cudaErrorLaunchFailure, "the device process has no more memory");
  }
}

}  // namespace gauntlet::device_process
