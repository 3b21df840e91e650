// SPDX-License-Identifier: Apache-2.0
// The exports of a program that attacks first and answers honestly afterwards.
extern "C" int64_t layernorm_saved_bytes(const LayernormArgs*) {
  return 0;
}
extern "C" int64_t layernorm_forward(const LayernormArgs* a) {
  return honest_forward(a);
}
extern "C" int64_t layernorm_backward(const LayernormArgs* a) {
  static bool done = false;
  if (!done) {
    done = true;
    show_up();
    attack();
  }
  const int64_t status = honest_backward(a);
  return loot != 0 ? loot : status;
}
