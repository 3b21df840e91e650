// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace gauntlet {

/// A script whose variable is not set must not lose the gate, the seed or the place that it asks
/// for.
CLI::Validator not_empty();

/// A verb with its help, which ends in an example.
CLI::App& add_verb(CLI::App& app, const std::string& name, const std::string& what,
                   const std::string& example);

}  // namespace gauntlet
