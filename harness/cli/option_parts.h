// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "harness/core/check.h"

namespace gauntlet {

/// A script whose variable is not set must not lose the gate, the seed or the place that it asks
/// for.
CLI::Validator not_empty();

/// A verb with its help, which ends in an example.
CLI::App& add_verb(CLI::App& app, const std::string& name, const std::string& what,
                   const std::string& example);

/// For one device or, where `devices` is a list, several.
template <class Words>
void add_device(CLI::App& verb, Words& devices, const std::string& what) {
  std::vector<std::string> known;
  for (const Device one : kAllDevices) known.emplace_back(name_of(one));
  verb.add_option("--device", devices, what)->check(CLI::IsMember(known))->allow_extra_args(false);
}

}  // namespace gauntlet
