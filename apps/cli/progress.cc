#include "progress.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>

#include "gauze/engine/release.h"
#include "text.h"

namespace gauze::cli {
namespace {

/// The signal that asked to stop; 0 while none has.
volatile std::sig_atomic_t stop_asked = 0;

/// Whether noise may have been drawn for an answer that a ledger has charged.
volatile std::sig_atomic_t answer_comes = 0;

constexpr std::string_view kComes =
    "gauze: the answer is paid for and follows when it is made; another signal ends this without "
    "it\n";
constexpr std::string_view kWithout = "gauze: stopped";

constexpr std::array<int, 3> kStopping = {SIGINT, SIGTERM, SIGHUP};

constexpr auto kPatience = std::chrono::milliseconds(700);
constexpr auto kBetween = std::chrono::milliseconds(100);
constexpr int kWidth = 32;

/// In a signal handler nothing else may write.
void say(std::string_view text) {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
}

void note(int signal) {
  const int before = errno;
  if (answer_comes != 0 && stop_asked != 0) {
    say(kWithout);
    say(door::kStaysSpent);
    say("\n");
    _exit(128 + signal);
  }
  stop_asked = signal;
  if (answer_comes != 0) say(kComes);
  errno = before;
}

}  // namespace

Progress::Progress(const char* doing)
    : start_(std::chrono::steady_clock::now()),
      last_(start_),
      doing_(doing),
      terminal_(isatty(STDERR_FILENO) != 0) {
  stop_asked = 0;
  for (std::size_t i = 0; i < kStopping.size(); ++i) sigaction(kStopping[i], nullptr, &before_[i]);
  handle(0);
}

Progress::~Progress() {
  erase();
  for (std::size_t i = 0; i < kStopping.size(); ++i) sigaction(kStopping[i], &before_[i], nullptr);
  answer_comes = 0;
}

void Progress::handle(int flags) {
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = flags;
  for (std::size_t i = 0; i < kStopping.size(); ++i) {
    // Whoever started us with `nohup` wants no end.
    if (before_[i].sa_handler != SIG_IGN) sigaction(kStopping[i], &action, nullptr);
  }
}

void Progress::expect_answer() {
  erase();
  handle(SA_RESTART);  // what is written now must not break off
  answer_comes = 1;
}

void Progress::erase() {
  if (shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

void Progress::show(double done, std::string_view doing) {
  if (stop_asked != 0) throw door::Stop{stop_asked};
  const auto now = std::chrono::steady_clock::now();
  if (!terminal_ || now - start_ < kPatience || (shown_ && now - last_ < kBetween)) return;
  last_ = now;
  const std::string what(doing.empty() ? doing_ : doing);
  shown_ = true;
  // Of some joins the engine tells nothing to the end: a bar at 0 would say that nothing happens.
  if (done <= 0) {
    const double seconds = std::chrono::duration<double>(now - start_).count();
    std::fprintf(stderr, "\r\033[K  %s, %.0f s", what.c_str(), seconds);
    return;
  }
  const int full = static_cast<int>(std::clamp(done, 0.0, 1.0) * kWidth);
  std::string bar;
  for (int i = 0; i < kWidth; ++i) bar += i < full ? glyph("█", "#") : glyph("░", ".");
  std::fprintf(stderr, "\r\033[K  %s %s %3.0f %%", what.c_str(), bar.c_str(),
               100 * std::clamp(done, 0.0, 1.0));
}

}  // namespace gauze::cli
