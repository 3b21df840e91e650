#include "harness/worker/process_memory.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <string>

#include "harness/worker/protocol.h"

namespace gauntlet {
namespace {

/// "VmHWM:      1234 kB" in bytes.
std::size_t field(const std::string& status, const char* name) {
  const std::size_t at = status.find(name);
  if (at == std::string::npos) throw Broken(fmt::format("/proc/PID/status has no {}", name));
  return std::strtoull(status.c_str() + at + std::strlen(name), nullptr, 10) * 1024;
}

}  // namespace

ProcessMemory::ProcessMemory(pid_t pid)
    : pid_(pid), statm_(open(fmt::format("/proc/{}/statm", pid).c_str(), O_RDONLY | O_CLOEXEC)) {
  if (!statm_) broken_call("opening the worker's /proc/PID/statm");
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

Resident ProcessMemory::look() const {
  const Fd file(open(fmt::format("/proc/{}/status", pid_).c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 8192> text{};
  if (!file || read(file.get(), text.data(), text.size() - 1) <= 0)
    broken_call("reading the worker's /proc/PID/status");
  const std::string status(text.data());
  return {field(status, "RssAnon:"), field(status, "RssFile:"), field(status, "RssShmem:"),
          field(status, "VmHWM:")};
}

void ProcessMemory::reset_peak() const {
  const Fd file(open(fmt::format("/proc/{}/clear_refs", pid_).c_str(), O_WRONLY | O_CLOEXEC));
  if (!file || write(file.get(), "5", 1) != 1)
    broken_call("resetting the worker's peak memory (/proc/PID/clear_refs)");
}

}  // namespace gauntlet
