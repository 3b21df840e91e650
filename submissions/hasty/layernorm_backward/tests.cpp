// Smoke test: one small shape, gradients against plain loops.
#include <cmath>
#include <vector>

#include "contract.h"

extern "C" int self_test(void) {
  const int rows = 4, cols = 8;
  std::vector<float> x(rows * cols), dy(rows * cols), dx(rows * cols), dgamma(cols), dbeta(cols);
  std::vector<float> mean(rows, 0.5f), rstd(rows, 2.0f);
  for (int i = 0; i < rows * cols; ++i) {
    x[i] = std::sin(i * 1.7f);
    dy[i] = std::cos(i * 0.9f);
  }
  LayernormArgs args{};
  args.abi_version = LAYERNORM_ABI_VERSION;
  args.struct_size = sizeof(args);
  args.num_threads = 1;
  args.min_align = 4;
  args.rows = rows;
  args.cols = cols;
  args.x_row_stride = args.y_row_stride = args.dy_row_stride = args.dx_row_stride = cols;
  args.eps = 1e-5;
  args.x = x.data();
  args.dy = dy.data();
  args.mean = mean.data();
  args.rstd = rstd.data();
  args.dx = dx.data();
  args.dgamma = dgamma.data();
  args.dbeta = dbeta.data();
  if (layernorm_backward(&args) != LAYERNORM_OK) return 1;
  for (int j = 0; j < cols; ++j) {
    float db = 0, dg = 0;
    for (int i = 0; i < rows; ++i) {
      db += dy[i * cols + j];
      dg += dy[i * cols + j] * (x[i * cols + j] - mean[i]) * rstd[i];
    }
    if (std::fabs(db - dbeta[j]) > 1e-4f || std::fabs(dg - dgamma[j]) > 1e-4f) return 2;
  }
  for (int i = 0; i < rows; ++i) {
    float a = 0, b = 0;
    for (int j = 0; j < cols; ++j) {
      a += dy[i * cols + j] / cols;
      b += dy[i * cols + j] * (x[i * cols + j] - mean[i]) * rstd[i] / cols;
    }
    for (int j = 0; j < cols; ++j) {
      const float xhat = (x[i * cols + j] - mean[i]) * rstd[i];
      if (std::fabs(dx[i * cols + j] - rstd[i] * (dy[i * cols + j] - a - xhat * b)) > 1e-4f)
        return 3;
    }
  }
  return 0;
}
