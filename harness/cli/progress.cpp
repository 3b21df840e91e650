// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/progress.h"

#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::chrono::milliseconds kRedraw{100};
constexpr std::chrono::milliseconds kHeartbeat{30'000};

}  // namespace

ProgressDisplay::ProgressDisplay(std::ostream& out, bool live, bool quiet, std::size_t cells,
                                 Clock clock)
    : out_(out), live_(live), quiet_(quiet), cells_(cells), clock_(std::move(clock)) {}

ProgressDisplay::~ProgressDisplay() {
  if (drawn_) out_ << "\r\x1b[K" << std::flush;
}

void ProgressDisplay::show(const CellEvent& event) {
  if (quiet_) return;
  const std::string cell = fmt::format("{} {}", event.key.row(), event.key.column());
  switch (event.kind) {
    case CellEvent::Kind::ahead:
      if (live_ && silent_for(kRedraw))
        redraw(fmt::format("{}: {}", event.key.column(), event.check));
      if (!live_ && silent_for(kHeartbeat))
        line(fmt::format("ahead {}: {}", event.key.column(), event.check));
      return;
    case CellEvent::Kind::racing:
      return;
    case CellEvent::Kind::building:
      if (!live_) line("start " + cell);
      break;
    case CellEvent::Kind::committed:
      line(fmt::format("commit {} {}", cell, event.check));
      return;
    case CellEvent::Kind::closed:
      line(fmt::format("closed {} {}", cell, event.check));
      return;
    case CellEvent::Kind::waiting:
      line(fmt::format("wait   {}: {}", cell, event.check));
      return;
    case CellEvent::Kind::cell_done:
      ++done_;
      // In an audit a verdict alone says nothing: who noticed a mutant is told at the end.
      if (cells_ == 0)
        line(fmt::format("done  {}, {}", cell, count()));
      else
        line(fmt::format("done  {} ({}), {}", cell, name_of(event.verdict), count()));
      return;
    case CellEvent::Kind::check_started:
    case CellEvent::Kind::check_done:
      if (!live_ && silent_for(kHeartbeat))
        line(fmt::format("still {} {}/{} {}", cell, event.done, event.total, event.check));
      break;
  }
  if (live_ && silent_for(kRedraw))
    redraw(fmt::format("cells done: {}; {} {}/{} {}", count(), cell, event.done, event.total,
                       event.check.empty() ? "building" : event.check));
}

void ProgressDisplay::say(const std::string& text) {
  if (!quiet_) line(text);
}

std::string ProgressDisplay::count() const {
  return cells_ == 0 ? fmt::format("{} so far", done_) : fmt::format("{} of {}", done_, cells_);
}

bool ProgressDisplay::silent_for(std::chrono::milliseconds span) {
  return last_.time_since_epoch().count() == 0 || clock_() - last_ >= span;
}

void ProgressDisplay::line(const std::string& text) {
  if (drawn_) out_ << "\r\x1b[K";
  drawn_ = false;
  out_ << text << "\n" << std::flush;
  last_ = clock_();
}

void ProgressDisplay::redraw(const std::string& text) {
  out_ << "\r\x1b[K" << text.substr(0, 79) << std::flush;  // a wrapped line cannot be drawn over
  drawn_ = true;
  last_ = clock_();
}

}  // namespace gauntlet
