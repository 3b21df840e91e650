// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/inside/library.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "harness/worker/inside/crash_note.h"

namespace gauntlet::inside {
namespace {

/// The dynamic symbol table of a loaded object.
struct Symbols {
  const ElfW(Sym) * table = nullptr;
  const char* names = nullptr;
  std::size_t count = 0;
};

/// GNU hash tables do not say how many symbols there are: the last chain's end does.
std::size_t count_symbols(const std::uint32_t* hash) {
  const std::uint32_t buckets = hash[0], first = hash[1], bloom_words = hash[2];
  const std::uint32_t* bucket = hash + 4 + bloom_words * (sizeof(void*) / 4);
  const std::uint32_t* chain = bucket + buckets;
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i < buckets; ++i) last = std::max(last, bucket[i]);
  if (last < first) return first;
  while ((chain[last - first] & 1) == 0) ++last;
  return last + 1;
}

Symbols symbols_of(void* handle) {
  link_map* map = nullptr;
  Symbols symbols;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) return symbols;
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    const auto* address = std::bit_cast<const void*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_SYMTAB) symbols.table = static_cast<const ElfW(Sym)*>(address);
    if (entry->d_tag == DT_STRTAB) symbols.names = static_cast<const char*>(address);
    if (entry->d_tag == DT_GNU_HASH)
      symbols.count = count_symbols(static_cast<const std::uint32_t*>(address));
  }
  return symbols;
}

/// "name\nname\n...", of the functions that the object defines itself, as far as they fit.
void list_exports(void* handle, char* text, std::size_t size) {
  const Symbols symbols = symbols_of(handle);
  std::size_t used = 0;
  text[0] = '\0';
  for (std::size_t i = 0; i < symbols.count; ++i) {
    const ElfW(Sym)& symbol = symbols.table[i];
    const unsigned type = symbol.st_info & 0xf, binding = symbol.st_info >> 4;
    if (symbol.st_shndx == SHN_UNDEF || type != STT_FUNC || binding != STB_GLOBAL) continue;
    const char* name = symbols.names + symbol.st_name;
    const std::size_t length = std::strlen(name);
    if (used + length + 2 > size) return;
    std::memcpy(text + used, name, length);
    used += length;
    text[used++] = '\n';
    text[used] = '\0';
  }
}

}  // namespace

void lock_down(wire::Control& control, const KeptRange& kept) {
  static sock_filter filter[4096];
  const ssize_t bytes = pread(wire::kFilterFd, filter, sizeof filter, 0);
  if (bytes <= 0 || bytes == sizeof filter) give_up(control, "no system-call filter");
  close(wire::kFilterFd);
  const std::size_t count = static_cast<std::size_t>(bytes) / sizeof(sock_filter);
  fill_blanks(filter, count, static_cast<std::uint32_t>(getpid()), kept);
  const sock_fprog program{static_cast<unsigned short>(count), filter};
  if (syscall(SYS_seccomp, 1 /* SECCOMP_SET_MODE_FILTER */, 0, &program) != 0)
    give_up(control, "the kernel refused the system-call filter");
}

bool Library::open(int fd, int scope, wire::Control& control) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  handle_ = dlopen(path, RTLD_NOW | scope);
  close(fd);
  if (handle_ == nullptr) std::snprintf(control.text, sizeof control.text, "%s", dlerror());
  return handle_ != nullptr;
}

wire::Reply Library::load(const wire::Order& order, const std::byte* device,
                          wire::Control& control) {
  // What the tests call is looked for in the global scope first: they cannot bring their own.
  if (!open(wire::kLibraryFd, order.has_tests ? RTLD_GLOBAL : RTLD_LOCAL, control))
    return wire::Reply::not_loaded;
  if (device != nullptr) {
    const Function attach = find(wire::kAttachDevice, control);
    if (attach == nullptr) return wire::Reply::no_symbol;
    attach(device);
  }
  for (std::uint32_t i = 0; i < order.export_count; ++i)
    if (find(order.exports[i], control) == nullptr) return wire::Reply::no_symbol;
  if (order.has_tests && !open(wire::kTestsFd, RTLD_LOCAL, control)) return wire::Reply::not_loaded;
  return wire::Reply::ok;
}

Function Library::find(const char* symbol, wire::Control& control) {
  void* found = dlsym(handle_, symbol);
  if (found == nullptr) {
    const int used = std::snprintf(control.text, sizeof control.text, "%s\n", symbol);
    list_exports(handle_, control.text + used,
                 sizeof control.text - static_cast<std::size_t>(used));
  }
  return reinterpret_cast<Function>(found);
}

}  // namespace gauntlet::inside
