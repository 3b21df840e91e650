// SPDX-License-Identifier: Apache-2.0
// Which kernel a host function stands for, and which variable a host variable: what clang's code
// registers before main, by name. The blob that it registers means nothing here; the device has the
// PTX from somebody else.
#include "harness/device/runtime/registry.h"

#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "harness/device/runtime/mailbox.h"

namespace gauntlet::cuda_runtime {
namespace {

using device_wire::Answer;
using device_wire::Kind;

struct Known {
  std::mutex mutex;
  std::map<const void*, std::string> kernel_names;
  std::map<const void*, std::string> variable_names;
  std::map<const void*, Kernel> kernels;
};

/// Never destroyed: kernels may be launched by destructors.
Known& known() {
  static Known& all = *new Known;
  return all;
}

const std::string* name_of(const std::map<const void*, std::string>& names, const void* symbol) {
  const auto found = names.find(symbol);
  return found == names.end() ? nullptr : &found->second;
}

cudaError_t ask_for_kernel(const std::string& name, Kernel& kernel) {
  constexpr std::size_t kMost = device_wire::kMostParameters;
  std::vector<std::byte> told(sizeof(device_wire::KernelFacts) +
                              kMost * sizeof(device_wire::Parameter));
  const Answer answer =
      ask(command(Kind::find_kernel), {name.data(), name.size(), told.data(), told.size()});
  if (answer.error != cudaSuccess) return static_cast<cudaError_t>(answer.error);
  kernel.number = answer.first;
  std::memcpy(&kernel.facts, told.data(), sizeof kernel.facts);
  if (kernel.facts.parameter_count > kMost) return cudaErrorInvalidDeviceFunction;
  kernel.parameters.resize(kernel.facts.parameter_count);
  if (!kernel.parameters.empty())
    std::memcpy(kernel.parameters.data(), told.data() + sizeof kernel.facts,
                kernel.parameters.size() * sizeof kernel.parameters[0]);
  return cudaSuccess;
}

}  // namespace

cudaError_t find_kernel(const void* function, Kernel& kernel, bool fresh) {
  Known& all = known();
  const std::lock_guard lock(all.mutex);
  const std::string* const name = name_of(all.kernel_names, function);
  if (name == nullptr) return cudaErrorInvalidDeviceFunction;
  const auto cached = all.kernels.find(function);
  if (!fresh && cached != all.kernels.end()) {
    kernel = cached->second;
    return cudaSuccess;
  }
  const cudaError_t error = ask_for_kernel(*name, kernel);
  if (error == cudaSuccess) all.kernels[function] = kernel;
  return error;
}

cudaError_t find_variable(const void* variable, std::uint64_t& address, std::uint64_t& bytes) {
  std::string name;
  {
    Known& all = known();
    const std::lock_guard lock(all.mutex);
    const std::string* const found = name_of(all.variable_names, variable);
    if (found == nullptr) return cudaErrorInvalidSymbol;
    name = *found;
  }
  const Answer answer = ask(command(Kind::find_variable), {name.data(), name.size()});
  address = answer.first;
  bytes = answer.second;
  return static_cast<cudaError_t>(answer.error);
}

}  // namespace gauntlet::cuda_runtime

using gauntlet::cuda_runtime::known;

extern "C" {
// Names that clang's code calls. NOLINTBEGIN(bugprone-reserved-identifier)

void** __cudaRegisterFatBinary(void* /*binary*/) {
  static void* handle = nullptr;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void** /*handle*/) {}
void __cudaUnregisterFatBinary(void** /*handle*/) {}

void __cudaRegisterFunction(void** /*handle*/, const char* function, char* /*device_function*/,
                            const char* device_name, int /*thread_limit*/, void* /*thread*/,
                            void* /*block*/, void* /*block_size*/, void* /*grid_size*/,
                            int* /*warp_size*/) {
  const std::lock_guard lock(known().mutex);
  known().kernel_names[function] = device_name;
}

void __cudaRegisterVar(void** /*handle*/, char* variable, char* /*device_address*/,
                       const char* device_name, int /*external*/, std::size_t /*bytes*/,
                       int /*constant*/, int /*global*/) {
  const std::lock_guard lock(known().mutex);
  known().variable_names[variable] = device_name;
}

// NOLINTEND(bugprone-reserved-identifier)
}
