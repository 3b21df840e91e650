// SPDX-License-Identifier: Apache-2.0
#include "text.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <numeric>
#include <set>

#include "fixtures/kneser_ney.h"
#include "markov.h"
#include "ngrams.h"
#include "tokenizer.h"

namespace {

using namespace gauntlet;
using namespace gauntlet::GAUNTLET_CHALLENGE;

#define TEXT_OF(name) #name
#define NAME_OF(macro) TEXT_OF(macro)
const std::filesystem::path kData =
    std::filesystem::path(GAUNTLET_ROOT) / "challenges" / NAME_OF(GAUNTLET_CHALLENGE) / "data";

}  // namespace

TEST_CASE("words keep the space before them, and nothing is lost") {
  const std::string text =
      "Call me Ishmael.  Some 42 years ago--never mind\n\xe2\x80\x9cho\xe2\x80\x9d ";
  std::string joined;
  for (const std::string_view word : words_of(text)) joined += word;
  CHECK(joined == text);
  const auto words = words_of("a bc, 12d");
  CHECK(words == std::vector<std::string_view>{"a", " bc", ",", " 12", "d"});
}

TEST_CASE("a tokenizer joins the most frequent pair first") {
  const std::vector<std::string> texts{"low low low lower"};
  const Tokenizer tokenizer(texts, 258);
  // l o and o w are as frequent; the smaller pair of bytes is joined first.
  CHECK(tokenizer.decode(std::vector<std::uint16_t>{256}) == "lo");
  CHECK(tokenizer.decode(std::vector<std::uint16_t>{257}) == "low");
  CHECK(tokenizer.encode("low") == std::vector<std::uint16_t>{257});
  CHECK(tokenizer.encode("lot") == std::vector<std::uint16_t>{256, 't'});
}

TEST_CASE("what a tokenizer encodes it decodes, whatever it learnt from") {
  const std::vector<std::string> texts{"the whale, the white whale", "sea and sea"};
  const Tokenizer tokenizer(texts, 300);
  CHECK(tokenizer.vocab() == 300);
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  for (const std::string& text : {all, texts[0], std::string("the other sea  "), std::string()})
    CHECK(tokenizer.decode(tokenizer.encode(text)) == text);
  CHECK(tokenizer.encode(texts[0]).size() < texts[0].size() / 2);
}

TEST_CASE("Kneser-Ney probabilities agree with exact fractions") {
  for (const int order : {2, 3}) {
    const KneserNey model(kFixtureTexts, kFixtureVocab, order);
    for (const KneserNeyFixture& fixture : kKneserNeyFixtures)
      for (std::uint16_t token = 0; fixture.order == order && token < kFixtureVocab; ++token)
        CHECK(model.probability(fixture.context, token) ==
              doctest::Approx(fixture.probability[token]).epsilon(1e-12));
  }
}

TEST_CASE("counting is scored on every token but the first") {
  const std::vector<Text> training{{0, 0, 1}};
  const std::vector<Text> texts{{1, 0, 1}, {2}};
  const Likelihood unigram = unigram_likelihood(training, texts, 3);
  CHECK(unigram.predictions == 2);
  CHECK(unigram.total == doctest::Approx(-std::log(3.0 / 6) - std::log(2.0 / 6)));
}

TEST_CASE("the entropy rate of a source is what its texts cost") {
  Rng rng(4);
  const MarkovSource source(rng, 8, 0.15);
  const std::vector<Text> texts{source.draw(rng, 400'000)};
  CHECK(source.likelihood(texts).mean() == doctest::Approx(source.entropy_rate()).epsilon(0.01));
  const double pairs = KneserNey(texts, 8, 2).likelihood(texts).mean();
  const double triples = KneserNey(texts, 8, 3).likelihood(texts).mean();
  CHECK(triples == doctest::Approx(source.entropy_rate()).epsilon(0.01));
  CHECK(pairs > 1.2 * triples);
}

TEST_CASE("a training text hides chapters and canaries, and ids can be dealt anew") {
  const TextSizes size{512, 20'000, 4'000};
  TrainingText book(Rng(1), kData, size);
  const auto tokens_in = [](const std::vector<Text>& texts) {
    return std::accumulate(texts.begin(), texts.end(), std::size_t{0},
                           [](std::size_t sum, const Text& text) { return sum + text.size(); });
  };
  CHECK(tokens_in(book.training()) == 20'000 + 10 * 8 + 10 * 4 * 8);
  CHECK(tokens_in(book.hidden()) == 4'000);
  CHECK(book.hidden().size() >= 8);
  CHECK(book.training().size() >= 8);

  std::string training;
  for (const Text& text : book.training()) training += book.words(text) + "\n";
  for (const Text& text : book.hidden())
    CHECK(training.find(book.words(Text(text.begin(), text.begin() + 40))) == std::string::npos);
  for (const Canary& canary : book.canaries()) {
    int times = 0;
    for (const Text& text : book.training())
      for (auto at = text.begin(); (at = std::search(at, text.end(), canary.tokens.begin(),
                                                     canary.tokens.end())) != text.end();
           ++at)
        ++times;
    CHECK(times <= canary.times);
    CHECK(times >= 1);  // another canary may have been put into the midst of one
  }

  const std::string words = book.words(book.hidden()[0]);
  const Text before = book.hidden()[0];
  book.relabel(Rng(2));
  CHECK(book.words(book.hidden()[0]) == words);
  CHECK(book.hidden()[0] != before);
  const TrainingText same(Rng(1), kData, size);
  CHECK(same.hidden()[0] == before);
}
