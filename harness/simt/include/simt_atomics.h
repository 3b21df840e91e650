// SPDX-License-Identifier: Apache-2.0
// Atomic functions. The _block and _system forms are the same here: one device, and an order of all
// its atomics that everybody agrees about.
#pragma once

#include <simt_qualifiers.h>

#define SIMT_ATOMIC(name, T, call)                      \
  SIMT_DEVICE T atomic##name(T* at, T value) {          \
    return call;                                        \
  }                                                     \
  SIMT_DEVICE T atomic##name##_block(T* at, T value) {  \
    return call;                                        \
  }                                                     \
  SIMT_DEVICE T atomic##name##_system(T* at, T value) { \
    return call;                                        \
  }

SIMT_ATOMIC(Add, int, __nvvm_atom_add_gen_i(at, value))
SIMT_ATOMIC(Add, unsigned int, (unsigned int)__nvvm_atom_add_gen_i((int*)at, (int)value))
SIMT_ATOMIC(Add, unsigned long long,
            (unsigned long long)__nvvm_atom_add_gen_ll((long long*)at, (long long)value))
SIMT_ATOMIC(Add, float, __nvvm_atom_add_gen_f(at, value))
SIMT_ATOMIC(Add, double, __nvvm_atom_add_gen_d(at, value))
SIMT_ATOMIC(Sub, int, __nvvm_atom_add_gen_i(at, (int)(0u - (unsigned int)value)))
SIMT_ATOMIC(Sub, unsigned int, (unsigned int)__nvvm_atom_add_gen_i((int*)at, (int)(0u - value)))

SIMT_ATOMIC(Exch, int, __nvvm_atom_xchg_gen_i(at, value))
SIMT_ATOMIC(Exch, unsigned int, (unsigned int)__nvvm_atom_xchg_gen_i((int*)at, (int)value))
SIMT_ATOMIC(Exch, unsigned long long,
            (unsigned long long)__nvvm_atom_xchg_gen_ll((long long*)at, (long long)value))
SIMT_ATOMIC(Exch, float,
            __builtin_bit_cast(float,
                               __nvvm_atom_xchg_gen_i((int*)at, __builtin_bit_cast(int, value))))

SIMT_ATOMIC(Min, int, __nvvm_atom_min_gen_i(at, value))
SIMT_ATOMIC(Min, unsigned int, __nvvm_atom_min_gen_ui(at, value))
SIMT_ATOMIC(Min, long long, __nvvm_atom_min_gen_ll(at, value))
SIMT_ATOMIC(Min, unsigned long long, __nvvm_atom_min_gen_ull(at, value))
SIMT_ATOMIC(Max, int, __nvvm_atom_max_gen_i(at, value))
SIMT_ATOMIC(Max, unsigned int, __nvvm_atom_max_gen_ui(at, value))
SIMT_ATOMIC(Max, long long, __nvvm_atom_max_gen_ll(at, value))
SIMT_ATOMIC(Max, unsigned long long, __nvvm_atom_max_gen_ull(at, value))

#define SIMT_ATOMIC_BITS(name, op)                                                              \
  SIMT_ATOMIC(name, int, __nvvm_atom_##op##_gen_i(at, value))                                   \
  SIMT_ATOMIC(name, unsigned int, (unsigned int)__nvvm_atom_##op##_gen_i((int*)at, (int)value)) \
  SIMT_ATOMIC(name, unsigned long long,                                                         \
              (unsigned long long)__nvvm_atom_##op##_gen_ll((long long*)at, (long long)value))
SIMT_ATOMIC_BITS(And, and)
SIMT_ATOMIC_BITS(Or, or)
SIMT_ATOMIC_BITS(Xor, xor)

SIMT_ATOMIC(Inc, unsigned int, __nvvm_atom_inc_gen_ui(at, value))
SIMT_ATOMIC(Dec, unsigned int, __nvvm_atom_dec_gen_ui(at, value))
#undef SIMT_ATOMIC_BITS
#undef SIMT_ATOMIC

#define SIMT_CAS(T, S, kind)                                            \
  SIMT_DEVICE T atomicCAS(T* at, T compare, T value) {                  \
    return (T)__nvvm_atom_cas_gen_##kind((S*)at, (S)compare, (S)value); \
  }                                                                     \
  SIMT_DEVICE T atomicCAS_block(T* at, T compare, T value) {            \
    return (T)__nvvm_atom_cas_gen_##kind((S*)at, (S)compare, (S)value); \
  }                                                                     \
  SIMT_DEVICE T atomicCAS_system(T* at, T compare, T value) {           \
    return (T)__nvvm_atom_cas_gen_##kind((S*)at, (S)compare, (S)value); \
  }
SIMT_CAS(int, int, i)
SIMT_CAS(unsigned int, int, i)
SIMT_CAS(unsigned long long, long long, ll)
#undef SIMT_CAS
