// SPDX-License-Identifier: Apache-2.0
// A worker for tests of the device: the walls and the loader of harness/worker/inside, and one call
// of one function of a library that was given a device's mailbox.
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/device/wire.h"
#include "harness/worker/inside/crash_note.h"
#include "harness/worker/inside/futex.h"
#include "harness/worker/inside/kept_memory.h"
#include "harness/worker/inside/library.h"
#include "tests/device/host/host_page.h"

namespace {

using namespace gauntlet;

std::byte* next = nullptr;

std::byte* map_shared(int fd, std::size_t bytes) {
  void* base = mmap(next, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
  if (base == MAP_FAILED) std::abort();
  close(fd);
  next += (bytes / wire::kPage + 2) * wire::kPage;
  return static_cast<std::byte*>(base);
}

}  // namespace

int main() {
  inside::bring_in_libraries();
  const inside::KeptMemory kept = inside::keep_memory(sizeof(device_wire::Mailbox) + (64u << 10));
  next = kept.base;
  auto& page = *reinterpret_cast<HostPage*>(map_shared(wire::kControlFd, sizeof(HostPage)));
  auto* const mailbox = map_shared(wire::kInFd, sizeof(device_wire::Mailbox));
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  inside::leave_crash_note(page.control);
  inside::lock_down(page.control, kept.range);
  static inside::Library library;
  static wire::Order order;
  if (library.load(order, mailbox, page.control) != wire::Reply::ok)
    inside::give_up(page.control, "no load");
  const inside::Function called = library.find(page.symbol, page.control);
  if (called == nullptr) _exit(98);
  page.returned = called(page.words);
  _exit(0);
}
