// SPDX-License-Identifier: Apache-2.0
#include "harness/build/named_numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "harness/build/toolchain.h"
#include "harness/core/tokens.h"

namespace gauntlet {
namespace {

constexpr std::size_t kMostNumbers = 200;
constexpr std::size_t kMostJoined = 8;  // literals: a book of "1+1+1" would take hours
constexpr std::int64_t kLargest = std::int64_t{1} << 53;  // as far as a double is exact

/// A literal's digits without separators and the suffix of its type.
std::string digits_of(std::string_view literal, std::string_view suffixes) {
  std::string digits;
  std::ranges::copy_if(literal, std::back_inserter(digits), [](char c) { return c != '\''; });
  while (!digits.empty() && suffixes.find(digits.back()) != std::string_view::npos)
    digits.pop_back();
  return digits;
}

template <class Number, class... Format>
std::optional<Number> read(std::string_view digits, Format... format) {
  Number number{};
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number, format...);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

std::optional<std::int64_t> integer_of(std::string_view literal) {
  const std::string digits = digits_of(literal, "uUlLzZ");
  const std::string_view view = digits;
  if (view.starts_with("0x") || view.starts_with("0X"))
    return read<std::int64_t>(view.substr(2), 16);
  if (view.starts_with("0b") || view.starts_with("0B"))
    return read<std::int64_t>(view.substr(2), 2);
  return read<std::int64_t>(view, view.starts_with('0') ? 8 : 10);
}

/// A floating-point literal that is an integer: work is often measured in doubles.
std::optional<std::int64_t> whole_of(std::string_view literal) {
  const auto number = read<double>(digits_of(literal, "fFlL"), std::chars_format::general);
  if (!number || std::abs(*number) > static_cast<double>(kLargest)) return std::nullopt;
  const auto whole = static_cast<std::int64_t>(*number);
  return static_cast<double>(whole) == *number ? std::optional(whole) : std::nullopt;
}

std::optional<std::int64_t> value_of(const Token& token) {
  if (token.kind != Token::Kind::number) return std::nullopt;
  const auto integer = integer_of(token.text);
  return integer ? integer : whole_of(token.text);
}

std::optional<std::int64_t> computed(std::int64_t a, std::string_view sign, std::int64_t b) {
  if (a < 0 || a > kLargest || b < 0 || b > kLargest) return std::nullopt;
  if (sign == "+") return a + b;
  if (sign == "-") return a - b;
  if (sign == "<<" && b < 53 && a <= (kLargest >> b)) return a << b;
  if (sign == "*" && (a == 0 || b <= kLargest / a)) return a * b;
  return std::nullopt;
}

/// The literal at the front, and what it makes with those that signs join to it, from left to
/// right: of "64 * 1024 - 1" 64, 65536 and 65535. Precedence matters little to who looks for sizes.
std::vector<std::int64_t> numbers_at(std::span<const Token> tokens) {
  std::vector<std::int64_t> found;
  std::optional<std::int64_t> value = value_of(tokens[0]);
  for (std::size_t i = 0; value; i += 2) {
    found.push_back(*value);
    if (found.size() == kMostJoined || i + 2 >= tokens.size()) break;
    const auto next = value_of(tokens[i + 2]);
    value = next ? computed(*value, tokens[i + 1].text, *next) : std::nullopt;
  }
  return found;
}

/// "tiles.h" after a directive's `include`; empty where nothing of the solution is included.
std::string included_by(std::span<const Token> tokens) {
  if (tokens.size() < 2 || !tokens[0].directive || tokens[0].text != "include") return "";
  const std::string_view name = tokens[1].text;
  const bool quoted = name.size() > 2 && name.front() == '"';
  return quoted ? std::string(name.substr(1, name.size() - 2)) : "";
}

/// Reads the first file and whatever of the solution's is included, each once.
class Reading {
 public:
  explicit Reading(const SolutionSource& source) : source_(source) {}

  void read(const std::string& name) {
    const auto file = std::ranges::find(source_.files, name, &SolutionSource::File::name);
    if (file == source_.files.end() || !seen_.insert(name).second) return;
    const std::filesystem::path folder = std::filesystem::path(name).parent_path();
    const std::vector<Token> all = tokens(file->content);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto rest = std::span(all).subspan(i);
      for (const std::int64_t number : numbers_at(rest))
        if (number >= 2 && number <= kLargest) ++times[number];
      if (const std::string other = included_by(rest); !other.empty())
        read((folder / other).lexically_normal().string());
    }
  }

  std::map<std::int64_t, std::size_t> times;  // that each number is named

 private:
  const SolutionSource& source_;
  std::set<std::string> seen_;
};

}  // namespace

std::vector<std::int64_t> named_numbers(const SolutionSource& source) {
  Reading reading(source);
  reading.read(std::string(toolchain(source.device).first_file));
  std::vector<std::pair<std::size_t, std::int64_t>> by_times;
  for (const auto& [number, count] : reading.times) by_times.emplace_back(count, number);
  std::ranges::stable_sort(by_times, std::greater(), &std::pair<std::size_t, std::int64_t>::first);
  std::vector<std::int64_t> numbers;
  for (const auto& [count, number] : by_times)
    if (numbers.size() < kMostNumbers) numbers.push_back(number);
  std::ranges::sort(numbers);
  return numbers;
}

}  // namespace gauntlet
