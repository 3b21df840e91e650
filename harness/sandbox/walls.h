// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gauntlet {

/// Which walls around a stranger's process are up. Everything that grades keeps them all; only the
/// audit of the walls takes some down, to see that an attack then gets through and that it is the
/// wall that stops it. Nothing that a submission or the environment says reaches this.
struct Walls {
  bool landlock = true;
  bool seccomp = true;
  bool rlimits = true;      // the kernel's, and the watch over resident memory
  bool uid = true;          // a user id of its own, when we are root
  bool namespaces = true;   // where the machine allows them
  bool mounts = true;       // files of its own, within namespaces, where the machine allows them
  bool cgroups = true;      // a control group for each command, where we may make one
  bool descriptors = true;  // all that were not handed over are closed
  bool environment = true;  // none of ours is handed on
  bool hidden = true;       // the grading process, from others of its user: see harden.h
};

/// What came of trying a wall on this machine.
struct ProbeResult {
  bool holds = false;
  std::string detail;  // what was tried and what came of it
};

/// What there is to know of one wall: reports, doctor, the tiers of the audit, the attacks and
/// their controls all take it from here.
struct Wall {
  enum class Missing { accept, warn, refuse, refuse_as_root };  // refuse: to run submissions

  std::string_view name;
  std::string_view stops;            // a phrase
  ProbeResult (*probe)() = nullptr;  // tries it in a child; null: it needs nothing of the machine
  bool Walls::*up = nullptr;         // takes it down for a control; null: it cannot be missing
  Missing if_missing = Missing::accept;
  std::string_view no_attack = {};  // why no attack of the corpus names it; empty: some do
};
std::span<const Wall> all_walls();

/// Throws UserError for a name that is none.
const Wall& wall_named(std::string_view name);

/// All walls but the named ones. Throws UserError for a name that is none, or of a wall that cannot
/// be taken down.
Walls without(const std::vector<std::string>& names);

}  // namespace gauntlet
