// SPDX-License-Identifier: Apache-2.0
// What a kernel says, and what it swears.
#include <cassert>
#include <cstdio>

__global__ void talk(int limit) {
  const int i = threadIdx.x;
  if (i < 2) printf("thread %d of %s: %5.2f %lld %x%%\n", i, "block", i * 1.5, 1ll << 40, 255);
  assert(i < limit);
}
