// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <thread>

#include "harness/worker/time_budget.h"
#include "worker_fixture.h"

namespace gauntlet::test {

/// "out[i] = in[i] * factor for rows * cols numbers"; reply is a field that comes back.
struct Request {
  std::int64_t rows;
  std::int64_t cols;
  const float* in;
  float* out;
  double factor;
  std::int64_t reply;
};

struct CallbackArgs {
  std::int64_t (*scale)(void*, Request*);
  void* context;
  float* y;
  std::int64_t mode;
};

inline const char* const kCallbackContract = R"(
#pragma once
#include <stdint.h>
typedef struct {
  int64_t rows;
  int64_t cols;
  const float* in;
  float* out;
  double factor;
  int64_t reply;
} Request;
typedef struct {
  int64_t (*scale)(void* context, Request* request);
  void* context;
  float* y;
  int64_t mode;
} Args;
#ifdef __cplusplus
extern "C"
#endif
int64_t work(const Args* args);
)";

inline WorkerConfig limited(WorkerConfig config, double call_seconds, TimeBudget& budget) {
  config.call_seconds = call_seconds;
  config.budget = &budget;
  return config;
}

/// A solution, and a parent that scales and counts.
struct Scaling {
  TimeBudget budget{600, 600};
  WorkerSession session;
  Call<CallbackArgs> call{"work"};
  Output<float> y;
  int asked = 0;
  std::chrono::milliseconds pause{0};

  explicit Scaling(const std::string& body, const std::string& before = "", double seconds = 20)
      : session(limited(config_for(work(body, before), kCallbackContract), seconds, budget)),
        y(call.out<float>("y", call.args.y, 64)) {
    call.callback<std::int64_t(void*, Request*), Request>(
        "scale", call.args.scale, call.args.context,
        {{offsetof(Request, in),
          Direction::in,
          sizeof(float),
          1,
          {offsetof(Request, rows), offsetof(Request, cols)}},
         {offsetof(Request, out),
          Direction::out,
          sizeof(float),
          1,
          {offsetof(Request, rows), offsetof(Request, cols)}}},
        [this](Request& request, CallbackRequest& raw) {
          ++asked;
          std::this_thread::sleep_for(pause);
          const auto in = raw.array<float>(0);
          const auto out = raw.array<float>(1);
          for (std::size_t i = 0; i < in.size(); ++i)
            out[i] = static_cast<float>(in[i] * request.factor);
          request.reply = asked;
          return request.rows * 100 + request.cols;
        });
  }
};

}  // namespace gauntlet::test
