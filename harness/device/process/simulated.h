// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>

#include "harness/device/process/back_end.h"
#include "harness/simt/simt.h"

namespace gauntlet::device_process {

/// The back end of harness/simt.
class SimulatedBackEnd : public BackEnd {
 public:
  explicit SimulatedBackEnd(std::uint64_t memory_bytes) : memory_bytes_(memory_bytes) {}

  device_wire::DeviceFacts facts() const override;
  void load(std::string ptx) override;
  const std::vector<KernelInfo>& kernels() const override { return kernels_; }
  const std::vector<VariableInfo>& variables() const override { return variables_; }
  std::uint64_t map(const std::string& name, std::uint64_t bytes, std::byte poison,
                    simt::Alignment alignment) override;
  void unmap(std::uint64_t address) override;
  void protect(std::uint64_t address) override;
  void copy_in(std::uint64_t to, std::span<const std::byte> from, Writer writer) override;
  void copy_out(std::uint64_t from, std::span<std::byte> to) override;
  void copy_within(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) override;
  void fill(std::uint64_t to, std::byte value, std::uint64_t bytes) override;
  Origin origin(std::uint64_t address, std::uint64_t bytes) override;
  std::string refusal(std::size_t kernel, const simt::LaunchShape& shape,
                      std::size_t parameter_bytes) const override;
  simt::LaunchResult launch(std::size_t kernel, const simt::LaunchShape& shape,
                            std::span<const std::byte> parameters,
                            const simt::LaunchOptions& options) override;

 private:
  struct Place {
    simt::Region& region;
    std::size_t at;  // in the region
    std::span<std::byte> bytes;
  };
  Place place(std::uint64_t address, std::uint64_t bytes);

  std::uint64_t memory_bytes_;
  simt::DeviceMemory memory_;
  std::map<std::uint64_t, std::vector<std::byte>> storage_;  // of map(), by address
  std::optional<simt::Program> program_;
  std::vector<KernelInfo> kernels_;
  std::vector<VariableInfo> variables_;
};

}  // namespace gauntlet::device_process
