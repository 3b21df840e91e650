// SPDX-License-Identifier: Apache-2.0
// CASE OUTPUT RUNS: a forward and a backward pass of the solution that is compiled with this, RUNS
// times.
#include "host.h"

#include "contract.h"

int main(int count, char** arguments) {
  if (count != 4) return 3;
  Case given(arguments[1]);
  std::FILE* const file = std::fopen(arguments[2], "wb");
  auto args = described<LayernormArgs>(LAYERNORM_ABI_VERSION, LAYERNORM_CUDA, LAYERNORM_F32);
  args.parameter_type = LAYERNORM_F32;
  const std::int64_t rows = args.rows = given.number<std::int64_t>();
  const std::int64_t cols = args.cols = given.number<std::int64_t>();
  const std::int64_t stride = given.number<std::int64_t>();
  args.x_row_stride = args.dy_row_stride = stride;
  args.y_row_stride = args.dx_row_stride = cols;
  args.eps = given.number<double>();
  float* const x = given.array<float>(rows * stride);
  float* const gamma = given.array<float>(cols);
  float* const beta = given.array<float>(cols);
  float* const dy = given.array<float>(rows * stride);
  args.saved_bytes = layernorm_saved_bytes(&args);
  Output<unsigned char> saved(args.saved_bytes > 0 ? args.saved_bytes : 1);
  Output<float> y(rows * cols), dx(rows * cols), dgamma(cols), dbeta(cols);
  args.x = x;
  args.gamma = gamma;
  for (int run = 0; run < std::atoi(arguments[3]); ++run) {
    LayernormArgs forward = args, backward = args;
    unsigned char* const kept = saved.spoiled();
    forward.beta = beta;
    forward.y = y.spoiled();
    forward.saved_out = kept;
    backward.dy = dy;
    backward.saved_in = kept;
    backward.dx = dx.spoiled();
    backward.dgamma = dgamma.spoiled();
    backward.dbeta = dbeta.spoiled();
    const std::int64_t status = status_of(args.stream, [&] {
      const std::int64_t passed = layernorm_forward(&forward);
      return passed == 0 ? layernorm_backward(&backward) : passed;
    });
    std::fwrite(&status, sizeof status, 1, file);
    y.write(file);
    dx.write(file);
    dgamma.write(file);
    dbeta.write(file);
  }
  std::fclose(file);
  return 0;
}
