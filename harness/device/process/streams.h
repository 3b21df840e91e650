// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace gauntlet::device_process {

/// What is queued on streams, and what has to come before what: the order within a stream, events,
/// and the legacy default stream (0), which waits for every stream that is not non-blocking and
/// which they wait for. Work runs as late as that allows: when somebody waits for it, and then
/// exactly what he depends on, in the order in which it was queued.
class Streams {
 public:
  using Work = std::function<void()>;

  Streams();

  bool has_stream(std::uint64_t stream) const { return streams_.count(stream) != 0; }
  bool has_event(std::uint64_t event) const { return events_.count(event) != 0; }

  /// A handle, never given twice; nothing when there are too many.
  std::optional<std::uint64_t> make_stream(bool non_blocking);
  /// One of the grader's, who gets it however many others made.
  std::uint64_t make_callers_stream(bool non_blocking);
  bool is_callers(std::uint64_t stream) const { return streams_.at(stream).is_callers; }
  std::optional<std::uint64_t> make_event();
  void end_stream(std::uint64_t stream);  // what is queued on it still runs
  void end_event(std::uint64_t event) { events_.erase(event); }

  void queue(std::uint64_t stream, Work work);
  void record(std::uint64_t event, std::uint64_t stream);
  void make_wait(std::uint64_t stream, std::uint64_t event);

  void wait_stream(std::uint64_t stream);
  void wait_event(std::uint64_t event);
  void wait_all();

  /// Launches, fills and copies that nobody has waited for yet.
  std::size_t waiting() const;

  /// Whether all has come that a waiting one would wait for. If not, the first of it runs, so that
  /// who asks again and again gets on.
  bool query_stream(std::uint64_t stream);
  bool query_event(std::uint64_t event);

 private:
  using Numbers = std::vector<std::uint64_t>;
  struct Item {
    Numbers after;
    Work work;  // none: it has run, or it is only there to be waited for
    bool done = false;
  };
  struct Stream {
    bool non_blocking = false;
    bool is_callers = false;
    std::uint64_t last = 0;  // number of the last item; 0: none
  };

  Numbers before(std::uint64_t stream) const;
  void add(std::uint64_t stream, Numbers after, Work work);
  bool is_done(std::uint64_t number) const;
  void run(const Numbers& wanted, std::size_t at_most);
  bool query(const Numbers& wanted);

  std::deque<Item> items_;  // numbered from first_ on
  std::uint64_t first_ = 1;
  std::map<std::uint64_t, Stream> streams_;
  std::map<std::uint64_t, std::uint64_t> events_;  // number of what was recorded; 0: nothing
  std::uint64_t next_handle_ = 0x1000;
};

}  // namespace gauntlet::device_process
