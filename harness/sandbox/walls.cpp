// SPDX-License-Identifier: Apache-2.0
#include "harness/sandbox/walls.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/sandbox/wall_probes.h"

namespace gauntlet {
namespace {

// Whoever adds a wall adds a line here. In this order doctor shows them, and a tier names them.
constexpr std::array kWalls{
    Wall{.name = "landlock",
         .stops = "reading and writing files of this machine",
         .probe = probe_landlock,
         .up = &Walls::landlock,
         .if_missing = Wall::Missing::warn},
    Wall{.name = "seccomp",
         .stops = "sockets, tracing, new programs and all that no solution asks of the kernel",
         .probe = probe_seccomp,
         .up = &Walls::seccomp,
         .if_missing = Wall::Missing::refuse},
    Wall{.name = "rlimits",
         .stops = "taking memory, threads and processor time without end",
         .probe = probe_rlimits,
         .up = &Walls::rlimits,
         .if_missing = Wall::Missing::refuse},
    Wall{.name = "uid",
         .stops = "reaching processes of the user who grades",
         .probe = probe_uid,
         .up = &Walls::uid,
         .if_missing = Wall::Missing::refuse_as_root},
    Wall{.name = "namespaces",
         .stops = "seeing other processes and any network",
         .probe = probe_namespaces,
         .up = &Walls::namespaces},
    Wall{.name = "mounts",
         .stops = "learning which other files there are",
         .probe = probe_mounts,
         .up = &Walls::mounts},
    Wall{.name = "sealed memory",
         .stops = "changing inputs, and answers after the end",
         .probe = probe_sealed_memory,
         .if_missing = Wall::Missing::refuse,
         .no_attack = "no call can be made without it; tests/worker/forgery_test.cpp attacks it"},
    Wall{.name = "freeze",
         .stops = "changing answers while they are read",
         .probe = probe_freeze,
         .if_missing = Wall::Missing::refuse,
         .no_attack = "no call can be made without it; tests/worker/freeze_test.cpp attacks it"},
    Wall{.name = "cgroups",
         .stops = "a compiler's processes taking more together than one of them may",
         .probe = probe_cgroups,
         .up = &Walls::cgroups,
         .no_attack = "attacks run without it as ordinary users, who can make no group; "
                      "tests/sandbox/limits_test.cpp takes it down"},
    Wall{.name = "descriptors",
         .stops = "using files and sockets that the grading process has open",
         .up = &Walls::descriptors},
    Wall{.name = "environment",
         .stops = "reading the grading process's environment variables",
         .up = &Walls::environment},
    Wall{.name = "hidden",
         .stops = "reading and changing the grading process as its own user",
         .up = &Walls::hidden},
};
static_assert(std::count_if(kWalls.begin(), kWalls.end(),
                            [](const Wall& wall) { return wall.up != nullptr; }) == sizeof(Walls),
              "every member of Walls, a bool each, has its line in the table");

}  // namespace

std::span<const Wall> all_walls() {
  return kWalls;
}

const Wall& wall_named(std::string_view name) {
  std::vector<std::string> known;
  for (const Wall& wall : kWalls) {
    if (wall.name == name) return wall;
    known.emplace_back(wall.name);
  }
  throw UserError(fmt::format("no wall is called '{}'; there are {}", name, sentence_list(known)));
}

Walls without(const std::vector<std::string>& names) {
  Walls walls;
  for (const std::string& name : names) {
    const Wall& wall = wall_named(name);
    if (wall.up == nullptr)
      throw UserError(fmt::format("the wall '{}' cannot be taken down: {}", name, wall.no_attack));
    walls.*wall.up = false;
  }
  return walls;
}

}  // namespace gauntlet
