// SPDX-License-Identifier: Apache-2.0
#include "harness/grading/transcript.h"

#include <doctest/doctest.h>

#include "harness/grading/null_session.h"

using namespace gauntlet;

namespace {

struct TranscriptArgs {
  const float* x;
  float* y;
  std::int64_t mode;
  std::int64_t (*ask)(void*, void*);
  void* model;
};

std::vector<float> called(Session& session, const std::vector<float>& x, std::int64_t mode = 0) {
  Call<TranscriptArgs> call("f");
  call.args.mode = mode;
  call.in("x", call.args.x, x);
  const auto y = call.out<float>("y", call.args.y, x.size());
  session.run(call);
  return y.copy();
}

/// The trace of one check that asks these calls.
template <class Ask>
CheckTrace trace_of(NullKind kind, std::uint64_t seed, const Ask& ask) {
  NullSession session(kind, seed);
  Transcript transcript(session);
  transcript.begin();
  ask(transcript);
  return transcript.trace();
}

CheckTrace trace_of(const std::vector<float>& x, std::int64_t mode = 0) {
  return trace_of(NullKind::copy, 1, [&](Transcript& heard) { called(heard, x, mode); });
}

/// Somebody who asks back once in every call.
struct AskingSession : Session {
  explicit AskingSession(float question) : question(question) {}
  void run(CallBase& call) override {
    CallbackRequest request;
    request.arrays = {std::as_writable_bytes(std::span(&question, 1))};
    call.callbacks().at(0).answer(request);
  }
  void restart() override {}
  float question;
};

CheckTrace trace_of_talk(float question, std::int64_t answer) {
  AskingSession session(question);
  Transcript transcript(session);
  transcript.begin();
  for (int i = 0; i < 2; ++i) {
    Call<TranscriptArgs> call("f");
    call.callbacks().push_back({"ask", 24, 32, 8, {}, [&](CallbackRequest&) { return answer; }});
    transcript.run(call);
  }
  return transcript.trace();
}

}  // namespace

TEST_CASE("the same calls leave the same trace") {
  const CheckTrace one = trace_of({1, 2});
  const CheckTrace other = trace_of({1, 2});
  CHECK(one.calls == 1);
  CHECK(one.inputs == other.inputs);
  CHECK(one.outputs == other.outputs);
  CHECK_FALSE(one.timed);
}

TEST_CASE("another number, length, argument or order of calls leaves another trace") {
  const CheckTrace one = trace_of({1, 2});
  CHECK(trace_of({1, 3}).inputs != one.inputs);
  CHECK(trace_of({1, 3}).outputs != one.outputs);
  CHECK(trace_of({1, 2, 0}).inputs != one.inputs);
  CHECK(trace_of({1, 2}, 7).inputs != one.inputs);
  const auto in_order = [](float first, float second) {
    return trace_of(NullKind::zeros, 1, [&](Transcript& heard) {
      called(heard, {first});
      called(heard, {second});
    });
  };
  CHECK(in_order(1, 2).inputs != in_order(2, 1).inputs);
  CHECK(in_order(1, 2).outputs == in_order(2, 1).outputs);
}

TEST_CASE("a solution that is handed its own wavering output was still asked the same") {
  const auto handed_back = [](std::uint64_t seed, bool first) {
    return trace_of(NullKind::random, seed, [&](Transcript& heard) {
      const auto a = called(heard, {1, 2});
      const auto b = called(heard, {3, 4});
      called(heard, first ? a : b);
    });
  };
  CHECK(handed_back(1, true).outputs != handed_back(2, true).outputs);
  CHECK(handed_back(1, true).inputs == handed_back(2, true).inputs);
  CHECK(handed_back(1, true).inputs == handed_back(1, false).inputs);
}

TEST_CASE("the opening is what was asked before anything was answered") {
  const auto made_of_answers = [](std::uint64_t seed) {
    return trace_of(NullKind::random, seed, [&](Transcript& heard) {
      auto answer = called(heard, {1, 2});
      answer[0] += 1;
      called(heard, answer);
    });
  };
  const CheckTrace one = made_of_answers(1);
  const CheckTrace other = made_of_answers(2);
  CHECK(one.inputs != other.inputs);
  CHECK(one.opening == other.opening);
  CHECK(one.opening == trace_of({1, 2}).opening);
  CHECK(one.opening != trace_of({1, 3}).opening);
  CHECK(trace_of({1, 2}).opening == trace_of({1, 2}).inputs);
}

TEST_CASE("what depends on the clock is left out, until the next check begins") {
  NullSession session(NullKind::copy, 1);
  Transcript transcript(session);
  transcript.begin();
  called(transcript, {1, 2});
  transcript.leave_out();
  CHECK(called(transcript, {5}) == std::vector<float>{5});
  const CheckTrace timed = transcript.trace();
  CHECK(timed.timed);
  CHECK(timed.calls == 1);
  CHECK(timed.inputs == trace_of({1, 2}).inputs);
  transcript.begin();
  called(transcript, {1, 2});
  CHECK(transcript.trace().outputs == timed.outputs);
  CHECK_FALSE(transcript.trace().timed);
}

TEST_CASE("a check without calls judges what an earlier one got, by the clock if that went by it") {
  NullSession session(NullKind::copy, 1);
  Transcript transcript(session);
  transcript.begin();
  CHECK_FALSE(transcript.trace().timed);
  transcript.leave_out();
  transcript.begin();
  CHECK(transcript.trace().timed);
  called(transcript, {1, 2});
  CHECK_FALSE(transcript.trace().timed);
}

TEST_CASE("what a solution asks back and is answered belongs to what came back") {
  const CheckTrace one = trace_of_talk(1, 10);
  CHECK(trace_of_talk(1, 10).outputs == one.outputs);
  CHECK(trace_of_talk(2, 10).outputs != one.outputs);
  CHECK(trace_of_talk(1, 11).outputs != one.outputs);
  CHECK(trace_of_talk(2, 11).inputs == one.inputs);
}

TEST_CASE("calls that the clock has made again under watch are heard once") {
  const std::vector<float> x{1, 2, 3};
  const auto watched = [&](int times) {
    return trace_of(NullKind::copy, 1, [&](Transcript& heard) {
      for (int i = 0; i < times; ++i) {
        heard.watch_threads(i > 0);
        called(heard, x, 0);
        heard.end_watch();
      }
      called(heard, x, 1);
    });
  };
  CHECK(watched(1).calls == 2);
  CHECK(watched(3).calls == 2);
  CHECK(watched(3).inputs == watched(1).inputs);
  CHECK(watched(3).outputs == watched(1).outputs);
}
