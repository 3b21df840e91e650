// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/order.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

#include "harness/core/error.h"

namespace gauntlet {
namespace {

void copy_name(char (&into)[wire::kMaxName], const std::string& name) {
  if (name.size() >= sizeof into)
    throw Broken(OwnFault::bug,
                 fmt::format("the name of an export is longer than {} letters", sizeof into - 1));
  std::memcpy(into, name.c_str(), name.size() + 1);
}

wire::CallbackShape shape_of(const Callback& callback) {
  wire::CallbackShape shape{};
  shape.function_offset = static_cast<std::uint32_t>(callback.field_offset);
  shape.context_offset = static_cast<std::uint32_t>(callback.context_field_offset);
  shape.request_bytes = static_cast<std::uint32_t>(callback.request_bytes);
  for (const CallbackArray& array : callback.arrays) {
    for (const std::int64_t field : array.count_offset)
      if (field >= 0 && static_cast<std::size_t>(field) + sizeof field > callback.request_bytes)
        throw Broken(OwnFault::bug,
                     fmt::format("callback {}: a count lies outside its request", callback.name));
    shape.arrays[shape.array_count++] = {static_cast<std::uint32_t>(array.field_offset),
                                         array.direction != Direction::out,
                                         array.direction != Direction::in,
                                         array.element_bytes,
                                         array.fixed,
                                         {array.count_offset[0], array.count_offset[1]}};
  }
  return shape;
}

}  // namespace

void write_load_order(wire::Order& order, const std::vector<std::string>& exports, bool has_tests) {
  if (exports.size() > wire::kMaxExports)
    throw Broken(OwnFault::bug,
                 fmt::format("a contract has at most {} exports", wire::kMaxExports));
  order.kind = wire::OrderKind::load;
  order.has_tests = has_tests;
  order.export_count = 0;
  for (const std::string& name : exports) copy_name(order.exports[order.export_count++], name);
}

void write_lay_order(wire::Order& order, const std::string& symbol, const Layout& layout) {
  order.kind = wire::OrderKind::lay;
  copy_name(order.symbol, symbol);
  const std::vector<wire::Range> ranges = layout.ranges();
  order.range_count = static_cast<std::uint32_t>(ranges.size());
  std::copy(ranges.begin(), ranges.end(), order.ranges);
}

void write_call_order(wire::Order& order, CallBase& call, const Layout& layout) {
  order.kind = wire::OrderKind::call;
  order.mailbox_bytes = layout.mailbox_bytes;
  order.unusual_floats = call.unusual_floats;
  order.zero_subnormals = call.zero_subnormals;
  order.null_context = call.null_context;
  order.measure_heap = call.measure_heap;
  order.argument_bytes = static_cast<std::uint32_t>(call.arguments().size());
  std::memcpy(order.arguments, call.arguments().data(), call.arguments().size());
  order.pointer_count = 0;
  for (std::size_t i = 0; i < layout.bodies.size(); ++i) {
    const Buffer& buffer = call.buffers()[i];
    if (buffer.behind) continue;  // reached by the pointer to the first part
    order.pointers[order.pointer_count++] = {static_cast<std::uint32_t>(buffer.field_offset),
                                             layout.bodies[i].arena, layout.bodies[i].start};
  }
  for (const InputView& view : call.views()) {
    const Body& body = layout.bodies[view.buffer];
    order.pointers[order.pointer_count++] = {static_cast<std::uint32_t>(view.field_offset),
                                             body.arena, body.start + view.bytes};
  }
  order.callback_count = 0;
  for (const Callback& callback : call.callbacks())
    order.callbacks[order.callback_count++] = shape_of(callback);
}

}  // namespace gauntlet
