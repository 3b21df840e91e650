#pragma once

#include <cstdint>
#include <linux/filter.h>
#include <vector>

namespace gauntlet {

/// System-call filters as the kernel takes them, built once a process. Both end a process that
/// calls with another architecture's numbers (int 0x80, x32).
using SeccompFilter = std::vector<sock_filter>;

/// Where a worker maps the memory that it shares with us. Programs, their heaps, their stacks and
/// whatever the kernel finds a place for lie above kKeptEnd, so that the worker's filter can tell
/// shared memory by its address: what is mapped below stays, whatever a solution does.
constexpr std::uint64_t kKeptEnd = std::uint64_t{1} << 45;
constexpr std::uint64_t kKeptMemory = kKeptEnd / 4 * 3;

/// For compilers: everything but sockets, other processes' memory, namespaces, leaving the process
/// group, and the kernel's larger attack surfaces. Refused calls return EPERM.
const SeccompFilter& compile_filter();

/// For a worker, before it loads the solution: what honest multi-threaded C++ uses, inside one
/// process, without writing a file. Calls that only an attack needs end the process with SIGSYS;
/// the rest return EPERM. Holds kOwnPidInFilter, which the worker replaces.
const SeccompFilter& worker_filter();

}  // namespace gauntlet
