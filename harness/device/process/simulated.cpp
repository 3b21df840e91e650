// SPDX-License-Identifier: Apache-2.0
#include "harness/device/process/simulated.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "harness/simt/execute/grid.h"
#include "harness/simt/memory/address.h"

namespace gauntlet::device_process {
namespace {

static_assert(device_wire::kDeviceBase == simt::kGlobalBase);

constexpr std::uint32_t kSharedWithoutAsking = 48u << 10;

/// Parameters lie one behind the other, each at a multiple of its alignment, as PTX has them.
std::vector<device_wire::Parameter> parameters_of(const simt::ptx::Function& function) {
  std::vector<device_wire::Parameter> all;
  std::uint64_t at = 0;
  for (const simt::ptx::Variable& parameter : function.parameters) {
    const std::uint64_t align = std::max<std::uint64_t>(parameter.align, 1);
    at = (at + align - 1) / align * align;
    all.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(parameter.bytes)});
    at += parameter.bytes;
  }
  return all;
}

/// Bits of one range to those of another: whole words where the source has all or none of them.
void copy_bits(const simt::DefinedBytes& from, std::size_t from_at, simt::DefinedBytes& to,
               std::size_t to_at, std::size_t count) {
  for (std::size_t done = 0; done < count;) {
    const std::size_t part = std::min<std::size_t>(count - done, 64);
    const std::size_t set = from.count_of(from_at + done, part);
    if (set != part) to.remove(to_at + done, part);
    if (set == part) to.add(to_at + done, part);
    if (set != 0 && set != part)
      for (std::size_t n = done; n < done + part; ++n)
        if (from.has(from_at + n, 1)) to.add(to_at + n, 1);
    done += part;
  }
}

}  // namespace

device_wire::DeviceFacts SimulatedBackEnd::facts() const {
  device_wire::DeviceFacts facts{};
  std::strncpy(facts.name, "Gauntlet simulated device", sizeof facts.name - 1);
  facts.memory_bytes = memory_bytes_;
  facts.major = 8;
  facts.minor = 0;
  facts.multiprocessors = 108;
  return facts;
}

void SimulatedBackEnd::load(std::string ptx) {
  if (program_) throw std::logic_error("PTX was loaded before");
  program_ = simt::decode(simt::ptx::parse(std::move(ptx)));
  memory_.load(*program_);
  for (const simt::Kernel& kernel : program_->kernels) {
    KernelInfo info;
    info.name = kernel.name;
    info.facts.static_shared = kernel.static_shared;
    info.facts.most_dynamic_shared =
        kSharedWithoutAsking - std::min(kSharedWithoutAsking, kernel.static_shared);
    info.facts.local_bytes = kernel.local_bytes;
    info.facts.most_threads = kernel.most_threads;
    for (const simt::ptx::Function& function : program_->module->functions)
      if (function.is_kernel && !function.is_declared_only && function.name == kernel.name)
        info.parameters = parameters_of(function);
    info.facts.parameter_count = static_cast<std::uint32_t>(info.parameters.size());
    kernels_.push_back(std::move(info));
  }
  for (std::size_t n = 0; n < program_->module->variables.size(); ++n)
    if (const std::uint64_t address = memory_.address_of(n); address != 0)
      variables_.push_back(
          {program_->module->variables[n].name, address, program_->module->variables[n].bytes});
}

std::uint64_t SimulatedBackEnd::map(const std::string& name, std::uint64_t bytes, std::byte poison,
                                    simt::Alignment alignment) {
  std::vector<std::byte> storage(bytes, poison);
  const std::uint64_t address =
      memory_.map(name, storage, simt::Access::read_write, simt::Content::undefined, alignment);
  storage_[address] = std::move(storage);  // its bytes stay where they are
  return address;
}

void SimulatedBackEnd::unmap(std::uint64_t address) {
  simt::Region* const region = memory_.find(address);
  memory_.unmap(address);
  if (region != nullptr) region->defined = region->from_host = {};
  storage_.erase(address);
}

void SimulatedBackEnd::protect(std::uint64_t address) {
  place(address, 0).region.access = simt::Access::read_only;
}

SimulatedBackEnd::Place SimulatedBackEnd::place(std::uint64_t address, std::uint64_t bytes) {
  simt::Region* const region = memory_.find(address);
  if (region == nullptr || !region->is_mapped || !region->holds(address, bytes))
    throw std::logic_error("an address that nobody has checked");
  const std::size_t at = address - region->address;
  return {*region, at, region->bytes.subspan(at, bytes)};
}

void SimulatedBackEnd::copy_in(std::uint64_t to, std::span<const std::byte> from, Writer writer) {
  const Place target = place(to, from.size());
  std::memcpy(target.bytes.data(), from.data(), from.size());
  simt::Region& region = target.region;
  if (region.defined.tracked()) region.defined.add(target.at, from.size());
  if (writer == Writer::grader) return;
  if (!region.from_host.tracked()) region.from_host.forget(region.bytes.size());
  region.from_host.add(target.at, from.size());
}

void SimulatedBackEnd::copy_out(std::uint64_t from, std::span<std::byte> to) {
  std::memcpy(to.data(), place(from, to.size()).bytes.data(), to.size());
}

void SimulatedBackEnd::copy_within(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  const Place target = place(to, bytes), source = place(from, bytes);
  std::memmove(target.bytes.data(), source.bytes.data(), bytes);
  simt::Region& into = target.region;
  if (into.defined.tracked()) {
    if (source.region.defined.tracked())
      copy_bits(source.region.defined, source.at, into.defined, target.at, bytes);
    else
      into.defined.add(target.at, bytes);
  }
  if (source.region.from_host.tracked()) {
    if (!into.from_host.tracked()) into.from_host.forget(into.bytes.size());
    copy_bits(source.region.from_host, source.at, into.from_host, target.at, bytes);
  } else if (into.from_host.tracked()) {
    into.from_host.remove(target.at, bytes);
  }
}

void SimulatedBackEnd::fill(std::uint64_t to, std::byte value, std::uint64_t bytes) {
  const Place target = place(to, bytes);
  std::fill(target.bytes.begin(), target.bytes.end(), value);
  if (target.region.defined.tracked()) target.region.defined.add(target.at, bytes);
  if (target.region.from_host.tracked()) target.region.from_host.remove(target.at, bytes);
}

Origin SimulatedBackEnd::origin(std::uint64_t address, std::uint64_t bytes) {
  const Place range = place(address, bytes);
  Origin origin;
  if (range.region.defined.tracked())
    origin.unwritten = bytes - range.region.defined.count_of(range.at, bytes);
  if (range.region.from_host.tracked())
    origin.from_host = range.region.from_host.count_of(range.at, bytes);
  return origin;
}

std::string SimulatedBackEnd::refusal(std::size_t kernel, const simt::LaunchShape& shape,
                                      std::size_t parameter_bytes) const {
  return simt::refusal(program_->kernels.at(kernel), shape, parameter_bytes);
}

simt::LaunchResult SimulatedBackEnd::launch(std::size_t kernel, const simt::LaunchShape& shape,
                                            std::span<const std::byte> parameters,
                                            const simt::LaunchOptions& options) {
  return simt::launch(*program_, program_->kernels.at(kernel), shape, parameters, memory_, options);
}

}  // namespace gauntlet::device_process
