// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "harness/device/process/engine.h"

namespace gauntlet::device_process {

/// Carries out what the grader asks for. It is believed, within what a mistake of ours could say.
class GraderSide {
 public:
  explicit GraderSide(Engine& engine) : engine_(engine) {}

  /// The reply to a request; `data` holds the request's bytes, and then the reply's.
  nlohmann::json carry_out(const nlohmann::json& request, std::vector<std::byte>& data);

  /// Whether the worker may be served.
  bool serves() const { return serves_; }

 private:
  nlohmann::json load(std::vector<std::byte>& data);
  nlohmann::json map(const nlohmann::json& request, const std::vector<std::byte>& data);
  nlohmann::json no_room(const std::string& name);
  nlohmann::json read(const nlohmann::json& request, std::vector<std::byte>& data);
  nlohmann::json begin(const nlohmann::json& request);
  nlohmann::json settle(const nlohmann::json& request);

  Engine& engine_;
  std::vector<std::uint64_t> mapped_;  // addresses, for what lies behind one of them
  bool serves_ = false;
};

}  // namespace gauntlet::device_process
