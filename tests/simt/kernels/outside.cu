// SPDX-License-Identifier: Apache-2.0
// Outside the feature set: an instruction that no rule takes for another.
__global__ void outside(int* x) {
  asm volatile("cp.async.bulk.commit_group;");
  x[0] = 1;
}
