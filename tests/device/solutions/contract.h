// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdint.h>

/* The contract of the tests of sessions on a device. */
enum { TEST_HOST = 0, TEST_CUDA = 1 };

struct DeviceTestArgs {
  int32_t device;
  void* stream;
  int64_t n;
  const float* x; /* [n] */
  float* y;       /* [n] */
  float* z;       /* [n], or null */
};
