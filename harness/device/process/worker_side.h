// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "harness/device/process/engine.h"
#include "harness/device/wire.h"

namespace gauntlet::device_process {

/// Carries out what the worker asks. Everything that comes from there is checked here, once, after
/// it was copied; the bytes of a copy from the host are the exception, which nobody looks at.
class WorkerSide {
 public:
  WorkerSide(Engine& engine, device_wire::Mailbox& mailbox) : engine_(engine), mailbox_(mailbox) {}

  /// Takes the command that lies in the mailbox and leaves the answer there.
  void serve();

 private:
  using Command = device_wire::Command;
  using Answer = device_wire::Answer;

  Answer carry_out(const Command& command);
  Answer carry_out_on_memory(const Command& command);
  Answer carry_out_on_streams(const Command& command);
  Answer allocate(const Command& command);
  Answer release(const Command& command);
  Answer copy_in(const Command& command);
  Answer copy_out(const Command& command);
  Answer copy_within(const Command& command);
  Answer fill(const Command& command);
  Answer find_kernel(const Command& command);
  Answer find_variable(const Command& command);
  Answer set_shared_limit(const Command& command);
  Answer launch(const Command& command);

  Answer refuse(std::uint32_t error, const std::string& why);
  Answer forged(const std::string& why);
  Answer after_running();
  void reply(Answer& answer, const void* bytes, std::size_t count);
  bool takes_name(const Command& command, std::string& name);
  Buffer* to_write(std::uint64_t address, std::uint64_t bytes);

  Engine& engine_;
  device_wire::Mailbox& mailbox_;
};

}  // namespace gauntlet::device_process
