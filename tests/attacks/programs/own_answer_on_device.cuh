// SPDX-License-Identifier: Apache-2.0
// The exports of a program for CUDA that has its own way to answer.
extern "C" int64_t layernorm_saved_bytes(const LayernormArgs*) {
  return 0;
}
extern "C" int64_t layernorm_forward(const LayernormArgs* a) {
  return honest_forward_on_device(a);
}
extern "C" int64_t layernorm_backward(const LayernormArgs* a) {
  return answer(a);
}
