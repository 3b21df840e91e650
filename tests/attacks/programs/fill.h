// SPDX-License-Identifier: Apache-2.0
// The same number as every answer.
#pragma once
#include "contract.h"

static void fill(const LayernormArgs* a, float value) {
  for (int64_t i = 0; i < a->rows && a->dx; ++i)
    for (int64_t j = 0; j < a->cols; ++j) ((float*)a->dx)[i * a->dx_row_stride + j] = value;
  for (int64_t j = 0; j < a->cols; ++j) {
    if (a->dgamma) ((float*)a->dgamma)[j] = value;
    if (a->dbeta) ((float*)a->dbeta)[j] = value;
  }
}
