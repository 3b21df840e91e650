#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/core/rng.h"

namespace gauntlet::GAUNTLET_CHALLENGE {

/// The texts of a book, one for every chapter file of a folder, in the order of their names.
std::vector<std::string> read_chapters(const std::filesystem::path& folder);

/// Chapters dealt out: nothing of a hidden chapter is in another part.
struct Deal {
  std::vector<std::string> training;
  std::vector<std::string> hidden;
  std::vector<std::string> rest;  // of the book
};

/// At least as many bytes as asked for, of random chapters, each cut to `longest` bytes at most so
/// that one long chapter does not decide what is learnt or asked. What is cut off goes to `rest`
/// when it is from a training chapter.
Deal deal(Rng& rng, std::vector<std::string> chapters, std::size_t training_bytes,
          std::size_t hidden_bytes, std::size_t longest);

}  // namespace gauntlet::GAUNTLET_CHALLENGE
