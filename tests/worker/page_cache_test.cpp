// SPDX-License-Identifier: Apache-2.0
// That no run leaves word for the next in the pages of files that the kernel keeps in memory: what
// a worker may read is there already, and it can neither read nor drop anything else.

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "harness/sandbox/fd.h"
#include "harness/sandbox/runtime_files.h"
#include "worker_fixture.h"

using namespace gauntlet;
using namespace gauntlet::test;

namespace {

/// A system file as the kernel keeps it.
class Cached {
 public:
  explicit Cached(const std::filesystem::path& path)
      : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)),
        bytes_(std::filesystem::file_size(path)),
        base_(mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, file_.get(), 0)) {
    REQUIRE(base_ != MAP_FAILED);
  }
  ~Cached() { munmap(base_, bytes_); }

  void drop() const { posix_fadvise(file_.get(), 0, 0, POSIX_FADV_DONTNEED); }

  std::size_t pages() const { return (bytes_ + 4095) / 4096; }
  std::size_t resident() const {
    std::vector<unsigned char> pages_in(pages());
    REQUIRE(mincore(base_, bytes_, pages_in.data()) == 0);
    return static_cast<std::size_t>(
        std::count_if(pages_in.begin(), pages_in.end(), [](auto page) { return page & 1; }));
  }

 private:
  Fd file_;
  std::size_t bytes_;
  void* base_;
};

bool may_ask() {
  if (geteuid() == 0) return true;  // others are told that everything is in memory
  MESSAGE("not root, whom alone the kernel tells which pages of system files it keeps");
  return false;
}

/// A file below /usr/lib that nobody uses now: it leaves the memory when it is told to.
std::filesystem::path unused_file() {
  for (const char* folder : {"/usr/lib/gcc", "/usr/lib"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(
             folder, std::filesystem::directory_options::skip_permission_denied)) {
      if (!entry.is_regular_file() || entry.is_symlink() || entry.file_size() < 1 << 16) continue;
      const Cached file(entry.path());
      file.drop();
      if (file.resident() == 0) return entry.path();
    }
  return {};
}

}  // namespace

TEST_CASE("a run cannot bring a system file into memory for the next run to find it there") {
  if (!may_ask()) return;
  const std::filesystem::path path = unused_file();
  REQUIRE_FALSE(path.empty());
  Solution solution(work(fmt::format(R"(
    const int fd = open("{}", O_RDONLY);
    char byte = 0;
    return fd >= 0 ? pread(fd, &byte, 1, 1 << 15) : 0;
  )",
                                     path.string()),
                         "#include <fcntl.h>\n#include <unistd.h>"));
  for (const bool mounts : {true, false}) {
    solution.config.walls.mounts = mounts;
    solution.open();
    const Cached file(path);
    file.drop();
    REQUIRE(file.resident() == 0);
    WorkCall call(4);
    solution.session->run(call);
    CHECK(call.returned == 0);
    CHECK(file.resident() == 0);
  }
}

TEST_CASE("what a worker may read is in memory before it starts, used or not") {
  if (!may_ask()) return;
  const Solution solution(work("return 0;"));
  const std::filesystem::path seldom_used = [] {
    for (const PathRule& rule : worker_rules())
      if (contains(rule.path.filename().string(), "libquadmath") && rule.access == PathAccess::read)
        return rule.path;
    return std::filesystem::path();
  }();
  if (!seldom_used.empty()) Cached(seldom_used).drop();
  WorkCall call(4);
  solution.session->run(call);
  for (const PathRule& rule : worker_rules()) {
    if (!rule.path.native().starts_with("/usr") || rule.access == PathAccess::link) continue;
    const Cached file(rule.path);
    CHECK_MESSAGE(file.resident() == file.pages(), rule.path.string());
  }
}

TEST_CASE("a worker has files of the system and lists no folder") {
  for (const PathRule& rule : worker_rules())
    if (std::filesystem::is_directory(rule.path) && rule.access != PathAccess::link)
      CHECK_MESSAGE(rule.access == PathAccess::read_known, rule.path.string());
}

TEST_CASE("what honest programs load or ask about the machine is within reach") {
  const Solution solution(work(R"(
    for (int64_t i = 0; i < args->count; ++i) args->y[i] = expf(args->x[i]) + sinf(args->x[i]);
    pthread_t thread;
    pthread_create(&thread, nullptr, [](void*) -> void* { for (;;) pause(); }, nullptr);
    pthread_cancel(thread);  // has libc load libgcc_s
    pthread_join(thread, nullptr);
    int loaded = 0;
    for (const char* name : {"libgomp.so.1", "libmvec.so.1", "libstdc++.so.6", "libpthread.so.0"})
      loaded += dlopen(name, RTLD_NOW) != nullptr;
    std::ifstream online("/sys/devices/system/cpu/online");
    std::string cores;
    loaded += bool(online >> cores) && std::thread::hardware_concurrency() > 0;
    return loaded;
  )",
                               "#pragma GCC optimize(\"fast-math\")\n#include <dlfcn.h>\n#include "
                               "<fstream>\n#include <math.h>\n#include <pthread.h>\n#include "
                               "<string>\n#include <thread>\n#include <unistd.h>"));
  for (const bool mounts : {true, false}) {
    WorkerConfig config = solution.config;
    config.walls.mounts = mounts;
    WorkerSession session(config);
    WorkCall call(4096);
    session.run(call);
    CHECK(call.returned == 5);
  }
}

TEST_CASE("no run drops from memory what the next would miss") {
  const Solution solution(work(R"(
    void* code = (void*)((uintptr_t)dlsym(RTLD_DEFAULT, "strlen") & ~4095ul);
    int refused = 0;
    for (int advice = 20; advice < 22; ++advice)
      refused += madvise(code, 4096, advice) != 0 && errno == EPERM;
    refused += syscall(SYS_madvise, code, 4096, 21 | 1ul << 32) != 0 && errno == EPERM;
    const int fd = open("/etc/ld.so.cache", O_RDONLY);
    refused += fd >= 0 && syscall(SYS_fadvise64, fd, 0, 0, 4) != 0 && errno == EPERM;
    refused += syscall(SYS_readahead, fd, 0, 4096) != 0 && errno == EPERM;
    return refused;
  )",
                               "#include <dlfcn.h>\n#include <errno.h>\n#include <fcntl.h>\n"
                               "#include <sys/mman.h>\n#include <sys/syscall.h>\n#include "
                               "<unistd.h>"));
  WorkCall call(4);
  solution.session->run(call);
  CHECK(call.returned == 5);
}
