#include "harness/core/files.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <stdlib.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "harness/core/error.h"

namespace gauntlet {

namespace fs = std::filesystem;

std::string read_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream content;
  if (in) content << in.rdbuf();
  if (!in || fs::is_directory(file))
    throw UserError(fmt::format("cannot read {}: {}", file.string(), std::strerror(errno)));
  return std::move(content).str();
}

void write_file(const fs::path& file, std::string_view content) {
  const auto fail = [&](std::string_view step) {
    throw UserError(
        fmt::format("cannot write {}: {}: {}", file.string(), step, std::strerror(errno)));
  };
  std::error_code error;
  if (file.has_parent_path()) fs::create_directories(file.parent_path(), error);
  if (error) {
    errno = error.value();
    fail("making its folder");
  }
  std::string temporary = file.string() + ".XXXXXX";
  const int fd = mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) fail("opening a temporary file beside it");
  bool written = true;
  for (std::size_t done = 0; written && done < content.size();) {
    const ssize_t n = ::write(fd, content.data() + done, content.size() - done);
    if (n < 0 && errno != EINTR) written = false;
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  written = written && fchmod(fd, 0644) == 0 && fsync(fd) == 0;
  written = (close(fd) == 0) && written;
  if (!written || rename(temporary.c_str(), file.c_str()) != 0) {
    const int reason = errno;
    unlink(temporary.c_str());
    errno = reason;
    fail("writing");
  }
}

ScratchFolder::ScratchFolder(std::string_view purpose) {
  std::string pattern =
      (fs::temp_directory_path() / fmt::format("gauntlet-{}-XXXXXX", purpose)).string();
  if (mkdtemp(pattern.data()) == nullptr)
    throw Broken(fmt::format("cannot make a scratch folder {}: {}", pattern, std::strerror(errno)));
  path_ = pattern;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;  // a leftover in the temporary folder is no reason to end a run
  fs::remove_all(path_, ignored);
}

}  // namespace gauntlet
