// SPDX-License-Identifier: Apache-2.0
#include "harness/device/process/grader_side.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/core/text.h"
#include "harness/device/process/report.h"

namespace gauntlet::device_process {
namespace {

using nlohmann::json;

json failed(const std::string& why) {
  return {{"error", why}};
}

}  // namespace

json GraderSide::carry_out(const json& request, std::vector<std::byte>& data) {
  const std::string what = request.at("do");
  json reply = json::object();
  std::vector<std::byte> answer;
  if (what == "load") {
    reply = load(data);
  } else if (what == "map") {
    reply = map(request, data);
  } else if (what == "unmap") {
    engine_.streams.wait_all();
    engine_.unmap(request.at("address"));
  } else if (what == "read") {
    reply = read(request, answer);
  } else if (what == "stream") {
    reply = {{"stream", engine_.streams.make_callers_stream(request.at("non_blocking"))}};
  } else if (what == "begin") {
    reply = begin(request);
  } else if (what == "settle") {
    reply = settle(request);
  } else if (what == "hello") {
    // It is there.
  } else if (what == "finish") {
    serves_ = false;
    engine_.guarded([&] { engine_.streams.wait_all(); });
    reply = report_of(engine_);
  } else {
    reply = failed("no such request: " + what);
  }
  data = std::move(answer);
  return reply;
}

json GraderSide::load(std::vector<std::byte>& data) {
  std::string ptx(reinterpret_cast<const char*>(data.data()), data.size());
  data = {};
  try {
    engine_.back_end->load(std::move(ptx));
  } catch (const simt::PtxError& error) {
    return {{"refused", one_line(error.what(), 500)}};
  } catch (const std::bad_alloc&) {
    return {{"refused", "the kernels need more memory than there is to decode them"}};
  }
  engine_.kernels = engine_.back_end->kernels();
  for (const VariableInfo& variable : engine_.back_end->variables())
    engine_.buffers.add({variable.name, Role::variable, variable.address, variable.bytes});
  json names = json::array();
  for (const KernelInfo& kernel : engine_.kernels) names.push_back(one_line(kernel.name, 1000));
  return {{"kernels", std::move(names)}};
}

json GraderSide::map(const json& request, const std::vector<std::byte>& data) {
  const bool is_input = request.at("role") == "input";
  simt::Alignment place{request.at("alignment"), request.at("skew"), {}};
  if (request.contains("behind")) {
    const auto& [maps_ago, bytes] =
        request.at("behind").get<std::pair<std::size_t, std::uint64_t>>();
    place.address = mapped_.at(mapped_.size() - maps_ago) + bytes;
  }
  const Buffer* const made = engine_.map(request.at("name"), is_input ? Role::input : Role::output,
                                         request.at("bytes"), place);
  if (made == nullptr) return no_room(request.at("name"));
  mapped_.push_back(made->address);
  if (data.size() > made->bytes) return failed("more bytes than the buffer has");
  if (!data.empty()) engine_.back_end->copy_in(made->address, data, BackEnd::Writer::grader);
  if (is_input) engine_.back_end->protect(made->address);
  return {{"address", made->address}};
}

/// Whose fault it is that an array of the caller's does not fit.
json GraderSide::no_room(const std::string& name) {
  std::uint64_t held = engine_.buffers.scratch_bytes();
  for (const VariableInfo& variable : engine_.back_end->variables()) held += variable.bytes;
  if (held == 0) return failed("there is no device memory for " + name);
  return {{"over_memory",
           fmt::format("the solution holds {} of {} bytes of device memory, which leaves too few "
                       "for the call's `{}`",
                       held, engine_.capacity, name)}};
}

json GraderSide::read(const json& request, std::vector<std::byte>& data) {
  const std::uint64_t address = request.at("address"), bytes = request.at("bytes");
  if (engine_.buffers.holding(address, bytes) == nullptr)
    return failed("a range that is in no buffer");
  data.resize(bytes);
  engine_.back_end->copy_out(address, data);
  const Origin origin = engine_.back_end->origin(address, bytes);
  return {{"unwritten", origin.unwritten}, {"from_host", origin.from_host}};
}

json GraderSide::begin(const json& request) {
  engine_.accounts = {};
  mapped_.clear();
  engine_.buffers.begin_call();
  simt::LaunchOptions& options = engine_.options;
  engine_.budget = options.budget = request.at("budget");
  options.schedule_seed.reset();
  if (!request.at("schedule_seed").is_null())
    options.schedule_seed = request.at("schedule_seed").get<std::uint64_t>();
  options.check_undefined = request.at("check_undefined");
  options.check_races = request.at("check_races");
  options.count_sectors = request.at("count_sectors");
  serves_ = true;
  return json::object();
}

json GraderSide::settle(const json& request) {
  const std::uint64_t stream = request.at("stream");
  if (!engine_.streams.has_stream(stream)) return failed("no such stream");
  serves_ = false;
  engine_.guarded([&] { engine_.streams.wait_stream(stream); });
  engine_.accounts.left_behind = engine_.streams.waiting();
  return {{"device_error", engine_.error}};
}

}  // namespace gauntlet::device_process
