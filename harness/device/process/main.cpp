// SPDX-License-Identifier: Apache-2.0
// gauntlet-device: the process that owns device memory and executes kernels. It starts inside the
// walls that the grader put up, puts on the last one, and serves two sides until the grader's end
// of the socket is closed. It runs no code of a submission but by interpreting it.
//
// gauntlet-device BYTES: of device memory.

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <linux/filter.h>
#include <linux/futex.h>
#include <mutex>
#include <span>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/device/frame.h"
#include "harness/device/process/grader_side.h"
#include "harness/device/process/simulated.h"
#include "harness/device/process/worker_side.h"

namespace gauntlet::device_process {
namespace {

namespace frame = device_frame;

[[noreturn]] void give_up(const char* why) {
  std::fprintf(stderr, "%s\n", why);
  _exit(99);
}

/// What the grader sends and is sent. Replies are gathered until its next request is waited for.
class GraderSocket {
 public:
  /// False when the grader has gone.
  bool read_all(void* to, std::size_t bytes) {
    auto* at = static_cast<std::byte*>(to);
    while (bytes > 0) {
      if (unread_.empty() && !read_some(at, bytes)) return false;
      const std::size_t part = std::min(bytes, unread_.size());
      std::memcpy(at, unread_.data(), part);
      unread_ = unread_.subspan(part);
      at += part;
      bytes -= part;
    }
    return true;
  }

  void write_all(const void* from, std::size_t bytes) {
    const auto* at = static_cast<const std::byte*>(from);
    if (unsent_.size() + bytes > frame::kMostGathered) flush();
    if (bytes > frame::kMostGathered) return send(at, bytes);
    unsent_.insert(unsent_.end(), at, at + bytes);
  }

 private:
  /// Reads what is long to where it belongs, moving these on, and what is not for later.
  bool read_some(std::byte*& at, std::size_t& bytes) {
    flush();
    const bool is_long = bytes >= read_.size();
    const ssize_t got =
        read(frame::kSocketFd, is_long ? at : read_.data(), is_long ? bytes : read_.size());
    if (got <= 0) return false;
    const auto count = static_cast<std::size_t>(got);
    if (is_long) {
      at += count;
      bytes -= count;
    } else {
      unread_ = std::span(read_).first(count);
    }
    return true;
  }

  void flush() {
    send(unsent_.data(), unsent_.size());
    unsent_.clear();
  }

  static void send(const std::byte* at, std::size_t bytes) {
    while (bytes > 0) {
      const ssize_t sent = write(frame::kSocketFd, at, bytes);
      if (sent <= 0) _exit(0);  // the grader has gone
      at += sent;
      bytes -= static_cast<std::size_t>(sent);
    }
  }

  std::array<std::byte, frame::kMostGathered> read_{};
  std::span<std::byte> unread_;
  std::vector<std::byte> unsent_;
};

void lock_down() {
  static std::array<sock_filter, 4096> filter;
  const ssize_t bytes = pread(frame::kFilterFd, filter.data(), sizeof filter, 0);
  if (bytes <= 0 || bytes == sizeof filter) give_up("no system-call filter");
  close(frame::kFilterFd);
  const sock_fprog program{
      static_cast<unsigned short>(static_cast<std::size_t>(bytes) / sizeof(sock_filter)),
      filter.data()};
  if (syscall(SYS_seccomp, 1 /* SECCOMP_SET_MODE_FILTER */, 0, &program) != 0)
    give_up("the kernel refused the system-call filter");
}

device_wire::Mailbox& mapped_mailbox() {
  void* base = mmap(nullptr, sizeof(device_wire::Mailbox), PROT_READ | PROT_WRITE, MAP_SHARED,
                    frame::kMailboxFd, 0);
  if (base == MAP_FAILED) give_up("the mailbox cannot be mapped");
  close(frame::kMailboxFd);
  return *static_cast<device_wire::Mailbox*>(base);
}

/// Both sides, one thread each, which take turns at the engine. The grader's comes first: a worker
/// that never stops asking keeps nobody waiting.
class Process {
 public:
  explicit Process(std::uint64_t memory_bytes)
      : mailbox_(mapped_mailbox()),
        engine_(std::make_unique<SimulatedBackEnd>(memory_bytes)),
        workers_(engine_, mailbox_),
        graders_(engine_) {
    engine_.capacity = memory_bytes;
  }

  [[noreturn]] void serve() {
    lock_down();
    std::thread([this] { serve_worker(); }).detach();
    serve_grader();
  }

 private:
  [[noreturn]] void serve_worker() {
    for (std::uint32_t last = 0;;) {
      const std::uint32_t asked = mailbox_.asked.load(std::memory_order_acquire);
      if (asked == last) {
        syscall(SYS_futex, &mailbox_.asked, FUTEX_WAIT, asked, nullptr, nullptr, 0);
        continue;
      }
      {
        std::unique_lock lock(turn_);
        workers_turn_.wait(lock, [this] { return graders_.serves() && graders_waiting_ == 0; });
        workers_.serve();
      }
      last = asked;
      mailbox_.answered.store(asked, std::memory_order_release);
      syscall(SYS_futex, &mailbox_.answered, FUTEX_WAKE, 1, nullptr, nullptr, 0);
    }
  }

  [[noreturn]] void serve_grader() {
    while (true) {
      frame::Head head{};
      if (!socket_.read_all(&head, sizeof head)) _exit(0);
      if (head.magic != frame::kMagic || head.json_bytes > frame::kMostJson) give_up("no request");
      std::string text(head.json_bytes, ' ');
      if (!socket_.read_all(text.data(), text.size())) _exit(0);
      std::vector<std::byte> data(head.data_bytes);
      if (!socket_.read_all(data.data(), data.size())) _exit(0);
      answer(text, data);
    }
  }

  void answer(const std::string& text, std::vector<std::byte>& data) {
    std::string reply;
    ++graders_waiting_;
    {
      const std::lock_guard lock(turn_);
      --graders_waiting_;
      try {
        reply = graders_.carry_out(nlohmann::json::parse(text), data)
                    .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
      } catch (const std::bad_alloc&) {
        data.clear();
        reply = nlohmann::json{{"over_memory", "the device process has no more memory"}}.dump();
      } catch (const std::exception& error) {
        data.clear();
        reply = nlohmann::json{{"error", error.what()}}.dump();
      }
    }
    workers_turn_.notify_one();
    const frame::Head head{static_cast<std::uint32_t>(reply.size()), frame::kMagic, data.size()};
    socket_.write_all(&head, sizeof head);
    socket_.write_all(reply.data(), reply.size());
    socket_.write_all(data.data(), data.size());
  }

  GraderSocket socket_;
  device_wire::Mailbox& mailbox_;
  Engine engine_;
  WorkerSide workers_;
  GraderSide graders_;
  std::mutex turn_;
  std::condition_variable workers_turn_;
  std::atomic<int> graders_waiting_ = 0;
};

}  // namespace
}  // namespace gauntlet::device_process

int main(int count, char** arguments) {
  if (count != 2) return 2;
  static gauntlet::device_process::Process process(std::strtoull(arguments[1], nullptr, 10));
  process.serve();
}
