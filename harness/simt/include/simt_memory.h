// SPDX-License-Identifier: Apache-2.0
// Loads and stores with a cache hint, which changes nothing that is counted here; address spaces;
// what a thread can do besides computing.
#pragma once

#include <simt_qualifiers.h>

#define SIMT_LOAD(name)             \
  template <class T>                \
  SIMT_DEVICE T name(const T* at) { \
    return *at;                     \
  }
SIMT_LOAD(__ldg)
SIMT_LOAD(__ldca)
SIMT_LOAD(__ldcg)
SIMT_LOAD(__ldcs)
SIMT_LOAD(__ldlu)
#undef SIMT_LOAD
template <class T>
SIMT_DEVICE T __ldcv(const T* at) {
  return *(const volatile T*)at;
}

#define SIMT_STORE(name)                  \
  template <class T>                      \
  SIMT_DEVICE void name(T* at, T value) { \
    *at = value;                          \
  }
SIMT_STORE(__stwb)
SIMT_STORE(__stcg)
SIMT_STORE(__stcs)
SIMT_STORE(__stwt)
#undef SIMT_STORE

SIMT_DEVICE unsigned long __cvta_generic_to_shared(const void* at) {
  return (unsigned long)(__attribute__((address_space(3))) const void*)at;
}
SIMT_DEVICE unsigned long __cvta_generic_to_global(const void* at) {
  return (unsigned long)(__attribute__((address_space(1))) const void*)at;
}

SIMT_DEVICE void __trap() {
  __asm__ volatile("trap;");
}
SIMT_DEVICE void __nanosleep(unsigned int ns) {
  __asm__ volatile("nanosleep.u32 %0;" ::"r"(ns));
}
