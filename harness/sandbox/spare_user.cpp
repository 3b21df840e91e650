#include "harness/sandbox/spare_user.h"

#include <array>
#include <cstddef>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace gauntlet {
namespace {

constexpr uid_t kFirst = 60001;
constexpr uid_t kLast = 60999;

bool has_account(uid_t id) {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> text;
  return getpwuid_r(id, &entry, text.data(), text.size(), &found) == 0 && found != nullptr;
}

/// Binds an abstract socket named after the uid. The kernel lets only one process hold the name and
/// gives it back however that process ends, which no lock file does.
Fd claim(uid_t id) {
  Fd socket_fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket_fd) broken_call("claiming a user id: socket");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = fmt::format("gauntlet-uid-{}", id);
  std::memcpy(address.sun_path + 1, name.data(), name.size());  // a leading 0 makes it abstract
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (bind(socket_fd.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0)
    return socket_fd;
  return Fd();
}

}  // namespace

std::optional<SpareUser> SpareUser::take_if_root() {
  if (geteuid() != 0) return std::nullopt;
  for (uid_t id = kFirst; id <= kLast; ++id) {
    if (Fd held = claim(id); held && !has_account(id)) return SpareUser(id, std::move(held));
  }
  throw Broken(fmt::format("every user id from {} to {} is taken", kFirst, kLast));
}

}  // namespace gauntlet
