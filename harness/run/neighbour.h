// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <sys/types.h>

namespace gauntlet {

/// What else the machine does while something is measured.
enum class NeighbourKind {
  none,
  computing,  // one thread that multiplies in registers
  streaming,  // one thread that copies 64 MiB to and fro
};

std::string_view name_of(NeighbourKind kind);

/// Another program of the same user at ordinary priority, which works as long as this lives.
class Neighbour {
 public:
  explicit Neighbour(NeighbourKind kind);
  ~Neighbour();
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;

 private:
  pid_t pid_ = -1;
};

}  // namespace gauntlet
