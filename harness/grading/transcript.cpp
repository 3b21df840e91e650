// SPDX-License-Identifier: Apache-2.0
#include "harness/grading/transcript.h"

#include <xxhash.h>

namespace gauntlet {
namespace {

/// At the speed of memory. Two arrays of the same hash can be made by whoever wants them, but it is
/// we who choose the inputs.
std::uint64_t xxh64(std::span<const std::byte> bytes, std::uint64_t seed = 0) {
  return XXH64(bytes.data(), bytes.size(), seed);
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

constexpr std::uint64_t kOfItsOwn = 1;  // stands for an output that is handed back

template <class Number>
void chain(std::uint64_t& hash, Number value) {
  hash = xxh64(std::as_bytes(std::span(&value, 1)), hash);
}

/// While it lives, callbacks of the call are overheard. The order in which a solution asks is its
/// own, so that both sides of the talk belong to what came back.
class Overheard {
 public:
  Overheard(CallBase& call, std::uint64_t& hash) : call_(call) {
    for (Callback& callback : call.callbacks()) {
      answers_.push_back(callback.answer);
      callback.answer = [&hash, answer = callback.answer](CallbackRequest& request) {
        const std::int64_t returned = answer(request);
        for (const std::span<std::byte> array : request.arrays) hash = xxh64(array, hash);
        chain(hash, returned);
        return returned;
      };
    }
  }
  ~Overheard() {
    for (std::size_t i = 0; i < answers_.size(); ++i)
      call_.callbacks()[i].answer = std::move(answers_[i]);
  }
  Overheard(const Overheard&) = delete;
  Overheard& operator=(const Overheard&) = delete;

 private:
  CallBase& call_;
  std::vector<std::function<std::int64_t(CallbackRequest&)>> answers_;
};

}  // namespace

void Transcript::begin() {
  timed_before_ = timed_before_ || timed_;
  timed_ = again_ = false;
  calls_ = 0;
  opening_ = inputs_ = outputs_ = 0;
  given_.clear();
}

void Transcript::run(CallBase& call) {
  if (timed_ || again_) return session_.run(call);
  hear_inputs(call);
  const Overheard overheard(call, outputs_);
  session_.run(call);
  hear_outputs(call);
}

void Transcript::watch_threads(bool again) {
  again_ = again;
  session_.watch_threads(again);
}

ThreadUse Transcript::end_watch() {
  again_ = false;
  return session_.end_watch();
}

void Transcript::hear_inputs(const CallBase& call) {
  ++calls_;
  inputs_ = xxh64(bytes_of(call.symbol), inputs_);
  inputs_ = xxh64(call.arguments(), inputs_);
  for (const Buffer& buffer : call.buffers()) {
    chain(inputs_, buffer.bytes);
    if (buffer.direction == Direction::out || buffer.bytes == 0) continue;
    const std::uint64_t content = xxh64({buffer.source, buffer.bytes});
    chain(inputs_, given_.contains(content) ? kOfItsOwn : content);
  }
  if (given_.empty()) opening_ = inputs_;
}

void Transcript::hear_outputs(const CallBase& call) {
  chain(outputs_, call.returned);
  for (const Buffer& buffer : call.buffers()) {
    if (buffer.direction == Direction::in || buffer.result.empty()) continue;
    const std::uint64_t content = xxh64(buffer.result);
    given_.insert(content);
    chain(outputs_, content);
  }
}

}  // namespace gauntlet
