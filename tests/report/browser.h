// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <spawn.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "harness/core/files.h"
#include "harness/store/json_fields.h"

namespace gauntlet {

namespace browser_detail {
constexpr int kPatienceMs = 60'000;  // for one answer, on a busy machine

[[noreturn]] inline void fail(const std::string& what) {
  throw std::runtime_error("the browser " + what);
}

/// Both ends of a pipe, none of them where the browser expects its own.
inline std::pair<int, int> pipe_ends() {
  int ends[2];
  if (pipe(ends) != 0) fail("got no pipe");
  const std::pair high{fcntl(ends[0], F_DUPFD_CLOEXEC, 10), fcntl(ends[1], F_DUPFD_CLOEXEC, 10)};
  close(ends[0]);
  close(ends[1]);
  return high;
}
}  // namespace browser_detail

/// Path of Debian's chromium; empty when it is not installed.
std::filesystem::path browser_program();

/// A headless browser with one page, driven over pipes by the DevTools protocol.
class Browser {
 public:
  Browser();
  ~Browser();
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  /// Loads a file of this disk and waits until it stands.
  void open(const std::filesystem::path& file);

  /// Value of a JavaScript expression.
  Json evaluate(const std::string& expression);

  /// A real click into the middle of the first element of a CSS selector.
  void click(const std::string& selector);
  void press(const std::string& key, int code);
  void type(const std::string& text);

  Json call(const std::string& method, const Json& params = Json::object());

  /// What the browser reported since it started: methods of events, with their parameters.
  std::vector<Json> events(const std::string& method) const;

 private:
  Json receive();
  void await(const std::string& method);

  ScratchFolder profile_{"browser"};
  int to_ = -1;
  int from_ = -1;
  int process_ = -1;
  int calls_ = 0;
  std::string session_;
  std::string unread_;
  std::vector<Json> events_;
};

inline std::filesystem::path browser_program() {
  for (const char* path : {"/usr/bin/chromium", "/usr/bin/chromium-browser"})
    if (access(path, X_OK) == 0) return path;
  return {};
}

inline Browser::Browser() {
  const auto [in, to] = browser_detail::pipe_ends();
  const auto [from, out] = browser_detail::pipe_ends();
  std::vector<std::string> words{browser_program().string(),
                                 "--headless=new",
                                 "--no-sandbox",
                                 "--disable-gpu",
                                 "--disable-dev-shm-usage",
                                 "--no-first-run",
                                 "--remote-debugging-pipe",
                                 "--user-data-dir=" + profile_.path().string(),
                                 "about:blank"};
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in, 3);
  posix_spawn_file_actions_adddup2(&actions, out, 4);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  const int error =
      posix_spawn(&process_, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(in);
  close(out);
  to_ = to;
  from_ = from;
  if (error != 0) browser_detail::fail("does not start");
  const Json target = call("Target.createTarget", {{"url", "about:blank"}});
  const Json attached =
      call("Target.attachToTarget", {{"targetId", target["targetId"]}, {"flatten", true}});
  session_ = attached["sessionId"];
  for (const char* domain : {"Page", "Runtime", "Log", "Network"})
    call(std::string(domain) + ".enable");
}

inline Browser::~Browser() {
  close(to_);
  close(from_);
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

inline Json Browser::receive() {
  for (;;) {
    if (const auto end = unread_.find('\0'); end != std::string::npos) {
      const Json message = Json::parse(unread_.substr(0, end));
      unread_.erase(0, end + 1);
      return message;
    }
    pollfd wait{from_, POLLIN, 0};
    if (poll(&wait, 1, browser_detail::kPatienceMs) <= 0) browser_detail::fail("does not answer");
    char bytes[65536];
    const ssize_t count = read(from_, bytes, sizeof bytes);
    if (count <= 0) browser_detail::fail("has gone");
    unread_.append(bytes, static_cast<std::size_t>(count));
  }
}

inline Json Browser::call(const std::string& method, const Json& params) {
  Json request{{"id", ++calls_}, {"method", method}, {"params", params}};
  if (!session_.empty()) request["sessionId"] = session_;
  const std::string text = request.dump() + '\0';
  if (write(to_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    browser_detail::fail("does not listen");
  for (;;) {
    Json message = receive();
    if (message.contains("method")) {
      events_.push_back(std::move(message));
    } else if (message["id"] == calls_) {
      if (message.contains("error"))
        browser_detail::fail("refuses " + method + ": " + message["error"].dump());
      return message["result"];
    }
  }
}

inline void Browser::await(const std::string& method) {
  const auto known = events(method).size();
  while (events(method).size() == known) {
    Json message = receive();
    if (message.contains("method")) events_.push_back(std::move(message));
  }
}

inline std::vector<Json> Browser::events(const std::string& method) const {
  std::vector<Json> found;
  for (const Json& event : events_)
    if (event["method"] == method) found.push_back(event["params"]);
  return found;
}

inline void Browser::open(const std::filesystem::path& file) {
  // Asked before the answer, because the event may come first.
  const auto known = events("Page.loadEventFired").size();
  call("Page.navigate", {{"url", "file://" + file.string()}});
  if (events("Page.loadEventFired").size() == known) await("Page.loadEventFired");
}

inline Json Browser::evaluate(const std::string& expression) {
  const Json result =
      call("Runtime.evaluate", {{"expression", expression}, {"returnByValue", true}});
  if (result.contains("exceptionDetails")) browser_detail::fail("cannot evaluate " + expression);
  return result["result"].contains("value") ? result["result"]["value"] : Json();
}

inline void Browser::click(const std::string& selector) {
  const Json at = evaluate("(() => { const e = document.querySelector(`" + selector +
                           "`); e.scrollIntoView({block: 'center', inline: 'center'}); const r = "
                           "e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height "
                           "/ 2]; })()");
  for (const char* kind : {"mousePressed", "mouseReleased"})
    call("Input.dispatchMouseEvent",
         {{"type", kind}, {"x", at[0]}, {"y", at[1]}, {"button", "left"}, {"clickCount", 1}});
}

inline void Browser::press(const std::string& key, int code) {
  for (const char* kind : {"keyDown", "keyUp"}) {
    Json event{{"type", kind}, {"key", key}, {"code", key}, {"windowsVirtualKeyCode", code}};
    if (key == "Enter" && std::string(kind) == "keyDown") event["text"] = "\r";
    call("Input.dispatchKeyEvent", event);
  }
}

inline void Browser::type(const std::string& text) {
  call("Input.insertText", {{"text", text}});
}

}  // namespace gauntlet
