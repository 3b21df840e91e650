// Tests through the contract alone: the quantiser and the linear layer against double precision and
// cases worked out by hand, logits of random checkpoints against a forward pass of our own, and
// short trainings whose checkpoints that forward pass judges.
#include <algorithm>
#include <cmath>
#include <ctime>
#include <vector>

#include "contract.h"
#include "tests_model.h"

namespace {

int failures = 0;

void expect(bool holds) {
  failures += holds ? 0 : 1;
}

template <class Args>
Args made(int threads = 1) {
  Args args{};
  args.abi_version = TERNARY_ABI_VERSION;
  args.struct_size = sizeof(Args);
  args.num_threads = threads;
  args.min_align = 4;
  return args;
}

// ---------------------------------------------------------------- quantiser

struct Quantised {
  int64_t status;
  Bytes codes;
  std::vector<uint16_t> scales;
  int trit(size_t i) const { return (codes[i / 4] >> (2 * (i % 4)) & 3) - 1; }
};

Quantised quantised(const Floats& w, int64_t rows, int64_t columns, int64_t group,
                    int threads = 1) {
  Quantised q{0, Bytes(w.size() / 4 + 1, 0xee), std::vector<uint16_t>(w.size(), 0xeeee)};
  auto args = made<TernaryQuantizeArgs>(threads);
  args.rows = rows;
  args.columns = columns;
  args.group = group;
  args.weight = w.data();
  args.codes = q.codes.data();
  args.scales = q.scales.data();
  q.status = ternary_quantize(&args);
  return q;
}

bool is_untouched(const Quantised& q) {
  return q.codes[0] == 0xee && q.scales[0] == 0xeeee;
}

void by_hand(const Floats& w, int64_t rows, int64_t group, const std::vector<int>& trits,
             const std::vector<int>& scales) {
  const Quantised q = quantised(w, rows, static_cast<int64_t>(w.size()) / rows, group);
  expect(q.status == TERNARY_OK);
  for (size_t i = 0; i < trits.size(); ++i) expect(q.trit(i) == trits[i]);
  for (size_t g = 0; g < scales.size(); ++g) expect(q.scales[g] == scales[g]);
  expect(q.codes[w.size() / 4] == 0xee && q.scales[scales.size()] == 0xeeee);
}

/// Trits and scales as the contract defines them.
Doubles weights_of(const Floats& w, int64_t group) {
  Doubles result;
  for (size_t start = 0; start < w.size(); start += static_cast<size_t>(group)) {
    double sum = 0;
    for (int64_t i = 0; i < group; ++i) sum += std::fabs(double{w[start + static_cast<size_t>(i)]});
    const double scale = from_half(to_half(sum / static_cast<double>(group)));
    for (int64_t i = 0; i < group; ++i) {
      const double x = w[start + static_cast<size_t>(i)];
      const bool kept = scale > 0 && std::fabs(x) > scale / 2;
      result.push_back(!kept ? 0 : x > 0 ? scale : -scale);
    }
  }
  return result;
}

void test_quantiser() {
  by_hand({1, .5f, -.5f, 2}, 1, 4, {1, 0, 0, 1}, {0x3c00});
  by_hand({1, .4f, -1, .1f}, 1, 4, {1, 1, -1, 0}, {0x3900});
  by_hand({1, 1, 1, 1, .01f, .01f, -.01f, .01f}, 1, 4, {1, 1, 1, 1, 1, 1, -1, 1}, {0x3c00, 0x211f});
  by_hand({1, -1, 1, 1, 1000, 1000, -1000, 1000}, 2, 4, {1, -1, 1, 1, 1, 1, -1, 1},
          {0x3c00, 0x63d0});
  by_hand({0, -0.0f, 0, 0, 1e-9f, -1e-9f, 0, 0}, 1, 4, {0, 0, 0, 0, 0, 0, 0, 0}, {0, 0});
  by_hand({1e-5f, 1e-5f, -1e-5f, 0}, 1, 4, {1, 1, -1, 0}, {0x7e});
  const float tie = 1 + 0x1p-11f, odd_tie = 1 + 3 * 0x1p-11f;
  by_hand({tie, -tie, tie, tie, odd_tie, odd_tie, odd_tie, odd_tie}, 1, 4,
          {1, -1, 1, 1, 1, 1, 1, 1}, {0x3c00, 0x3c02});
  by_hand({65504, 65504, 65504, 65504}, 1, 4, {1, 1, 1, 1}, {0x7bff});

  const Floats big(12, 7e4f);
  expect(quantised(big, 1, 12, 4).status == TERNARY_BAD_ARGUMENT &&
         is_untouched(quantised(big, 1, 12, 4)));
  const Floats zeros(96 * 4);
  expect(quantised(zeros, 4, 96, 64).status == TERNARY_BAD_ARGUMENT);
  expect(quantised(zeros, 2, 12, 6).status == TERNARY_BAD_ARGUMENT);
  expect(quantised(zeros, 0, 12, 4).status == TERNARY_BAD_ARGUMENT);
  expect(quantised(zeros, 2, 12, 4, 0).status == TERNARY_BAD_ARGUMENT);

  Dice dice{7};
  for (const int64_t group : {4, 12, 20, 64, 128}) {
    const int64_t rows = 5, columns = 3 * group;
    Floats w;
    for (int64_t i = 0; i < rows * columns; ++i)
      w.push_back(static_cast<float>(dice.between(-1, 1) * std::exp(dice.between(-6, 4))));
    const Doubles expected = weights_of(w, group);
    const Quantised q = quantised(w, rows, columns, group, 1 + static_cast<int>(group % 3));
    for (size_t i = 0; i < w.size(); ++i)
      expect(q.trit(i) * from_half(q.scales[i / static_cast<size_t>(group)]) == expected[i]);
  }
}

// ---------------------------------------------------------------- linear layer

void test_linear(int64_t rows, int64_t columns, int64_t group, int64_t count, int threads) {
  Dice dice{static_cast<uint32_t>(rows * 31 + columns)};
  const auto numbers = [&](int64_t n, double size) {
    Floats values;
    for (int64_t i = 0; i < n; ++i) values.push_back(static_cast<float>(dice.between(-size, size)));
    return values;
  };
  Floats w = numbers(rows * columns, 0.3);
  std::fill_n(w.begin(), group, 0.0f);  // a group without weights has a gradient all the same
  w[static_cast<size_t>(columns - 1)] = 25;
  const Floats x = numbers(count * columns, 2), d = numbers(count * rows, 2);
  Floats y(d.size(), 1e9f), dx(x.size(), 1e9f), dw(w.size(), 1e9f);
  auto args = made<TernaryLinearGradientArgs>(threads);
  args.rows = rows;
  args.columns = columns;
  args.group = group;
  args.count = count;
  args.weight = w.data();
  args.x = x.data();
  args.output_gradient = d.data();
  args.y = y.data();
  args.input_gradient = dx.data();
  args.weight_gradient = dw.data();
  expect(ternary_linear_gradient(&args) == TERNARY_OK);
  const Doubles t = weights_of(w, group);
  Doubles want_y(y.size()), want_dx(x.size()), want_dw(w.size());
  for (int64_t i = 0; i < count; ++i)
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c) {
        const auto at = static_cast<size_t>(r * columns + c);
        const auto in = static_cast<size_t>(i * columns + c),
                   out = static_cast<size_t>(i * rows + r);
        want_y[out] += t[at] * x[in];
        want_dx[in] += t[at] * d[out];
        want_dw[at] += double{d[out]} * x[in];
      }
  const auto near = [](const Floats& got, const Doubles& want) {
    for (size_t i = 0; i < want.size(); ++i) expect(std::fabs(got[i] - want[i]) < 2e-4);
  };
  near(y, want_y);
  near(dx, want_dx);
  near(dw, want_dw);
  w[0] = 1e9f;
  y.assign(y.size(), 5);
  expect(ternary_linear_gradient(&args) == TERNARY_BAD_ARGUMENT && y[0] == 5);
}

// ---------------------------------------------------------------- forward pass

int64_t run_forward(const Bytes& bytes, const Text& text, Floats& logits, int threads = 1) {
  auto args = made<TernaryForwardArgs>(threads);
  args.checkpoint_bytes = static_cast<int64_t>(bytes.size());
  args.checkpoint = bytes.data();
  args.num_tokens = static_cast<int64_t>(text.size());
  args.token = text.data();
  args.logits = logits.data();
  return ternary_forward(&args);
}

void test_forward(const TernaryModel& m, int64_t count, int threads) {
  Dice dice{static_cast<uint32_t>(m.vocab)};
  const Bytes good = random_checkpoint(m, dice);
  Text text;
  for (int64_t i = 0; i < count; ++i) text.push_back(static_cast<uint16_t>(dice.roll() % m.vocab));
  Floats logits(static_cast<size_t>(count * m.vocab), 1e9f);
  expect(run_forward(good, text, logits, threads) == TERNARY_OK);
  const auto want = logits_of(read(good, m), text);
  double largest = 1;
  for (const Doubles& row : want)
    for (const double value : row) largest = std::max(largest, std::fabs(value));
  for (size_t i = 0; i < logits.size(); ++i) {
    const double value = want[i / static_cast<size_t>(m.vocab)][i % static_cast<size_t>(m.vocab)];
    expect(std::fabs(logits[i] - value) < 1e-4 * largest);
  }
  const auto refused = [&](const Bytes& bytes, const Text& tokens) {
    Floats untouched(static_cast<size_t>((m.context + 1) * m.vocab), 3);
    expect(run_forward(bytes, tokens, untouched) == TERNARY_BAD_ARGUMENT && untouched[0] == 3);
  };
  const auto spoiled = [&](int64_t at, int value) {
    Bytes bytes = good;
    bytes[static_cast<size_t>(at < 0 ? std::ssize(bytes) + at : at)] = static_cast<uint8_t>(value);
    refused(bytes, text);
  };
  spoiled(0, 'X');
  spoiled(32, 0xc0);
  spoiled(8, 0);
  const int64_t first_scale = 32 + m.vocab * m.width / 4;
  for (const int high : {0x80, 0xbc, 0x7c, 0x7e}) spoiled(first_scale + 1, high);
  spoiled(-1, 0x43);
  spoiled(-1, 0x7f);
  refused(Bytes(good.begin(), good.end() - 1), text);
  refused(Bytes(good.begin(), good.begin() + 20), text);
  refused(good, Text(static_cast<size_t>(m.context + 1)));
  refused(good, {});
  refused(good, {static_cast<uint16_t>(m.vocab)});
}

// ---------------------------------------------------------------- training

struct Trained {
  int64_t status = 0, size = -7, seen = -7;
  double train_nll = -7, held_out_nll = -7;
  Bytes bytes;
  std::vector<TernaryProgress> reports;
};

int64_t listen(void* listener, TernaryProgress* progress) {
  static_cast<Trained*>(listener)->reports.push_back(*progress);
  return 0;
}

struct Course {
  TernaryModel m{7, 24, 1, 2, 48, 12, 12};
  Text text;
  std::vector<int64_t> documents;
  int64_t max_tokens = 3000;
  double max_seconds = -1;
  uint64_t seed = 5;
  int64_t spare = 0;

  Trained run() const {
    Trained trained;
    int64_t need = 32 + 4 * (2 * m.layers + 1) * m.width;
    for (const int64_t n : matrix_sizes(m)) need += n / 4 + 2 * (n / std::max<int64_t>(m.group, 1));
    trained.bytes.assign(static_cast<size_t>(need + 1), 0xee);
    auto args = made<TernaryTrainArgs>();
    args.model = m;
    args.num_tokens = std::ssize(text);
    args.num_documents = std::ssize(documents) - 1;
    args.token = text.data();
    args.document_start = documents.data();
    args.max_seconds = max_seconds;
    args.max_tokens = max_tokens;
    args.seed = seed;
    args.listener = &trained;
    args.progress = listen;
    args.checkpoint_capacity = need + spare;
    args.checkpoint = trained.bytes.data();
    args.checkpoint_bytes = &trained.size;
    args.train_nll = &trained.train_nll;
    args.held_out_nll = &trained.held_out_nll;
    args.tokens_seen = &trained.seen;
    trained.status = ternary_train(&args);
    expect(trained.bytes.back() == 0xee);
    trained.bytes.pop_back();
    return trained;
  }
};

/// What holds for every training; returns the measured likelihood of the text.
double judge(const Course& course, const Trained& trained) {
  expect(trained.status == TERNARY_OK && trained.size == std::ssize(trained.bytes));
  const Plain plain = read(trained.bytes, course.m);
  expect(plain.ok);
  if (!plain.ok) return 99;
  for (const double share : plain.filled) expect(share > 0.15 && share < 0.95);
  const double measured = likelihood(plain, course.text);
  expect(std::fabs(measured - trained.train_nll) < 2e-3 * measured);
  expect(trained.held_out_nll > 0 || std::isnan(trained.held_out_nll));
  expect(!trained.reports.empty());
  int64_t steps = 0, seen = 0;
  for (const TernaryProgress& report : trained.reports) {
    expect(report.steps >= steps && report.tokens_seen >= seen);
    steps = report.steps;
    seen = report.tokens_seen;
  }
  expect(seen == trained.seen && seen >= 0);
  if (course.max_tokens >= 0) expect(seen <= course.max_tokens);
  return measured;
}

void test_training() {
  // The token after the next decides: 6 follows 0 1 and 1 1, and so on; drawn once.
  Dice dice{3};
  Course course;
  course.text = {0, 1};
  while (course.text.size() < 500) {
    const size_t at = course.text.size();
    const int next = (3 * course.text[at - 1] + course.text[at - 2] + 1) % 7;
    course.text.push_back(static_cast<uint16_t>(dice.roll() % 4 == 0 ? dice.roll() % 7 : next));
  }
  course.documents = {0, 0, 200, 350, 350, 500};
  const Trained first = course.run();
  const double learnt = judge(course, first);
  expect(learnt < 1.85 && first.seen > 2000);  // ln 7 is 1.946
  expect(course.run().bytes == first.bytes);

  Course other = course;
  other.seed = 6;
  other.max_tokens = 0;
  const Trained untrained = other.run();
  expect(judge(other, untrained) > learnt && untrained.seen == 0);
  other.seed = 7;
  expect(other.run().bytes != untrained.bytes);

  Course timed = course;
  timed.max_tokens = -1;
  timed.max_seconds = 0.1;
  const std::clock_t start = std::clock();
  judge(timed, timed.run());
  expect(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC < 0.15);

  Course least = course;
  least.text.resize(13);
  least.documents = {0, 13};
  least.max_tokens = 40;
  judge(least, least.run());

  const auto refused = [](const Course& bad, int64_t status) {
    const Trained none = bad.run();
    expect(none.status == status && none.bytes[0] == 0xee && none.reports.empty());
    expect(none.seen == -7 && none.train_nll == -7 && none.held_out_nll == -7);
    expect(none.size == (status == TERNARY_NO_SPACE ? std::ssize(none.bytes) : -7));
  };
  const auto refused_with = [&](const auto& change, int64_t status = TERNARY_BAD_ARGUMENT) {
    Course bad = course;
    change(bad);
    refused(bad, status);
  };
  refused_with([](Course& c) { c.spare = -1; }, TERNARY_NO_SPACE);
  refused_with([](Course& c) { c.m.group = 16; });
  refused_with([](Course& c) { c.m.group = 6; });
  refused_with([](Course& c) { c.m.hidden = 40; });
  refused_with([](Course& c) { c.m.heads = 5; });
  refused_with([](Course& c) { c.m.heads = 8; });
  refused_with([](Course& c) { c.text[499] = 7; });
  refused_with([](Course& c) { c.documents[2] = 400; });
  refused_with([](Course& c) { c.documents[5] = 499; });
  refused_with([](Course& c) { c.m.context = 500; });
  refused_with([](Course& c) { c.max_tokens = -1; });
}

}  // namespace

extern "C" int self_test(void) {
  failures = 0;
  test_quantiser();
  test_linear(5, 24, 8, 7, 1);
  test_linear(33, 60, 12, 19, 3);
  test_linear(1, 128, 128, 1, 1);
  test_forward({11, 24, 2, 3, 36, 9, 12}, 9, 1);
  test_forward({29, 16, 1, 1, 32, 40, 4}, 33, 2);
  test_training();
  return failures == 0 ? 0 : 1;
}
