// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/check.h"
#include "harness/core/rng.h"
#include "harness/device/device_control.h"
#include "harness/worker/session.h"

namespace gauntlet {

/// Solutions that solve nothing: what a grader must refuse whatever the challenge is.
///   untouched  returns 0 and writes nothing       copy      copies its first input
///   zeros      writes zeros                       mean      writes the mean of its first float
///   input ones       writes ones                        random    writes normal numbers, small
///   integers previous   right once, then repeats that answer for every input of the same shape
enum class NullKind { untouched, zeros, ones, copy, mean, random, previous };

constexpr int kNullKinds = 7;
std::string_view name_of(NullKind kind);
NullKind null_kind_named(std::string_view name);  // throws std::invalid_argument

/// Answers every call in the trusted process, without any solution. Functions that only return a
/// size say 0. `previous` needs somebody who knows the first answers: `teacher`, who must outlive
/// it. On a device it has one of which there is nothing to report.
class NullSession : public Session {
 public:
  NullSession(NullKind kind, const Seed& seed, Session* teacher = nullptr,
              Device device = Device::cpu);

  void run(CallBase& call) override;
  void restart() override;
  DeviceControl* device() override { return device_ == Device::cpu ? nullptr : &idle_; }

 private:
  class IdleDevice : public DeviceControl {
   public:
    void set_terms(const DeviceTerms&) override {}
    void set_stream(StreamKind) override {}
    const DeviceReport& report() const override { return nothing_; }

   private:
    DeviceReport nothing_;
  };

  struct Answer {
    std::int64_t returned = 0;
    std::vector<std::vector<std::byte>> outputs;  // in buffer order, inputs left out
  };

  void fill(const CallBase& call, const Buffer& buffer, std::vector<std::byte>& bytes);
  Answer made_up(const CallBase& call);
  const Answer& remembered(CallBase& call);

  NullKind kind_;
  Rng rng_;
  Session* teacher_;
  Device device_;
  IdleDevice idle_;
  Answer latest_;                                // results of a call point here until the next
  std::map<std::string, Answer> first_answers_;  // by symbol and shape
};

}  // namespace gauntlet
