#pragma once

#include <stddef.h>
#include <stdint.h>

/* Layer normalisation over the last axis, forward and backward.
 *
 *   mean[i] = sum_j x[i][j] / cols
 *   var[i]  = sum_j (x[i][j] - mean[i])^2 / cols
 *   rstd[i] = 1 / sqrt(var[i] + eps)
 *   xhat    = (x - mean) * rstd
 *   y       = gamma * xhat + beta                                        (forward)
 *
 * and, for a loss whose gradient with respect to y is dy (backward):
 *
 *   w         = gamma * dy
 *   a[i]      = sum_j w[i][j] / cols
 *   b[i]      = sum_j w[i][j] * xhat[i][j] / cols
 *
 *   dx[i][j]  = rstd[i] * (w[i][j] - a[i] - xhat[i][j] * b[i])
 *
 *   dgamma[j] = sum_i dy[i][j] * xhat[i][j]
 *
 *   dbeta[j]  = sum_i dy[i][j]
 *
 * Source: Ba, Kiros, Hinton 2016, "Layer Normalization"; the backward function is that of PyTorch's
 * native_layer_norm_backward.
 *
 * THE THREE FUNCTIONS. A training step asks layernorm_saved_bytes how much the forward pass wants
 * to leave for the backward pass, allocates that much, runs layernorm_forward, and later runs
 * layernorm_backward on the same x. Between the two, other steps may run, the saved bytes may be
 * copied elsewhere, and the backward pass may even run in another process: everything that it needs
 * is in its arguments. device, rows, cols, types, num_threads, eps and the values of x and gamma
 * are the same in all three calls of a step, as far as they are given. deterministic, min_align,
 * addresses and strides need not be.
 *
 *   layernorm_saved_bytes  bytes of `saved_out` for these sizes, 0 or more. Looks at sizes, types
 *                          and num_threads; every pointer is null. Of sizes that the others
 *                          refuse it may answer anything.
 *   layernorm_forward      reads x, gamma, beta; writes y unless it is null, and saved_out.
 *   layernorm_backward     reads x, gamma, dy and either saved_in, as the forward pass left it, or
 *                          mean and rstd when these are given; writes those of dx, dgamma and dbeta
 *                          that are not null.
 *
 * Given statistics are authoritative: the formulas above are evaluated with mean[i] and rstd[i] as
 * they are, also where they are not those of x. saved_in is null then, and saved_bytes 0. In the
 * forward pass mean and rstd are null.
 *
 * dy, dx, dgamma and dbeta may be given to the forward pass as well, and y to the backward pass:
 * what a function does not write by the list above stays as it is.
 *
 * LAYOUT. Arrays are row-major. Row i of x starts at x + i * x_row_stride, strides count elements
 * and are at least cols; the elements of a row are adjacent. What lies between two rows is not part
 * of the array: it may hold anything, and must not be written. gamma, beta, dgamma and dbeta are
 * dense [cols], mean and rstd dense [rows]. No array overlaps another.
 *
 * ALIGNMENT. x, gamma, beta, dy, mean, rstd, y, dx, dgamma and dbeta are multiples of min_align
 * bytes, which is a power of two and at least the size of an element; nothing follows for the rows
 * after the first. saved_in and saved_out are multiples of 64.
 *
 * VALUES. All results are overwritten, never accumulated into; they hold garbage at first. Inputs
 * must not be written. x, gamma and dy are finite and may be as large as 1e18 in magnitude, as long
 * as the results, the sums in the formulas, cols * w and the sum of squares of a row of x are
 * representable in float; rows may be constant.
 * NaN or infinity in row i of x or dy may spoil row i of y and dx, and all of dgamma and dbeta, and
 * nothing else. No row, or one row, or one column is a valid size: sums over nothing are 0.
 *
 * ACCURACY. Results are compared element by element with the formulas in float64 on the same
 * float32 inputs. Careful float32 arithmetic is enough everywhere; float64 is allowed.
 *
 * RETURN. 0 when everything was written. LAYERNORM_BAD_ARGUMENT for rows < 0, cols < 1, a row
 * stride below cols of an array that is given, num_threads < 1, eps negative or NaN, x or dy
 * missing while rows > 0, or only one of mean and rstd. LAYERNORM_UNSUPPORTED for another
 * abi_version or device, and for an element type that is not implemented, also where no array of it
 * is given. Where both apply, either is right. Outputs stay untouched in both cases. Of an array
 * that only the other pass uses the stride may be judged or not.
 *
 * FLOATING POINT. A function returns with the rounding mode, and with the treatment of subnormal
 * numbers, that it was called with.
 *
 * LIMITS. rows * cols up to 2^40 where memory allows: use 64-bit arithmetic. Scratch memory is
 * yours to allocate and to free; it may grow with rows and with num_threads * cols, and should not
 * grow with rows * cols.
 *
 * DEVICE. With LAYERNORM_CUDA all pointers of the struct but stream are pointers to memory of the
 * current CUDA device, and so is scratch memory; the struct itself lies on the host. Kernels
 * compute the results, and a call copies 256 bytes or less from the device to the host. All of its
 * work comes behind what the stream holds already, and is done when the stream is: the call may
 * return before that. The stream may wait for the default stream, may be one that does not
 * (cudaStreamNonBlocking), or null: the default stream. What one thread writes and another reads or
 * writes is kept apart by barriers, fences, atomics or the ends of kernels, and nothing is read
 * that nobody has written. Scratch memory may grow with cols for every multiprocessor instead of
 * every host thread. A positive return value is the cudaError_t of a CUDA function that failed.
 */

#ifdef __cplusplus
extern "C" {
#endif

enum { LAYERNORM_ABI_VERSION = 1 };

enum LayernormStatus { LAYERNORM_OK = 0, LAYERNORM_UNSUPPORTED = -1, LAYERNORM_BAD_ARGUMENT = -2 };

enum LayernormDevice { LAYERNORM_HOST = 0, LAYERNORM_CUDA = 1 };

/* Only LAYERNORM_F32 is graded; the 16-bit types may be refused as unsupported. */
enum LayernormType { LAYERNORM_F32 = 0, LAYERNORM_F16 = 1, LAYERNORM_BF16 = 2 };

typedef struct LayernormArgs {
  int32_t abi_version;    /* LAYERNORM_ABI_VERSION */
  int32_t struct_size;    /* sizeof(LayernormArgs) of the caller */
  int32_t device;         /* enum LayernormDevice: where all pointers point to */
  int32_t num_threads;    /* host threads at work at most, the caller's included; 1 to 1024 */
  int32_t deterministic;  /* any but 0: same arguments, same num_threads, same bits in every run */
  int32_t min_align;      /* bytes; see ALIGNMENT */
  int32_t data_type;      /* enum LayernormType of x, y, dy, dx */
  int32_t parameter_type; /* enum LayernormType of gamma, beta, dgamma, dbeta */
  void* stream;           /* CUDA stream to launch on; null on the host */

  int64_t rows; /* >= 0 */
  int64_t cols; /* >= 1 */
  int64_t x_row_stride;
  int64_t y_row_stride;
  int64_t dy_row_stride;
  int64_t dx_row_stride;
  double eps; /* >= 0, added to the variance under the root */

  const void* x;
  const void* gamma; /* null: all ones */
  const void* beta;  /* null: all zeros */
  const void* dy;
  const float* mean; /* null unless the caller brings the statistics, then rstd as well */
  const float* rstd;
  const void* saved_in; /* backward; may be null when saved_bytes is 0 */

  void* y;         /* forward; null: not wanted */
  void* saved_out; /* forward; may be null when saved_bytes is 0 */
  void* dx;        /* backward; null: not wanted, as for the next two */
  void* dgamma;
  void* dbeta;
  int64_t saved_bytes; /* what layernorm_saved_bytes answered */
} LayernormArgs;

int64_t layernorm_saved_bytes(const LayernormArgs* args);
int64_t layernorm_forward(const LayernormArgs* args);
int64_t layernorm_backward(const LayernormArgs* args);

#ifdef __cplusplus
}
#endif
