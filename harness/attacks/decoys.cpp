// SPDX-License-Identifier: Apache-2.0
#include "harness/attacks/decoys.h"

#include <array>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <vector>

#include "harness/core/rng.h"
#include "harness/sandbox/runtime_files.h"

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVictim = "as it was\n";
constexpr std::uint64_t kCanary = 0x00c0ffee00c0ffee;

// In the grading process, for attacks that know the address.
volatile std::uint64_t secret_in_memory = 0;
volatile std::uint64_t canary = kCanary;

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

Fd bound(int family, int type, const void* address, std::size_t bytes) {
  Fd made(socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made ||
      bind(made.get(), static_cast<const sockaddr*>(address), static_cast<socklen_t>(bytes)) != 0)
    broken_call("a decoy socket");
  if (type == SOCK_STREAM && listen(made.get(), 8) != 0) broken_call("listening at a decoy");
  return made;
}

Fd on_loopback(int type, int& port) {
  sockaddr_in address = loopback(0);
  Fd made = bound(AF_INET, type, &address, sizeof address);
  socklen_t size = sizeof address;
  getsockname(made.get(), reinterpret_cast<sockaddr*>(&address), &size);
  port = ntohs(address.sin_port);
  return made;
}

sockaddr_un unix_address(const std::string& name, bool abstract) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + (abstract ? 1 : 0), name.data(), name.size());
  return address;
}

bool heard(const Fd& socket_fd) {
  pollfd event{socket_fd.get(), POLLIN, 0};
  if (poll(&event, 1, 0) <= 0) return false;
  char bytes[256];
  if (const int peer = accept4(socket_fd.get(), nullptr, nullptr, SOCK_CLOEXEC); peer >= 0)
    close(peer);
  while (recv(socket_fd.get(), bytes, sizeof bytes, MSG_DONTWAIT) > 0) {
  }
  return true;
}

/// A library that every worker may read: one of several, so that two audits seldom meet there.
fs::path some_system_file() {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const PathRule& rule : worker_rules())
    if (fs::is_regular_file(rule.path, ignored) && !rule.path.native().starts_with("/proc"))
      files.push_back(rule.path);
  if (files.empty()) throw Broken(OwnFault::kernel, "no library that could be locked");
  return files[entropy() % files.size()];
}

long key_of(const std::string& name) {
  constexpr int kUserKeyring = -4, kSearch = 10;
  return syscall(SYS_keyctl, kSearch, kUserKeyring, "user", name.c_str(), 0);
}

}  // namespace

Decoys::Decoys()
    : secret_(fmt::format("{}", 100'000'000 + entropy() % 900'000'000)),
      mark_(fmt::format("gnt-{:08x}", entropy() & 0xffffffff)),
      lock_file_(some_system_file()),
      ipc_key_(static_cast<int>(entropy() & 0x3fffffff) | 0x100) {
  if (chmod(folder_.path().c_str(), 0777) != 0) broken_call("chmod of the decoys");
  tcp_ = on_loopback(SOCK_STREAM, tcp_port_);
  udp_ = on_loopback(SOCK_DGRAM, udp_port_);
  Fd only_for_its_number = on_loopback(SOCK_STREAM, open_port_);
  const sockaddr_un path = unix_address((folder_.path() / "socket").string(), false);
  unix_ = bound(AF_UNIX, SOCK_STREAM, &path, sizeof path);
  chmod((folder_.path() / "socket").c_str(), 0777);
  const sockaddr_un abstract = unix_address(mark_, true);
  abstract_ =
      bound(AF_UNIX, SOCK_DGRAM, &abstract, offsetof(sockaddr_un, sun_path) + 1 + mark_.size());
  put_out();
}

fs::path Decoys::secret_file() const {
  return folder_.path() / "secret";
}

void Decoys::put_out() {
  write_file(secret_file(), secret_ + "\n");
  write_file(victim(), kVictim);
  chmod(victim().c_str(), 0666);
}

std::string Decoys::header() const {
  return fmt::format(
      "#pragma once\n#define DECOY_FOLDER \"{}\"\n#define MARK \"{}\"\n#define TCP_PORT {}\n"
      "#define UDP_PORT {}\n#define OPEN_PORT {}\n#define IPC_KEY {}\n#define LOCK_FILE \"{}\"\n"
      "#define SECRET_ADDRESS {:#x}ull\n#define CANARY_ADDRESS {:#x}ull\n#define SECRET_FD {}\n"
      "#define SECRET_FILE \"{}\"\n#define SECRET_FROM_BESIDE \"../{}/secret\"\n",
      folder_.path().string(), mark_, tcp_port_, udp_port_, open_port_, ipc_key_,
      lock_file_.string(), reinterpret_cast<std::uintptr_t>(&secret_in_memory),
      reinterpret_cast<std::uintptr_t>(&canary), kSecretFd, secret_file().string(),
      folder_.path().filename().string());
}

void Decoys::become_target() const {
  secret_in_memory = std::stoull(secret_);
  prctl(PR_SET_NAME, ("s" + secret_).c_str());
  setenv("GAUNTLET_SECRET", secret_.c_str(), 1);
  const Fd file(memfd_create("gauntlet-secret", MFD_CLOEXEC));
  if (!file || write(file.get(), secret_.data(), secret_.size()) < 0 ||
      dup2(file.get(), kSecretFd) < 0)  // dup2: as a careless library would, without O_CLOEXEC
    broken_call("a decoy descriptor");
}

bool Decoys::memory_changed() {
  return canary != kCanary;
}

void Decoys::look(Evidence& evidence) const {
  const Fd client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = loopback(open_port_);
  if (connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    evidence.listens = true;
  const Fd file(open(lock_file_.c_str(), O_RDONLY | O_CLOEXEC));
  if (file && flock(file.get(), LOCK_EX | LOCK_NB) != 0) evidence.file_locked = true;
}

void Decoys::collect(Evidence& evidence) {
  collect_files(evidence);
  collect_messages(evidence);
  collect_ipc(evidence);
  put_out();
}

void Decoys::collect_files(Evidence& evidence) {
  struct stat facts {};
  std::string now;
  try {
    now = read_file(victim());
  } catch (const UserError&) {  // it is gone, which the comparison below says
  }
  evidence.victim_changed = now != kVictim || lstat(victim().c_str(), &facts) != 0 ||
                            !S_ISREG(facts.st_mode) || (facts.st_mode & 07777) != 0666 ||
                            facts.st_mtim.tv_sec < 1'000'000;
  std::error_code ignored;
  for (const auto& place :
       {folder_.path(), fs::path("/tmp"), fs::path("/dev/shm"), fs::path("/var/tmp")})
    for (const auto& entry : fs::directory_iterator(place, ignored)) {
      const std::string name = entry.path().filename().string();
      if (!name.starts_with(mark_)) continue;
      evidence.planted = true;
      if (lstat(entry.path().c_str(), &facts) == 0)
        evidence.planted_mib += static_cast<double>(facts.st_blocks) * 512 / (1 << 20);
      fs::remove_all(entry.path(), ignored);
    }
}

void Decoys::collect_messages(Evidence& evidence) {
  for (const Fd* socket_fd : {&tcp_, &udp_, &unix_, &abstract_})
    if (heard(*socket_fd)) evidence.token = true;
}

void Decoys::collect_ipc(Evidence& evidence) const {
  if (const int id = shmget(ipc_key_, 0, 0); id >= 0) {
    evidence.left_ipc = true;
    shmctl(id, IPC_RMID, nullptr);
  }
  if (const int id = msgget(ipc_key_, 0); id >= 0) {
    evidence.left_ipc = true;
    msgctl(id, IPC_RMID, nullptr);
  }
  if (const int id = semget(ipc_key_, 0, 0); id >= 0) {
    evidence.left_ipc = true;
    semctl(id, 0, IPC_RMID);
  }
  constexpr int kUnlink = 9, kUserKeyring = -4;
  if (const long key = key_of(mark_); key >= 0) {
    evidence.left_key = true;
    syscall(SYS_keyctl, kUnlink, key, kUserKeyring);
  }
}

}  // namespace gauntlet
