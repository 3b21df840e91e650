#include "corpus.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/core/error.h"
#include "harness/core/files.h"

namespace gauntlet::GAUNTLET_CHALLENGE {
namespace {

namespace fs = std::filesystem;

std::size_t bytes_in(const std::vector<std::string>& texts) {
  std::size_t bytes = 0;
  for (const std::string& text : texts) bytes += text.size();
  return bytes;
}

}  // namespace

std::vector<std::string> read_chapters(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<std::string> chapters;
  for (const fs::path& file : files) chapters.push_back(read_file(file));
  if (chapters.empty())
    throw Broken(OwnFault::files, fmt::format("no text in {}", folder.string()));
  return chapters;
}

Deal deal(Rng& rng, std::vector<std::string> chapters, std::size_t training_bytes,
          std::size_t hidden_bytes, std::size_t longest) {
  rng.shuffle(chapters);
  Deal dealt;
  for (std::string& chapter : chapters) {
    const bool hide = bytes_in(dealt.hidden) < hidden_bytes;
    const bool train = !hide && bytes_in(dealt.training) < training_bytes;
    if (!hide && !train) {
      dealt.rest.push_back(std::move(chapter));
      continue;
    }
    (hide ? dealt.hidden : dealt.training).push_back(chapter.substr(0, longest));
    if (train && chapter.size() > longest) dealt.rest.push_back(chapter.substr(longest));
  }
  if (bytes_in(dealt.training) < training_bytes)
    throw Broken(OwnFault::files, fmt::format("the book is too short for {} bytes of training text",
                                              training_bytes));
  return dealt;
}

}  // namespace gauntlet::GAUNTLET_CHALLENGE
