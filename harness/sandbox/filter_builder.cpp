// SPDX-License-Identifier: Apache-2.0
#include "harness/sandbox/filter_builder.h"

#include <algorithm>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>

#include "harness/sandbox/fd.h"

namespace gauntlet {
namespace {

void must(int result) {
  if (result != 0)
    throw Broken(OwnFault::sandbox, fmt::format("libseccomp: {}", std::strerror(-result)));
}

}  // namespace

FilterBuilder::FilterBuilder(std::uint32_t default_action)
    : context_(seccomp_init(default_action), seccomp_release) {
  if (!context_) throw Broken(OwnFault::sandbox, "libseccomp: cannot start a filter");
  must(seccomp_attr_set(context_.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS));
  must(seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2));  // a binary tree
}

void FilterBuilder::add(std::uint32_t action, std::string_view name,
                        std::initializer_list<scmp_arg_cmp> when) {
  const int number = seccomp_syscall_resolve_name(std::string(name).c_str());
  if (number == __NR_SCMP_ERROR) return;
  must(seccomp_rule_add_array(context_.get(), action, number, static_cast<unsigned>(when.size()),
                              when.begin()));
}

void FilterBuilder::add_all(std::uint32_t action, std::string_view names) {
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(' '), names.size());
    if (end > 0) add(action, names.substr(0, end));
    names.remove_prefix(std::min(end + 1, names.size()));
  }
}

SeccompFilter FilterBuilder::program() const {
  const Fd file(memfd_create("gauntlet-filter", MFD_CLOEXEC));
  if (!file) broken_call("memfd_create for a seccomp filter");
  must(seccomp_export_bpf(context_.get(), file.get()));
  struct stat facts {};
  if (fstat(file.get(), &facts) != 0) broken_call("fstat of a seccomp filter");
  SeccompFilter filter(static_cast<std::size_t>(facts.st_size) / sizeof(sock_filter));
  if (pread(file.get(), filter.data(), filter.size() * sizeof(sock_filter), 0) != facts.st_size)
    broken_call("reading a seccomp filter");
  return filter;
}

const SeccompFilter& compile_filter() {
  static const SeccompFilter filter = build_compile_filter();
  return filter;
}

const SeccompFilter& worker_filter() {
  static const SeccompFilter filter = build_worker_filter();
  return filter;
}

}  // namespace gauntlet
