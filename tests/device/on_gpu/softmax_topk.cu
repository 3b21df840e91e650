// SPDX-License-Identifier: Apache-2.0
// CASE OUTPUT RUNS: calls softmax_topk of the solution that is compiled with this, RUNS times.
#include "host.h"

#include "contract.h"

int main(int count, char** arguments) {
  if (count != 4) return 3;
  Case given(arguments[1]);
  std::FILE* const file = std::fopen(arguments[2], "wb");
  auto args = described<SoftmaxTopkArgs>(SOFTMAX_TOPK_ABI_VERSION, SOFTMAX_TOPK_CUDA,
                                         SOFTMAX_TOPK_F32);
  args.rows = given.number<std::int64_t>();
  args.vocab = given.number<std::int64_t>();
  args.k = given.number<std::int64_t>();
  args.row_stride = given.number<std::int64_t>();
  const std::int64_t lengths = given.number<std::int64_t>();
  args.scale = given.number<float>();
  args.logits = given.array<float>(args.rows * args.row_stride);
  args.valid_len = given.array<std::int64_t>(lengths);
  Output<std::int32_t> indices(args.rows * args.k);
  Output<float> probs(args.rows * args.k), lse(args.rows), row_max(args.rows);
  for (int run = 0; run < std::atoi(arguments[3]); ++run) {
    args.indices = indices.spoiled();
    args.probs = probs.spoiled();
    args.lse = lse.spoiled();
    args.row_max = row_max.spoiled();
    const std::int64_t status = status_of(args.stream, [&] { return softmax_topk(&args); });
    std::fwrite(&status, sizeof status, 1, file);
    indices.write(file);
    probs.write(file);
    lse.write(file);
    row_max.write(file);
  }
  std::fclose(file);
  return 0;
}
