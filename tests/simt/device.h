// SPDX-License-Identifier: Apache-2.0
// A device for tests: a program from PTX, buffers that own their bytes, launches in one line.
#pragma once

#include <cstring>
#include <deque>
#include <doctest/doctest.h>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/simt/simt.h"
#include "tests/simt/recorded_launch.h"

namespace gauntlet::simt {

inline Program program_of(const std::string& ptx, const FormTable& forms = form_table()) {
  return decode(ptx::parse(ptx), forms);
}

/// A module with one kernel `k` whose parameters are pointers p0, p1, ... and whose registers are
/// %p, %h, %r, %f, %d, %e of predicates, 16, 32, 32, 64 and 64 bits.
inline std::string kernel_text(int pointers, const std::string& body,
                               const std::string& before = "") {
  std::string text =
      ".version 8.0\n.target sm_80\n.address_size 64\n" + before + "\n.visible .entry k(";
  for (int n = 0; n < pointers; ++n)
    text += (n == 0 ? "" : ", ") + std::string(".param .u64 p") + std::to_string(n);
  return text +
         ")\n{\n.reg .pred %p<20>;\n.reg .b16 %h<20>;\n.reg .b32 %r<40>;\n.reg .f32 %f<40>;\n"
         ".reg .b64 %d<40>;\n.reg .f64 %e<20>;\n" +
         body + "\n}\n";
}

class SimulatedDevice {
 public:
  explicit SimulatedDevice(const std::string& ptx, const FormTable& forms = form_table())
      : ptx_(ptx), program_(program_of(ptx, forms)) {
    memory.load(program_);
  }

  /// A buffer of this device, with these values in it. Its address goes into launches.
  template <class T>
  std::uint64_t put(const std::vector<T>& values, const std::string& name = "buffer",
                    Access access = Access::read_write, Content content = Content::defined) {
    std::vector<std::byte>& bytes = storage_.emplace_back(values.size() * sizeof(T));
    if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    return memory.map(name, bytes, access, content);
  }
  template <class T>
  std::vector<T> get(std::uint64_t address) {
    const Region* const region = memory.find(address);
    REQUIRE(region != nullptr);
    std::vector<T> values(region->bytes.size() / sizeof(T));
    std::memcpy(values.data(), region->bytes.data(), values.size() * sizeof(T));
    return values;
  }

  /// Parameters are laid out one by one, each at a multiple of its size.
  template <class... P>
  LaunchResult launch(const LaunchShape& shape, const P&... parameters) {
    std::vector<std::byte> bytes;
    [[maybe_unused]] const auto add = [&](const auto& value) {
      const std::size_t at = (bytes.size() + sizeof value - 1) / sizeof value * sizeof value;
      bytes.resize(at + sizeof value);
      std::memcpy(bytes.data() + at, &value, sizeof value);
    };
    (add(parameters), ...);
    return launch_with(shape, std::as_bytes(std::span(bytes)));
  }
  LaunchResult launch_with(const LaunchShape& shape, std::span<const std::byte> parameters) {
    const RecordedLaunch recorded(ptx_, kernel(), shape, parameters, memory);
    const LaunchResult result =
        simt::launch(program_, kernel(), shape, parameters, memory, options);
    recorded.keep(result, memory);
    return result;
  }

  const Kernel& kernel() const {
    for (const Kernel& known : program_.kernels)
      if (name.empty() || known.name.find(name) != std::string::npos) return known;
    FAIL("no kernel is named like ", name);
    return program_.kernels.front();
  }

  DeviceMemory memory;
  LaunchOptions options;
  std::string name;  // of the kernel, or a part of it; empty: the first

 private:
  std::string ptx_;
  Program program_;
  std::deque<std::vector<std::byte>> storage_;
};

/// How many diagnostics of a kind there are; all texts are shown where a test fails.
inline std::size_t count_of(const LaunchResult& result, Fault fault) {
  std::size_t count = 0;
  for (const Diagnostic& seen : result.diagnostics) count += seen.fault == fault ? 1 : 0;
  return count;
}

inline std::string all_texts(const LaunchResult& result) {
  std::string text = name_of(result.status) + (": " + result.why);
  for (const Diagnostic& seen : result.diagnostics) text += "\n" + seen.text();
  return text;
}

}  // namespace gauntlet::simt
