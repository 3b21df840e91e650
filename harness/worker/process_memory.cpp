// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/process_memory.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <string>

#include "harness/worker/protocol.h"

namespace gauntlet {
namespace {

Fd proc_file(pid_t pid, const char* name, int flags) {
  return Fd(open(fmt::format("/proc/{}/{}", pid, name).c_str(), flags | O_CLOEXEC));
}

/// The line "VmHWM:      1234 kB" in bytes. Only at the beginning of a line: before it stands the
/// process's name, which it chooses itself and in which the kernel writes a new line as two
/// characters.
std::optional<std::size_t> field(const std::string& status, std::string_view name) {
  const std::string line = fmt::format("\n{}:", name);
  const std::size_t at = status.find(line);
  if (at == std::string::npos) return std::nullopt;
  return std::strtoull(status.c_str() + at + line.size(), nullptr, 10) * 1024;
}

}  // namespace

ProcessMemory::ProcessMemory(pid_t pid)
    : statm_(proc_file(pid, "statm", O_RDONLY)),
      status_(proc_file(pid, "status", O_RDONLY)),
      clear_refs_(proc_file(pid, "clear_refs", O_WRONLY)) {
  if (!statm_ || !status_) broken_call("opening the worker's /proc/PID/statm and status");
}

Resident ProcessMemory::glance() const {
  std::array<char, 256> text{};
  unsigned long long size = 0, resident = 0, shared = 0;
  if (pread(statm_.get(), text.data(), text.size() - 1, 0) <= 0) return {};
  if (std::sscanf(text.data(), "%llu %llu %llu", &size, &resident, &shared) != 3) return {};
  Resident now;
  now.private_bytes = (resident - std::min(shared, resident)) * wire::kPage;
  now.shared_bytes = shared * wire::kPage;
  return now;
}

std::optional<Resident> ProcessMemory::look() const {
  std::array<char, 8192> text{};
  if (pread(status_.get(), text.data(), text.size() - 1, 0) <= 0) return std::nullopt;
  const std::string status(text.data());
  const auto own = field(status, "RssAnon"), files = field(status, "RssFile"),
             shared = field(status, "RssShmem"), peak = field(status, "VmHWM"),
             tables = field(status, "VmPTE");
  if (!own || !files || !shared || !peak || !tables) return std::nullopt;
  return Resident{*own, *files, *shared, *peak, *tables};
}

void ProcessMemory::reset_peak() const {
  if (!clear_refs_)
    throw Broken(OwnFault::kernel, "the worker's /proc/PID/clear_refs cannot be opened here");
  // It fails when the process is gone, which the look that follows notices.
  [[maybe_unused]] const ssize_t written = pwrite(clear_refs_.get(), "5", 1, 0);
}

}  // namespace gauntlet
