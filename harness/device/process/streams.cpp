// SPDX-License-Identifier: Apache-2.0
#include "harness/device/process/streams.h"

#include <algorithm>

#include "harness/device/wire.h"

namespace gauntlet::device_process {
namespace {

using device_wire::kDefaultStream;
using device_wire::kPerThreadStream;

constexpr std::size_t kMostStreams = 1024;
constexpr std::size_t kMostEvents = 8192;
constexpr std::size_t kMostItems = 4096;  // that wait; one more makes all of them run

}  // namespace

Streams::Streams() {
  streams_[kDefaultStream] = {};
  streams_[kPerThreadStream] = {};
}

std::optional<std::uint64_t> Streams::make_stream(bool non_blocking) {
  if (streams_.size() >= kMostStreams) return std::nullopt;
  streams_[++next_handle_] = {non_blocking, false, 0};
  return next_handle_;
}

std::uint64_t Streams::make_callers_stream(bool non_blocking) {
  streams_[++next_handle_] = {non_blocking, true, 0};
  return next_handle_;
}

std::optional<std::uint64_t> Streams::make_event() {
  if (events_.size() >= kMostEvents) return std::nullopt;
  events_[++next_handle_] = 0;
  return next_handle_;
}

void Streams::end_stream(std::uint64_t stream) {
  // The default stream still waits for what was queued here.
  if (!streams_.at(stream).non_blocking) wait_stream(stream);
  streams_.erase(stream);
}

bool Streams::is_done(std::uint64_t number) const {
  return number < first_ || items_[number - first_].done;
}

/// What the next item of a stream comes after.
Streams::Numbers Streams::before(std::uint64_t stream) const {
  Numbers numbers;
  const auto add = [&](const Stream& other) {
    if (!is_done(other.last)) numbers.push_back(other.last);
  };
  const Stream& own = streams_.at(stream);
  if (stream == kDefaultStream) {
    for (const auto& [handle, other] : streams_)
      if (!other.non_blocking) add(other);
  } else {
    add(own);
    if (!own.non_blocking) add(streams_.at(kDefaultStream));
  }
  return numbers;
}

void Streams::add(std::uint64_t stream, Numbers after, Work work) {
  if (items_.size() >= kMostItems) wait_all();
  items_.push_back({std::move(after), std::move(work)});
  streams_.at(stream).last = first_ + items_.size() - 1;
}

void Streams::queue(std::uint64_t stream, Work work) {
  add(stream, before(stream), std::move(work));
}

void Streams::record(std::uint64_t event, std::uint64_t stream) {
  queue(stream, {});
  events_.at(event) = streams_.at(stream).last;
}

void Streams::make_wait(std::uint64_t stream, std::uint64_t event) {
  Numbers after = before(stream);
  after.push_back(events_.at(event));
  add(stream, std::move(after), {});
}

/// Runs what the wanted items depend on, and these, but at most so many that do something.
void Streams::run(const Numbers& wanted, std::size_t at_most) {
  std::vector<bool> needed(items_.size());
  const auto need = [&](std::uint64_t number) {
    if (!is_done(number)) needed[number - first_] = true;
  };
  for (const std::uint64_t number : wanted) need(number);
  for (std::size_t n = needed.size(); n-- > 0;)
    if (needed[n])
      for (const std::uint64_t number : items_[n].after) need(number);
  for (std::size_t n = 0; n < needed.size(); ++n) {
    if (!needed[n]) continue;
    Item& item = items_[n];
    if (item.work && at_most-- == 0) break;
    item.done = true;  // before it runs: what throws does not run again
    if (const Work work = std::move(item.work)) work();
  }
  while (!items_.empty() && items_.front().done) {
    items_.pop_front();
    ++first_;
  }
}

void Streams::wait_stream(std::uint64_t stream) {
  run(before(stream), items_.size());
}

void Streams::wait_event(std::uint64_t event) {
  run({events_.at(event)}, items_.size());
}

void Streams::wait_all() {
  Numbers all;
  for (std::size_t n = 0; n < items_.size(); ++n) all.push_back(first_ + n);
  run(all, all.size());
}

std::size_t Streams::waiting() const {
  return static_cast<std::size_t>(std::count_if(
      items_.begin(), items_.end(), [](const Item& item) { return !item.done && item.work; }));
}

bool Streams::query(const Numbers& wanted) {
  const auto done = [&](std::uint64_t number) { return is_done(number); };
  if (std::all_of(wanted.begin(), wanted.end(), done)) return true;
  run(wanted, 1);
  return false;
}

bool Streams::query_stream(std::uint64_t stream) {
  return query(before(stream));
}

bool Streams::query_event(std::uint64_t event) {
  return query({events_.at(event)});
}

}  // namespace gauntlet::device_process
