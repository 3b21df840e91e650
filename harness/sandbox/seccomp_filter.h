#pragma once

#include <linux/filter.h>
#include <vector>

namespace gauntlet {

/// System-call filters as the kernel takes them, built once a process. Both end a process that
/// calls with another architecture's numbers (int 0x80, x32).
using SeccompFilter = std::vector<sock_filter>;

/// For compilers: everything but sockets, other processes' memory, namespaces, leaving the process
/// group, and the kernel's larger attack surfaces. Refused calls return EPERM.
const SeccompFilter& compile_filter();

/// For a worker, before it loads the solution: what honest multi-threaded C++ uses, inside one
/// process, without writing a file. Calls that only an attack needs end the process with SIGSYS;
/// the rest return EPERM. Holds kOwnPidInFilter, which the worker replaces.
const SeccompFilter& worker_filter();

}  // namespace gauntlet
