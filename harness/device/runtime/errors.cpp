// SPDX-License-Identifier: Apache-2.0
#include "harness/simt/include/cuda_runtime_api.h"

namespace {

struct ErrorText {
  cudaError_t error;
  const char* name;
  const char* text;
};

constexpr ErrorText kTexts[] = {
#define ENTRY(name, text) \
  { name, #name, text }
    ENTRY(cudaSuccess, "no error"),
    ENTRY(cudaErrorInvalidValue, "invalid argument"),
    ENTRY(cudaErrorMemoryAllocation, "out of memory"),
    ENTRY(cudaErrorInitializationError, "initialization error"),
    ENTRY(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    ENTRY(cudaErrorInvalidPitchValue, "invalid pitch argument"),
    ENTRY(cudaErrorInvalidSymbol, "invalid device symbol"),
    ENTRY(cudaErrorInvalidDevicePointer, "invalid device pointer"),
    ENTRY(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    ENTRY(cudaErrorInvalidDeviceFunction, "invalid device function"),
    ENTRY(cudaErrorNoDevice, "no device answers"),
    ENTRY(cudaErrorInvalidDevice, "invalid device ordinal"),
    ENTRY(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    ENTRY(cudaErrorNotReady, "device not ready"),
    ENTRY(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    ENTRY(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    ENTRY(cudaErrorLaunchTimeout, "the launch timed out and was terminated"),
    ENTRY(cudaErrorAssert, "device-side assert triggered"),
    ENTRY(cudaErrorMisalignedAddress, "misaligned address"),
    ENTRY(cudaErrorLaunchFailure, "unspecified launch failure"),
    ENTRY(cudaErrorNotPermitted, "operation not permitted"),
    ENTRY(cudaErrorNotSupported, "operation not supported"),
    ENTRY(cudaErrorUnknown, "unknown error"),
#undef ENTRY
};

}  // namespace

extern "C" {

const char* cudaGetErrorName(cudaError_t error) {
  for (const ErrorText& known : kTexts)
    if (known.error == error) return known.name;
  return "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  for (const ErrorText& known : kTexts)
    if (known.error == error) return known.text;
  return "unrecognized error code";
}
}
