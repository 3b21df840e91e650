// SPDX-License-Identifier: Apache-2.0
#include "harness/device/cuda_device.h"

#include <nlohmann/json.hpp>

#include "harness/worker/session.h"

namespace gauntlet {

using nlohmann::json;

namespace {

json map_request(const std::string& name, const char* role, std::size_t bytes,
                 Placement placement) {
  return {{"do", "map"},
          {"name", name},
          {"role", role},
          {"bytes", bytes},
          {"alignment", placement.alignment},
          {"skew", placement.skew}};
}

json begin_request(const DeviceTerms& terms) {
  return {{"do", "begin"},
          {"budget", terms.budget},
          {"schedule_seed", terms.schedule_seed ? json(*terms.schedule_seed) : json()},
          {"check_undefined", terms.check_undefined},
          {"check_races", terms.check_races},
          {"count_sectors", terms.count_sectors}};
}

json settle_request(DeviceStream stream) {
  return {{"do", "settle"}, {"stream", stream}};
}

json read_request(DeviceAddress address, std::size_t bytes) {
  return {{"do", "read"}, {"address", address}, {"bytes", bytes}};
}

json release_request(DeviceAddress address) {
  return {{"do", "unmap"}, {"address", address}};
}

/// As cudaMalloc gives it.
constexpr Placement kUsualPlacement{256, 0};

CudaDevice::Contents contents_from(const json& reply, std::vector<std::byte> data,
                                   std::size_t bytes) {
  if (data.size() != bytes)
    throw Broken(OwnFault::bug, "the device: another number of bytes than was asked for");
  return {std::move(data), reply.at("unwritten"), reply.at("from_host")};
}

DeviceReport report_from(const json& reply) {
  try {
    return device_report_from(reply);
  } catch (const json::exception& error) {
    throw SolutionFailure(Verdict::crashed,
                          std::string("the device's report makes no sense: ") + error.what());
  }
}

}  // namespace

void CudaDevice::load(const std::string& ptx) {
  const auto text = std::as_bytes(std::span(ptx));
  std::vector<std::byte> data(text.begin(), text.end());
  const json reply = link_.ask({{"do", "load"}}, data);
  if (reply.contains("refused"))
    throw SolutionFailure(Verdict::rejected, "the kernels cannot be executed: " +
                                                 reply.at("refused").get<std::string>());
}

DeviceAddress CudaDevice::input(const std::string& name, std::span<const std::byte> bytes) {
  std::vector<std::byte> data(bytes.begin(), bytes.end());
  return link_.ask(map_request(name, "input", data.size(), kUsualPlacement), data).at("address");
}

DeviceAddress CudaDevice::output(const std::string& name, std::size_t bytes) {
  return link_.ask(map_request(name, "output", bytes, kUsualPlacement)).at("address");
}

void CudaDevice::release(DeviceAddress address) {
  link_.ask(release_request(address));
}

DeviceStream CudaDevice::make_stream(bool non_blocking) {
  return link_.ask({{"do", "stream"}, {"non_blocking", non_blocking}}).at("stream");
}

void CudaDevice::begin(const DeviceTerms& terms) {
  link_.ask(begin_request(terms));
}

void CudaDevice::settle(DeviceStream stream) {
  link_.ask(settle_request(stream));
}

CudaDevice::Contents CudaDevice::read(DeviceAddress address, std::size_t bytes) {
  std::vector<std::byte> data;
  const json reply = link_.ask(read_request(address, bytes), data);
  return contents_from(reply, std::move(data), bytes);
}

DeviceReport CudaDevice::finish() {
  return report_from(link_.ask({{"do", "finish"}}));
}

std::vector<DeviceAddress> CudaDevice::open_call(const std::vector<Buffer>& buffers,
                                                 const DeviceTerms& terms) {
  for (std::size_t n = 0; n < buffers.size(); ++n) {
    const Buffer& buffer = buffers[n];
    const char* const role = buffer.direction == Direction::in ? "input" : "output";
    const std::size_t given = buffer.direction == Direction::out ? 0 : buffer.bytes;
    json request = map_request(buffer.name, role, buffer.bytes, buffer.placement);
    if (buffer.behind) request["behind"] = {n - buffer.behind->first, buffer.behind->bytes};
    link_.send(request, {buffer.source, given});
  }
  link_.send(begin_request(terms));
  std::vector<DeviceAddress> addresses;
  std::vector<std::byte> none;
  for (std::size_t n = 0; n < buffers.size(); ++n)
    addresses.push_back(link_.receive(none).at("address"));
  link_.receive(none);
  return addresses;
}

CudaDevice::CallEnd CudaDevice::close_call(DeviceStream stream, const std::vector<Buffer>& buffers,
                                           const std::vector<DeviceAddress>& addresses) {
  link_.send(settle_request(stream));
  for (std::size_t n = 0; n < buffers.size(); ++n)
    if (buffers[n].direction != Direction::in)
      link_.send(read_request(addresses[n], buffers[n].bytes));
  link_.send({{"do", "finish"}});
  for (const DeviceAddress address : addresses) link_.send(release_request(address));

  CallEnd end;
  std::vector<std::byte> data;
  link_.receive(data);
  for (const Buffer& buffer : buffers) {
    Contents& contents = end.contents.emplace_back();
    if (buffer.direction == Direction::in) continue;
    const json reply = link_.receive(data);
    contents = contents_from(reply, std::exchange(data, {}), buffer.bytes);
  }
  end.report = report_from(link_.receive(data));
  for (std::size_t n = 0; n < addresses.size(); ++n) link_.receive(data);
  return end;
}

}  // namespace gauntlet
