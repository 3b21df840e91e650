// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <seccomp.h>
#include <string_view>

#include "harness/sandbox/seccomp_filter.h"

namespace gauntlet {

/// Conditions on the arguments of a system call, compared as 64 bits: a value with high bits that
/// the kernel would cut off matches nothing that is written here.
constexpr scmp_arg_cmp arg_is(unsigned index, std::uint64_t value) {
  return {index, SCMP_CMP_EQ, value, 0};
}
constexpr scmp_arg_cmp arg_is_not(unsigned index, std::uint64_t value) {
  return {index, SCMP_CMP_NE, value, 0};
}
constexpr scmp_arg_cmp arg_at_most(unsigned index, std::uint64_t value) {
  return {index, SCMP_CMP_LE, value, 0};
}
constexpr scmp_arg_cmp arg_below(unsigned index, std::uint64_t value) {
  return {index, SCMP_CMP_LT, value, 0};
}
constexpr scmp_arg_cmp arg_masked(unsigned index, std::uint64_t mask, std::uint64_t value) {
  return {index, SCMP_CMP_MASKED_EQ, mask, value};
}

/// Collects the rules of one filter; what no rule matches gets the default action. Calls with
/// another architecture's numbers kill the process.
class FilterBuilder {
 public:
  explicit FilterBuilder(std::uint32_t default_action);

  /// A name that this architecture or this libseccomp does not know is skipped.
  void add(std::uint32_t action, std::string_view name,
           std::initializer_list<scmp_arg_cmp> when = {});

  /// `names` are separated by blanks.
  void add_all(std::uint32_t action, std::string_view names);

  SeccompFilter program() const;

 private:
  std::unique_ptr<void, decltype(&seccomp_release)> context_;
};

SeccompFilter build_compile_filter();
SeccompFilter build_worker_filter();

}  // namespace gauntlet
