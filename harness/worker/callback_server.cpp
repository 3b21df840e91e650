// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/callback_server.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

#include "harness/core/error.h"
#include "harness/worker/session.h"

namespace gauntlet {
namespace {

/// One request, copied out of the solution's reach before anything looks at it.
class Request {
 public:
  Request(const Callback& callback, std::byte* mailbox, std::size_t mailbox_bytes)
      : callback_(callback),
        mailbox_(mailbox),
        mailbox_bytes_(mailbox_bytes),
        request_(mailbox, mailbox + callback.request_bytes) {
    raw_.request = request_;
    place_arrays();
  }

  std::int64_t answer() { return callback_.answer(raw_); }
  std::size_t bytes() const { return bytes_; }

  void reply() const {
    std::memcpy(mailbox_, request_.data(), request_.size());
    for (std::size_t i = 0; i < arrays_.size(); ++i)
      if (callback_.arrays[i].direction != Direction::in && !arrays_[i].empty())
        std::memcpy(mailbox_ + offsets_[i], arrays_[i].data(), arrays_[i].size());
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw SolutionFailure(Verdict::rejected,
                          fmt::format("called back `{}` with {}", callback_.name, why));
  }

  std::int64_t bytes_of(const CallbackArray& array) const {
    std::int64_t bytes = array.fixed;
    bool overflow = false;
    for (const std::int64_t field : array.count_offset) {
      if (field < 0) continue;
      std::int64_t count = 0;
      std::memcpy(&count, request_.data() + field, sizeof count);
      if (count < 0) refuse(fmt::format("a count of {}", count));
      overflow |= __builtin_mul_overflow(bytes, count, &bytes);
    }
    overflow |=
        __builtin_mul_overflow(bytes, static_cast<std::int64_t>(array.element_bytes), &bytes);
    if (overflow || bytes < 0) refuse("counts whose product is no number of bytes");
    return bytes;
  }

  std::uint64_t address_of(const CallbackArray& array) const {
    std::uint64_t address = 0;
    std::memcpy(&address, request_.data() + array.field_offset, sizeof address);
    return address;
  }

  /// Whoever answers may write an answer before he has read all that he was asked.
  void require_answers_apart() const {
    for (std::size_t i = 0; i < arrays_.size(); ++i)
      for (std::size_t j = 0; j < arrays_.size(); ++j)
        if (i != j && callback_.arrays[i].direction != Direction::in && overlap(i, j))
          refuse("arrays that overlap");
  }

  /// Whoever answers reads and writes elements. Those of more than 8 bytes are structs of numbers.
  void require_aligned() const {
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
      const std::uint64_t element = callback_.arrays[i].element_bytes;
      const std::uint64_t alignment = std::min<std::uint64_t>(element & -element, 8);
      if (!arrays_[i].empty() && address_of(callback_.arrays[i]) % alignment != 0)
        refuse(fmt::format("an array that is not aligned to {} bytes, as its elements are",
                           alignment));
    }
  }

  bool overlap(std::size_t i, std::size_t j) const {
    if (arrays_[i].empty() || arrays_[j].empty()) return false;
    const std::uint64_t one = address_of(callback_.arrays[i]);
    const std::uint64_t other = address_of(callback_.arrays[j]);
    return one < other + arrays_[j].size() && other < one + arrays_[i].size();
  }

  void place_arrays() {
    std::size_t offset = wire::mailbox_aligned(callback_.request_bytes);
    for (const CallbackArray& array : callback_.arrays) {
      const auto bytes = static_cast<std::size_t>(bytes_of(array));
      if (offset > mailbox_bytes_ || bytes > mailbox_bytes_ - offset)
        refuse(fmt::format("arrays of more than {} MiB", mailbox_bytes_ >> 20));
      offsets_.push_back(offset);
      arrays_.emplace_back(bytes);
      if (array.direction != Direction::out && bytes > 0)
        std::memcpy(arrays_.back().data(), mailbox_ + offset, bytes);
      offset = wire::mailbox_aligned(offset + bytes);
    }
    require_answers_apart();
    require_aligned();
    bytes_ = std::min<std::size_t>(offset, mailbox_bytes_);
    for (std::vector<std::byte>& array : arrays_) raw_.arrays.emplace_back(array);
  }

  const Callback& callback_;
  std::byte* mailbox_;
  std::size_t mailbox_bytes_;
  std::size_t bytes_ = 0;  // of the mailbox
  std::vector<std::byte> request_;
  std::vector<std::size_t> offsets_;
  std::vector<std::vector<std::byte>> arrays_;
  CallbackRequest raw_;
};

void require_agreed(const Callback& callback, wire::Asker asker) {
  if (asker == wire::Asker::as_agreed) return;
  throw SolutionFailure(
      Verdict::rejected,
      fmt::format("called back `{}` {}", callback.name,
                  asker == wire::Asker::another_thread
                      ? "from another thread than the one that was called"
                      : "with another first argument than the one that it was given"));
}

}  // namespace

std::size_t answer_callback(CallBase& call, wire::Control& control, std::byte* mailbox,
                            std::size_t mailbox_bytes) {
  const std::uint32_t index = control.callback;
  if (index >= call.callbacks().size())
    throw SolutionFailure(Verdict::rejected,
                          fmt::format("called back in `{}` what is no callback", call.symbol));
  require_agreed(call.callbacks()[index], control.asker);
  Request request(call.callbacks()[index], mailbox + wire::kReplyBytes,
                  mailbox_bytes - wire::kReplyBytes);
  const std::int64_t returned = request.answer();
  request.reply();
  std::memcpy(mailbox, &returned, sizeof returned);
  control.answered.store(control.asked.load());
  return wire::kReplyBytes + request.bytes();
}

}  // namespace gauntlet
