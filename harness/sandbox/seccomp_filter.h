// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <linux/filter.h>
#include <vector>

namespace gauntlet {

/// System-call filters as the kernel takes them, built once a process. Both end a process that
/// calls with another architecture's numbers (int 0x80, x32).
using SeccompFilter = std::vector<sock_filter>;

/// A worker's kept memory is the libraries and what it shares with us: above an address that the
/// worker fills in (kKeptInFilter), what is mapped stays, whatever a solution does. A filter cannot
/// add an address and a length. So every length has to be less than this, and as much address space
/// with nothing in it lies before the first kept page, and before the libraries.
constexpr std::uint64_t kKeptGuard = std::uint64_t{1} << 40;

/// For compilers: everything but sockets, other processes' memory, namespaces, leaving the process
/// group, and the kernel's larger attack surfaces. Refused calls return EPERM.
const SeccompFilter& compile_filter();

/// For a worker, before it loads the solution: what honest multi-threaded C++ uses, inside one
/// process, without writing a file. Calls that only an attack needs end the process with SIGSYS;
/// the rest return EPERM. Has blanks, which the worker fills in (filter_blanks).
const SeccompFilter& worker_filter();

}  // namespace gauntlet
