// SPDX-License-Identifier: Apache-2.0
// Each function of two numbers, by its place in a list; FLOAT or double.
#ifdef FLOAT
typedef float number;
#define F(name) name##f
#else
typedef double number;
#define F(name) name
#endif

__global__ void functions(const number* x, const number* y, number* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const number a = x[i], b = y[i];
  number* o = out + i;
#define NEXT(value) \
  *o = (value);     \
  o += n
  NEXT(F(exp)(a));
  NEXT(F(exp2)(a));
  NEXT(F(expm1)(a));
  NEXT(F(log)(b));
  NEXT(F(log2)(b));
  NEXT(F(log10)(b));
  NEXT(F(log1p)(b));
  NEXT(F(pow)(b, a));
  NEXT(F(sin)(a));
  NEXT(F(cos)(a));
  NEXT(F(tan)(a));
  NEXT(F(atan)(a));
  NEXT(F(atan2)(a, b));
  NEXT(F(sinh)(a));
  NEXT(F(cosh)(a));
  NEXT(F(tanh)(a));
  NEXT(F(cbrt)(a));
  NEXT(F(sqrt)(b));
  NEXT(F(fmod)(a, b));
  NEXT(F(hypot)(a, b));
  NEXT(F(erf)(a));
  NEXT(F(floor)(a));
  NEXT(F(round)(a));
  NEXT(F(rint)(a));
}
