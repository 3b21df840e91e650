// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/device/wire.h"
#include "harness/simt/execute/launch.h"

namespace gauntlet::device_process {

struct KernelInfo {
  std::string name;  // as PTX and clang's registration have it
  device_wire::KernelFacts facts{};
  std::vector<device_wire::Parameter> parameters;
};

struct VariableInfo {
  std::string name;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

/// Bytes of a range by who wrote them last.
struct Origin {
  std::uint64_t unwritten = 0;
  std::uint64_t from_host = 0;
};

/// What has memory and executes kernels. Whoever calls has checked that addresses lie in one
/// mapped range; kernels are named by their place in kernels().
class BackEnd {
 public:
  virtual ~BackEnd() = default;

  virtual device_wire::DeviceFacts facts() const = 0;

  /// Once. Throws simt::PtxError with the line that it cannot execute.
  virtual void load(std::string ptx) = 0;
  virtual const std::vector<KernelInfo>& kernels() const = 0;
  virtual const std::vector<VariableInfo>& variables() const = 0;

  /// Memory that holds the byte `poison` everywhere, and nothing that anybody has written. Throws
  /// std::bad_alloc. Whatever is mapped stays where it is until unmap.
  virtual std::uint64_t map(const std::string& name, std::uint64_t bytes, std::byte poison,
                            simt::Alignment alignment) = 0;
  virtual void unmap(std::uint64_t address) = 0;
  /// Kernels may only read it from now on.
  virtual void protect(std::uint64_t address) = 0;

  enum class Writer { host, grader };
  virtual void copy_in(std::uint64_t to, std::span<const std::byte> from, Writer writer) = 0;
  virtual void copy_out(std::uint64_t from, std::span<std::byte> to) = 0;
  virtual void copy_within(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) = 0;
  virtual void fill(std::uint64_t to, std::byte value, std::uint64_t bytes) = 0;
  virtual Origin origin(std::uint64_t address, std::uint64_t bytes) = 0;

  /// Why a launch could not begin; empty when it can.
  virtual std::string refusal(std::size_t kernel, const simt::LaunchShape& shape,
                              std::size_t parameter_bytes) const = 0;
  virtual simt::LaunchResult launch(std::size_t kernel, const simt::LaunchShape& shape,
                                    std::span<const std::byte> parameters,
                                    const simt::LaunchOptions& options) = 0;
};

}  // namespace gauntlet::device_process
