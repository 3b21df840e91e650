// SPDX-License-Identifier: Apache-2.0
#include "harness/device/device.h"

#include <nlohmann/json.hpp>

#include "harness/worker/session.h"

namespace gauntlet {

using nlohmann::json;

void Device::load(const std::string& ptx) {
  const auto text = std::as_bytes(std::span(ptx));
  std::vector<std::byte> data(text.begin(), text.end());
  const json reply = link_.ask({{"do", "load"}}, data);
  if (reply.contains("refused"))
    throw SolutionFailure(Verdict::rejected, "the kernels cannot be executed: " +
                                                 reply.at("refused").get<std::string>());
}

DeviceAddress Device::map(const std::string& name, const char* role, std::size_t bytes,
                          std::vector<std::byte> content) {
  return link_.ask({{"do", "map"}, {"name", name}, {"role", role}, {"bytes", bytes}}, content)
      .at("address");
}

DeviceAddress Device::input(const std::string& name, std::span<const std::byte> bytes) {
  return map(name, "input", bytes.size(), {bytes.begin(), bytes.end()});
}

DeviceAddress Device::output(const std::string& name, std::size_t bytes) {
  return map(name, "output", bytes, {});
}

void Device::release(DeviceAddress address) {
  link_.ask({{"do", "unmap"}, {"address", address}});
}

DeviceStream Device::make_stream(bool non_blocking) {
  return link_.ask({{"do", "stream"}, {"non_blocking", non_blocking}}).at("stream");
}

void Device::begin(const DeviceTerms& terms) {
  link_.ask({{"do", "begin"},
             {"budget", terms.budget},
             {"schedule_seed", terms.schedule_seed ? json(*terms.schedule_seed) : json()},
             {"check_undefined", terms.check_undefined},
             {"check_races", terms.check_races}});
}

void Device::settle(DeviceStream stream) {
  link_.ask({{"do", "settle"}, {"stream", stream}});
}

Device::Contents Device::read(DeviceAddress address, std::size_t bytes) {
  Contents contents;
  const json reply =
      link_.ask({{"do", "read"}, {"address", address}, {"bytes", bytes}}, contents.bytes);
  if (contents.bytes.size() != bytes)
    throw Broken(OwnFault::bug, "the device: another number of bytes than was asked for");
  contents.unwritten = reply.at("unwritten");
  contents.from_host = reply.at("from_host");
  return contents;
}

DeviceReport Device::finish() {
  const json reply = link_.ask({{"do", "finish"}});
  try {
    return device_report_from(reply);
  } catch (const json::exception& error) {
    throw SolutionFailure(Verdict::crashed,
                          std::string("the device's report makes no sense: ") + error.what());
  }
}

}  // namespace gauntlet
