// SPDX-License-Identifier: Apache-2.0
#include "harness/device/runtime/mailbox.h"

#include <cstring>
#include <ctime>
#include <linux/futex.h>
#include <mutex>
#include <sys/syscall.h>
#include <unistd.h>

namespace gauntlet::cuda_runtime {
namespace {

using device_wire::Answer;

device_wire::Mailbox* mailbox = nullptr;
std::mutex& turn() {
  static std::mutex mutex;  // in a function: kernels register before anything of ours is made
  return mutex;
}
cudaError_t sticky = cudaSuccess;  // read and written by whose turn it is

bool stays(std::uint32_t error) {
  switch (error) {
    case cudaErrorNoDevice:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorMisalignedAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorUnknown:
      return true;
    default:
      return false;
  }
}

Answer failed(cudaError_t error) {
  Answer answer{};
  answer.error = error;
  return answer;
}

/// Until the word has the value. Looks up now and then whether there is anybody who could set it.
bool await(device_wire::Word& word, std::uint32_t wanted) {
  for (int n = 0; n < 500; ++n) {
    if (word.load(std::memory_order_acquire) == wanted) return true;
    __builtin_ia32_pause();
  }
  constexpr timespec kLook{0, 100'000'000};
  while (true) {
    const std::uint32_t now = word.load(std::memory_order_acquire);
    if (now == wanted) return true;
    if (mailbox->gone.load() != 0) return false;
    syscall(SYS_futex, &word, FUTEX_WAIT, now, &kLook, nullptr, 0);
  }
}

}  // namespace

Answer ask(const device_wire::Command& command, const Payload& payload) {
  const std::lock_guard lock(turn());
  if (mailbox == nullptr) return failed(cudaErrorInitializationError);
  if (sticky != cudaSuccess) return failed(sticky);
  if (payload.out_bytes > device_wire::kPayload) return failed(cudaErrorInvalidValue);
  if (payload.out_bytes != 0) std::memcpy(mailbox->payload, payload.out, payload.out_bytes);
  mailbox->command = command;
  mailbox->command.payload_bytes = static_cast<std::uint32_t>(payload.out_bytes);
  const std::uint32_t number = mailbox->answered.load() + 1;
  mailbox->asked.store(number, std::memory_order_release);
  syscall(SYS_futex, &mailbox->asked, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  const Answer answer =
      await(mailbox->answered, number) ? mailbox->answer : failed(cudaErrorNoDevice);
  if (stays(answer.error)) sticky = static_cast<cudaError_t>(answer.error);
  if (answer.error == cudaSuccess && payload.in != nullptr)
    std::memcpy(payload.in, mailbox->payload,
                answer.payload_bytes < payload.most_in ? answer.payload_bytes : payload.most_in);
  return answer;
}

namespace {

thread_local cudaError_t last_error = cudaSuccess;

}  // namespace

cudaError_t noted(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

}  // namespace gauntlet::cuda_runtime

using gauntlet::cuda_runtime::last_error;
using gauntlet::cuda_runtime::sticky;

extern "C" {

/// Called by the worker once the library is loaded, as it calls every function of a library, with
/// the mailbox that it mapped before.
__attribute__((visibility("default"))) std::int64_t gauntlet_attach_device(const void* mapped) {
  gauntlet::cuda_runtime::mailbox =
      static_cast<gauntlet::device_wire::Mailbox*>(const_cast<void*>(mapped));
  return 0;
}

cudaError_t cudaPeekAtLastError() {
  const std::lock_guard lock(gauntlet::cuda_runtime::turn());
  return sticky != cudaSuccess ? sticky : last_error;
}

cudaError_t cudaGetLastError() {
  const cudaError_t told = cudaPeekAtLastError();
  last_error = cudaSuccess;
  return told;
}
}
