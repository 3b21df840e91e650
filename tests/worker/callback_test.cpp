// SPDX-License-Identifier: Apache-2.0
// Callbacks: the solution asks, this side answers and counts.

#include <fmt/format.h>

#include "callback_fixture.h"

using namespace gauntlet;
using namespace gauntlet::test;

TEST_CASE("a callback's arrays, fields and return value go there and back") {
  Scaling scaling(R"(
    float in[6] = {1, 2, 3, 4, 5, 6};
    Request request = {2, 3, in, args->y, 10, -1};
    const int64_t returned = args->scale(args->context, &request);
    if (request.in != in || request.out != args->y || request.reply != 1) return -1;
    return returned;
  )");
  scaling.session.run(scaling.call);
  CHECK(scaling.call.returned == 203);
  CHECK(scaling.asked == 1);
  for (int i = 0; i < 6; ++i) CHECK(scaling.y.view()[i] == 10.0f * (i + 1));
}

TEST_CASE("a request of no elements is a request") {
  Scaling scaling(R"(
    Request request = {0, 3, nullptr, nullptr, 10, -1};
    return args->scale(args->context, &request);
  )");
  scaling.session.run(scaling.call);
  CHECK(scaling.call.returned == 3);
}

TEST_CASE("who calls back from another thread, or with another context, is rejected") {
  const std::pair<const char*, const char*> cases[] = {
      {"std::thread([&] { args->scale(args->context, &request); }).join()",
       "called back `scale` from another thread than the one that was called"},
      {"args->scale(nullptr, &request)",
       "called back `scale` with another first argument than the one that it was given"}};
  for (const auto& [slip, text] : cases) {
    Scaling scaling(fmt::format(R"(
      float number = 1, answer = 0;
      Request request = {{1, 1, &number, &answer, 2, -1}};
      {};
      return 0;
    )",
                                slip),
                    "#include <thread>");
    const Ending end = ending_of(scaling.session, scaling.call);
    CHECK(end.verdict == Verdict::rejected);
    CHECK(end.text == text);
    CHECK(scaling.asked == 0);
  }
}

TEST_CASE("a context may be null, and then no other is right") {
  Scaling scaling(R"(
    float number = 1, answer = 0;
    Request request = {1, 1, &number, &answer, 2, -1};
    args->scale(args->mode ? &answer : args->context, &request);
    return args->context == nullptr;
  )");
  scaling.call.args.mode = 0;
  scaling.session.run(scaling.call);
  CHECK(scaling.call.returned == 0);
  scaling.call.null_context = true;
  scaling.session.run(scaling.call);
  CHECK(scaling.call.returned == 1);
  CHECK(scaling.asked == 2);
  scaling.call.args.mode = 1;
  CHECK(ending_of(scaling.session, scaling.call).verdict == Verdict::rejected);
  CHECK(scaling.asked == 2);
}

TEST_CASE("the time of answering is not the solution's, and it cannot use it") {
  Scaling scaling(R"(
    volatile int64_t counted = 0;
    bool stop = false;
    std::thread other([&] {
      while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) counted = counted + 1;
    });
    while (counted == 0) {}
    float in = 1, out = 0;
    Request request = {1, 1, &in, &out, 2, -1};
    const auto start = std::chrono::steady_clock::now();
    const int64_t before = counted;
    args->scale(args->context, &request);
    const int64_t during = counted - before;
    const auto seen = std::chrono::steady_clock::now() - start;
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    other.join();
    if (seen < std::chrono::milliseconds(200)) return -1;
    return during;
  )",
                  "#include <chrono>\n#include <thread>");
  scaling.pause = std::chrono::milliseconds(200);
  scaling.session.run(scaling.call);
  CHECK(scaling.call.elapsed < std::chrono::milliseconds(100));
  CHECK(scaling.call.returned >= 0);
  CHECK(scaling.call.returned < 100'000'000);  // 200 ms of counting would be more by far
}

TEST_CASE("impossible requests are rejected, whoever made the numbers up") {
  const std::pair<const char*, const char*> cases[] = {
      {"-3, 4", "called back `scale` with a count of -3"},
      {"1ll << 40, 1ll << 40",
       "called back `scale` with counts whose product is no number of bytes"},
      {"1ll << 30, 1", "called back `scale` with arrays of more than 63 MiB"},
      {"1ll << 62, 1", "called back `scale` with counts whose product is no number of bytes"}};
  for (const auto& [counts, text] : cases) {
    Scaling scaling(fmt::format(R"(
      float number = 1, answer = 0;
      Request request = {{{}, &number, &answer, 2, -1}};
      return args->scale(args->context, &request);
    )",
                                counts));
    const Ending end = ending_of(scaling.session, scaling.call);
    CHECK(end.verdict == Verdict::rejected);
    CHECK(end.text == text);
    CHECK(scaling.asked == 0);
  }
}

TEST_CASE("an answer may be written before all of the question was read") {
  struct Case {
    int count, apart;
    bool rejected;
  };
  for (const Case& each : {Case{3, 0, true}, {3, 2, true}, {3, 3, false}, {0, 0, false}}) {
    Scaling scaling(fmt::format(R"(
      float numbers[6] = {{1, 2, 3}};
      Request request = {{1, {}, numbers, numbers + {}, 2, -1}};
      args->scale(args->context, &request);
      return 0;
    )",
                                each.count, each.apart));
    const Ending end = ending_of(scaling.session, scaling.call);
    CHECK(scaling.asked == (each.rejected ? 0 : 1));
    if (!each.rejected) continue;
    CHECK(end.verdict == Verdict::rejected);
    CHECK(end.text == "called back `scale` with arrays that overlap");
  }
}

TEST_CASE("an array of a request that is not aligned to its elements is rejected") {
  for (const int misplaced : {0, 1, 2, 4}) {
    Scaling scaling(fmt::format(R"(
      static float room[8];
      char* numbers = reinterpret_cast<char*>(room) + {};
      Request request = {{1, 1, reinterpret_cast<float*>(numbers), room + 4, 2, -1}};
      return args->scale(args->context, &request) & 0;
    )",
                                misplaced));
    const Ending end = ending_of(scaling.session, scaling.call);
    const bool rejected = misplaced % 4 != 0;
    CHECK(scaling.asked == (rejected ? 0 : 1));
    if (!rejected) continue;
    CHECK(end.verdict == Verdict::rejected);
    CHECK(end.text ==
          "called back `scale` with an array that is not aligned to 4 bytes, as its elements are");
  }
}

TEST_CASE("what the answering side throws comes out, and the next call meets a fresh process") {
  Scaling scaling(R"(
    static int calls = 0;
    ++calls;
    float number = 1, answer = 0;
    Request request = {1, 1, &number, &answer, 2, -1};
    if (args->mode) args->scale(args->context, &request);
    return calls;
  )");
  scaling.call.args.mode = 1;
  scaling.call.callbacks()[0].answer = [](CallbackRequest&) -> std::int64_t {
    throw std::logic_error("enough");
  };
  CHECK_THROWS_AS(scaling.session.run(scaling.call), std::logic_error);
  scaling.call.args.mode = 0;
  scaling.session.run(scaling.call);
  CHECK(scaling.call.returned == 1);
}

TEST_CASE("a solution that dies or hangs around a callback is told as any other") {
  Scaling dies(
      "Request request = {1, 1, nullptr, nullptr, 2, -1};"
      "return args->scale(args->context, &request);");
  const Ending end = ending_of(dies.session, dies.call);
  CHECK(end.verdict == Verdict::crashed);
  CHECK(contains(end.text, "null pointer"));
}

TEST_CASE("who asks without end is ended, though each answer is ours and none of its own time") {
  Scaling scaling(R"(
    float in = 1, out = 0;
    while (true) {
      Request request = {1, 1, &in, &out, 2, -1};
      args->scale(args->context, &request);
    }
    return 0;
  )",
                  "", 0.2);
  scaling.pause = std::chrono::milliseconds(50);
  const Ending end = ending_of(scaling.session, scaling.call);
  CHECK(end.verdict == Verdict::timed_out);
  // Five answers of 50 ms are more than 200 ms. A busy machine can only make them fewer.
  CHECK(scaling.asked <= 5);
}

TEST_CASE("answers count for the budget of all calls") {
  Scaling scaling(R"(
    float in = 1, out = 0;
    Request request = {1, 1, &in, &out, 2, -1};
    return args->scale(args->context, &request);
  )");
  scaling.pause = std::chrono::milliseconds(50);
  scaling.session.run(scaling.call);
  CHECK(scaling.budget.left() < duration_of(600) - scaling.pause);
}
