// SPDX-License-Identifier: Apache-2.0
#include "refused_room.h"

#include <fmt/format.h>
#include <limits>

#include "graders/kit/bits.h"
#include "graders/kit/refusals.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

using kit::Assignment;

namespace {

/// A size comes back, and nothing else.
void require_only_size(Probe& probe, TrainingCall& call) {
  if (call.returned != TERNARY_NO_SPACE)
    probe.fail(fmt::format("ternary_train returned {}, want {}", call.returned,
                           std::int64_t{TERNARY_NO_SPACE}));
  for (const Buffer& buffer : call.buffers())
    if (buffer.direction == Direction::out && buffer.name != "checkpoint_bytes" &&
        !kit::is_poison(buffer.result))
      probe.fail(
          fmt::format("ternary_train wrote {} and not only the size that it needs", buffer.name));
  if (!call.result().reports.empty()) probe.fail("ternary_train began to train");
}

}  // namespace

void require_no_space(Probe& probe, TrainingCall& call, std::int64_t want) {
  probe.run(call);
  require_only_size(probe, call);
  if (const std::int64_t got = call.result().checkpoint_bytes; got != want)
    probe.fail(fmt::format("checkpoint_bytes is {}, want {}", got, want));
}

void refuse_space(Probe& probe, const TrainingRequest& good, const Assignment&) {
  TrainingRequest request = good;
  request.spare_bytes = 0;
  const std::int64_t needed = checkpoint_bytes_of(request.model);
  for (const std::int64_t capacity :
       {needed - 1, needed / 2, std::int64_t{32}, std::int64_t{0}, std::int64_t{-1},
        needed - (std::int64_t{1} << 32), std::numeric_limits<std::int64_t>::min()}) {
    TrainingCall call(request);
    call.args.checkpoint_capacity = capacity;
    kit::naming_flaw(fmt::format("a capacity of {}", capacity),
                     [&] { require_no_space(probe, call, needed); });
  }
  TernaryModel two = request.model;
  ++two.layers;
  const std::int64_t layer = checkpoint_bytes_of(two) - needed;
  for (const std::int64_t more : {std::int64_t{1}, std::int64_t{1} << 20, std::int64_t{1} << 30}) {
    TrainingCall call(request);
    call.args.model.layers += more;
    kit::naming_flaw(fmt::format("{} layers more", more),
                     [&] { require_no_space(probe, call, needed + more * layer); });
  }
}

void refuse_far_too_large(Probe& probe, const TrainingRequest& good, const Assignment&) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  for (const int width : {14, 16, 24, 30})
    for (const int layers : {0, 1, 8, 30}) {
      TernaryModel model = good.model;
      model.group = 4;
      model.heads = 1;
      model.width = model.hidden = std::int64_t{1} << width;
      model.layers = std::int64_t{1} << layers;
      // Each layer takes 5.25 width^2 bytes, and all else less than half as many.
      const int squares = 2 * width + layers;
      const bool exact = squares + 3 <= 53;
      const std::int64_t size = exact ? checkpoint_bytes_of(model) : kMost;
      const bool beyond_64_bits = squares + 2 >= 63;
      for (const std::int64_t capacity : {std::int64_t{4096}, exact ? size - 1 : kMost}) {
        if (capacity == kMost && !beyond_64_bits) continue;  // it is enough
        TrainingCall call(good);
        call.args.model = model;
        call.args.checkpoint_capacity = capacity;
        kit::naming_flaw(
            fmt::format("a width of 2^{}, 2^{} layers and room for {}", width, layers, capacity),
            [&] {
              if (exact) return require_no_space(probe, call, size);
              probe.run(call);
              require_only_size(probe, call);
            });
      }
    }
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
