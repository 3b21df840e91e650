// SPDX-License-Identifier: Apache-2.0
// CUDA C++ through clang and our own headers, against sums in double that the tests do themselves.
#include <cmath>
#include <doctest/doctest.h>
#include <functional>
#include <numeric>

#include "harness/core/rng.h"
#include "tests/simt/compiled.h"

using namespace gauntlet;
using namespace gauntlet::simt;

namespace {

using Floats = std::vector<float>;
using Words = std::vector<std::uint32_t>;

std::size_t area(int rows, int columns) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
}

Floats normals(std::size_t count, std::uint64_t seed, double scale = 1) {
  Rng rng(seed);
  Floats values(count);
  for (float& value : values) value = float(rng.normal() * scale);
  return values;
}

void require_clean(const LaunchResult& got) {
  INFO(all_texts(got));
  CHECK(got.status == Status::completed);
  CHECK(got.diagnostics.empty());
}

}  // namespace

TEST_CASE("a tiled matrix product, its traffic and its conflicts") {
  if (!have_compiler()) return;
  SimulatedDevice device(ptx_of("matmul"));
  const int n = 64;
  const Floats a = normals(area(n, n), 1), b = normals(area(n, n), 2);
  const auto pa = device.put(a, "a", Access::read_only), pb = device.put(b, "b", Access::read_only);
  const auto pc = device.put(Floats(area(n, n)), "c", Access::read_write, Content::undefined);
  const LaunchResult got = device.launch({{4, 4, 1}, {16, 16, 1}}, pa, pb, pc, n);
  require_clean(got);
  const Floats c = device.get<float>(pc);
  for (int row = 0; row < n; ++row)
    for (int column = 0; column < n; ++column) {
      double sum = 0, size = 0;
      for (int k = 0; k < n; ++k) {
        sum += double(a[row * n + k]) * b[k * n + column];
        size += std::fabs(double(a[row * n + k]) * b[k * n + column]);
      }
      CHECK(std::fabs(c[row * n + column] - sum) <= n * 0x1p-24 * size);
    }
  // 16 blocks read 4 tiles of each matrix, 1024 bytes each: every element 4 times.
  const Counters& counters = got.counters;
  REQUIRE(counters.buffers.size() == 3);
  CHECK(counters.buffers[0].second.read.bytes == 4 * n * n * 4);
  CHECK(counters.buffers[1].second.read.bytes == 4 * n * n * 4);
  CHECK(counters.buffers[2].second.written.bytes == n * n * 4);
  // A warp's row of 16 floats is 64 bytes: 2 sectors, and it has two of them.
  CHECK(counters.buffers[0].second.read.sectors == 4 * n * n * 4 / 32);
  CHECK(counters.barriers == 16 * 8 * 4 * 2);
  CHECK(counters.shared_loads.conflicts() == 0);
  CHECK(counters.shared_stores.conflicts() == 0);
}

TEST_CASE("layer norm by warps, with a last block that is not full") {
  if (!have_compiler()) return;
  SimulatedDevice device(ptx_of("layer_norm"));
  const int rows = 13, columns = 200;
  const Floats x = normals(area(rows, columns), 3, 2), gamma = normals(columns, 4),
               beta = normals(columns, 5);
  const auto px = device.put(x), pg = device.put(gamma), pb = device.put(beta);
  const auto py =
      device.put(Floats(area(rows, columns)), "y", Access::read_write, Content::undefined);
  for (const std::optional<std::uint64_t> seed : {std::optional<std::uint64_t>(), {1}, {2}}) {
    device.options.schedule_seed = seed;
    require_clean(device.launch({{4, 1, 1}, {128, 1, 1}}, px, pg, pb, py, rows, columns));
  }
  const Floats y = device.get<float>(py);
  for (int row = 0; row < rows; ++row) {
    double mean = 0, variance = 0;
    for (int i = 0; i < columns; ++i) mean += x[row * columns + i] / double(columns);
    for (int i = 0; i < columns; ++i)
      variance += std::pow(x[row * columns + i] - mean, 2) / columns;
    for (int i = 0; i < columns; ++i) {
      const double wanted =
          (x[row * columns + i] - mean) / std::sqrt(variance + 1e-5) * gamma[i] + beta[i];
      CHECK(y[row * columns + i] == doctest::Approx(wanted).epsilon(1e-4));
    }
  }
}

TEST_CASE("softmax with dynamic shared memory, infinite logits and a missing barrier") {
  if (!have_compiler()) return;
  const int columns = 777;
  Floats x = normals(area(2, columns), 6, 5);
  x[5] = -INFINITY;
  int wrong = 0;
  const auto run = [&](const std::string& ptx) {
    SimulatedDevice device(ptx);
    const auto px = device.put(x, "x", Access::read_only);
    const auto py = device.put(Floats(x.size()), "y", Access::read_write, Content::undefined);
    const LaunchResult got = device.launch({{2, 1, 1}, {128, 1, 1}, 128 * 8}, px, py, columns);
    const Floats y = device.get<float>(py);
    wrong = 0;
    for (int row = 0; row < 2; ++row) {
      double most = -INFINITY, sum = 0;
      for (int i = 0; i < columns; ++i) most = std::fmax(most, x[row * columns + i]);
      for (int i = 0; i < columns; ++i) sum += std::exp(x[row * columns + i] - most);
      for (int i = 0; i < columns; ++i)
        wrong += y[row * columns + i] !=
                 doctest::Approx(std::exp(x[row * columns + i] - most) / sum).epsilon(1e-5);
    }
    return got;
  };
  require_clean(run(ptx_of("softmax")));
  CHECK(wrong == 0);
  // A warp runs until it has to wait: the first one reads what later ones have not written yet.
  std::string text = kernel_source("softmax");
  const std::string barrier = "partial[threadIdx.x] = state;\n  __syncthreads();";
  REQUIRE(text.find(barrier) != std::string::npos);
  text.replace(text.find(barrier), barrier.size(),
               "partial[threadIdx.x] = state;\n  __syncwarp();");
  const LaunchResult missing = run(compiled(text).bytes);
  INFO(all_texts(missing));
  CHECK(wrong > 0);
  REQUIRE(count_of(missing, Fault::race) > 0);
  CHECK(missing.diagnostics[0].source == "solution.cu:18");
  CHECK(count_of(missing, Fault::undefined_read) > 0);
}

TEST_CASE("a transposed tile has conflicts in all 32 rows, and none with a padded column") {
  if (!have_compiler()) return;
  SimulatedDevice device(ptx_of("transpose"));
  const int n = 64;
  const Floats in = normals(area(n, n), 7);
  const auto pin = device.put(in), pout = device.put(Floats(area(n, n)));
  for (const char* name : {"transpose_plain", "transpose_padded"}) {
    device.name = name;
    const LaunchResult got = device.launch({{2, 2, 1}, {32, 8, 1}}, pin, pout, n);
    require_clean(got);
    const Floats out = device.get<float>(pout);
    for (int row = 0; row < n; ++row)
      for (int column = 0; column < n; ++column)
        REQUIRE(out[column * n + row] == in[row * n + column]);
    CHECK(got.counters.shared_loads.requests == 4 * 32);
    CHECK(got.counters.shared_loads.wavefronts ==
          4 * 32 * (device.name == "transpose_plain" ? 32 : 1));
    CHECK(got.counters.global.read.sectors == n * n * 4 / 32);
  }
}

TEST_CASE("atomics in shared and in global memory") {
  if (!have_compiler()) return;
  SimulatedDevice device(ptx_of("histogram"));
  Rng rng(8);
  std::vector<std::uint8_t> data(5000);
  Words wanted(256);
  for (std::uint8_t& byte : data) ++wanted[byte = std::uint8_t(std::fabs(rng.normal()) * 60)];
  const auto pdata = device.put(data, "data", Access::read_only), bins = device.put(Words(256));
  require_clean(device.launch({{3, 1, 1}, {96, 1, 1}}, pdata, int(data.size()), bins));
  CHECK(device.get<std::uint32_t>(bins) == wanted);
}

TEST_CASE("the last block sums up: right with a fence, a race without") {
  if (!have_compiler()) return;
  const Floats x = normals(3000, 9);
  const double wanted = std::accumulate(x.begin(), x.end(), 0.0);
  for (const bool fence : {true, false}) {
    SimulatedDevice device(ptx_of("last_block", fence ? "" : "#define NO_FENCE\n"));
    const auto px = device.put(x), partial = device.put(Floats(8)), total = device.put(Floats(1));
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      device.options.schedule_seed = seed;
      const LaunchResult got =
          device.launch({{8, 1, 1}, {128, 1, 1}}, px, int(x.size()), partial, total);
      INFO(all_texts(got));
      CHECK(got.status == Status::completed);
      CHECK(device.get<float>(total)[0] == doctest::Approx(wanted).epsilon(1e-4));
      CHECK((count_of(got, Fault::race) > 0) == !fence);
    }
  }
}

TEST_CASE("half precision and bfloat16") {
  if (!have_compiler()) return;
  SimulatedDevice device(ptx_of("halves"));
  const int n = 32;
  const Floats x = normals(n, 10, 3), y = normals(n, 11, 3);
  const auto px = device.put(x), py = device.put(y), pout = device.put(Floats(area(9, n)));
  require_clean(device.launch({{1, 1, 1}, {n, 1, 1}}, px, py, pout, n));
  const Floats out = device.get<float>(pout);
  // A number with `bits` bits behind its first; all of these are normal ones.
  const auto kept = [](double value, int bits) {
    int exponent = 0;
    const double fraction = std::frexp(value, &exponent);
    return std::ldexp(std::nearbyint(std::ldexp(fraction, bits + 1)), exponent - bits - 1);
  };
  for (int i = 0; i < n; ++i) {
    const double a = kept(x[i], 10), b = kept(y[i], 10), c = kept(x[i], 7), d = kept(y[i], 7);
    const double wanted[] = {kept(a + b, 10),     kept(a * b, 10),     kept(a * b + a, 10),
                             kept(c + d, 7),      kept(c * d, 7),      kept(c * d + c, 7),
                             kept(a * b + a, 10), kept(b * b + a, 10), a < b ? 1.0 : 0.0};
    for (int k = 0; k < 9; ++k) {
      INFO(k);
      CHECK(out[k * n + i] == float(wanted[k]));
    }
  }
}

TEST_CASE("groups, votes, matches and shuffles") {
  if (!have_compiler()) return;
  SimulatedDevice device(ptx_of("groups"));
  const int n = 64;
  std::vector<int> in(n);
  Rng rng(12);
  for (int& value : in) value = int(rng.integer(0, 20));
  const auto pin = device.put(in), pout = device.put(std::vector<int>(area(11, n)));
  require_clean(device.launch({{1, 1, 1}, {n, 1, 1}}, pin, pout, n));
  const std::vector<int> out = device.get<int>(pout);
  const auto odd = std::count_if(in.begin(), in.end(), [](int value) { return value % 2 == 1; });
  for (int i = 0; i < n; ++i) {
    const int warp = i / 32 * 32, tile = i / 8 * 8, lane = i % 32;
    const auto first = in.begin() + warp;
    int threes = 0, before = 0, same = 0;
    std::uint32_t ballot = 0;
    for (int k = 0; k < 32; ++k) {
      threes += first[k] % 3 == 0;
      before += k < lane && first[k] % 3 == 0;
      same += first[k] % 4 == in[i] % 4;
      ballot |= std::uint32_t(first[k] & 1) << k;
    }
    INFO(i);
    CHECK(out[i] == std::accumulate(first, first + 32, 0));
    CHECK(out[n + i] == *std::max_element(in.begin() + tile, in.begin() + tile + 8));
    CHECK(out[2 * n + i] == in[tile + 3] * 100 + i % 8);
    CHECK(out[3 * n + i] == (in[i] % 3 == 0 ? before * 100 + threes : -1));
    CHECK(out[4 * n + i] == same);
    CHECK(out[5 * n + i] == *std::max_element(first, first + 32));
    CHECK(out[6 * n + i] == (lane < 3 ? in[i] : in[i - 3]));
    CHECK(out[7 * n + i] == (lane % 16 + 5 > 15 ? in[i] : in[i + 5]));
    CHECK(std::uint32_t(out[8 * n + i]) == ballot);
    CHECK(out[9 * n + i] == odd);
    CHECK(out[10 * n + i] == 2 + (std::find(in.begin(), in.end(), 7) != in.end()));
  }
}

TEST_CASE("printf and assert") {
  if (!have_compiler()) return;
  SimulatedDevice device(ptx_of("talk"));
  const LaunchResult got = device.launch({{1, 1, 1}, {8, 1, 1}}, 8);
  require_clean(got);
  CHECK(got.output ==
        "thread 0 of block:  0.00 1099511627776 ff%\nthread 1 of block:  1.50 1099511627776 ff%\n");
  const LaunchResult failed = device.launch({{1, 1, 1}, {8, 1, 1}}, 6);
  CHECK(failed.status == Status::trapped);
  CHECK(failed.why.find("assertion 'i < limit' failed at solution.cu:9") == 0);
  CHECK(failed.diagnostics.at(0).thread == Index3{6, 0, 0});
  device.options.most_output = 10;
  CHECK(device.launch({{1, 1, 1}, {8, 1, 1}}, 8).output == "thread 0 o");
}

TEST_CASE("what is outside the feature set is refused with its line") {
  if (!have_compiler()) return;
  std::string why;
  try {
    program_of(ptx_of("outside"));
  } catch (const PtxError& error) {
    why = error.what();
  }
  CHECK(why == "solution.cu:4: the instruction 'cp.async.bulk.commit_group' is not supported");
  CHECK(compiled("#include <cub/cub.cuh>\n").bytes.empty());
}
