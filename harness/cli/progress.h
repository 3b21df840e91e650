// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <ostream>
#include <string>

#include "harness/grading/cell.h"

namespace gauntlet {

/// Shows how a run advances. On a terminal: one line, drawn over again at most ten times a second.
/// Elsewhere: a line when a cell begins or ends, and one every half minute in between.
class ProgressDisplay {
 public:
  using Clock = std::function<std::chrono::steady_clock::time_point()>;

  /// `cells`: how many will end; 0 where that is not known before.
  ProgressDisplay(std::ostream& out, bool live, bool quiet, std::size_t cells,
                  Clock clock = std::chrono::steady_clock::now);
  ~ProgressDisplay();
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  void show(const CellEvent& event);
  void say(const std::string& text);  // a line of its own, or several

 private:
  void line(const std::string& text);
  void redraw(const std::string& text);
  std::string count() const;
  bool silent_for(std::chrono::milliseconds span);

  std::ostream& out_;
  bool live_;
  bool quiet_;
  std::size_t cells_;
  std::size_t done_ = 0;
  bool drawn_ = false;
  Clock clock_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace gauntlet
