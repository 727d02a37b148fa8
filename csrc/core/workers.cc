#include "core/workers.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace fastsql {
namespace {

using Work = std::function<void(std::size_t)>;
using Clock = std::chrono::steady_clock;

// How long a thread without work watches for more before it sleeps: longer than the pauses between the operations of one parse.
constexpr std::chrono::microseconds kWatch{50};
// Looks between two glances at the clock.
constexpr int kLooks = 64;
// A wait for other threads that is longer than one's own work, and than this, means that their processors are wanted elsewhere.
constexpr std::chrono::microseconds kLate{50};
// How long the callers then work alone: at first, and at most when it happens again and again.
constexpr std::chrono::milliseconds kShortestPause{20}, kLongestPause{640};

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// What there is to do, in one word, so that a part is claimed by one exchange: which run it is of, how many parts that has, and
// the next one to be claimed. A thread that comes late finds another run's number and claims nothing.
struct Ticket {
  static constexpr std::size_t kMostParts = 0xFFFF;
  std::uint64_t word;

  static Ticket of(std::uint64_t run, std::size_t parts) { return {run << 32 | std::uint64_t{parts} << 16}; }
  std::uint64_t run() const { return word >> 32; }
  std::size_t parts() const { return word >> 16 & 0xFFFF; }
  std::size_t next() const { return word & 0xFFFF; }
  bool open() const { return next() < parts(); }
};

// The threads of one process.
class Crew {
 public:
  explicit Crew(std::size_t helpers) : helpers_(helpers), process_(getpid()) {}

  ~Crew() {
    {
      const std::lock_guard lock(mutex_);
      stop_.store(true);
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  bool of_this_process() const { return process_ == getpid(); }

  // Runs all parts and returns true, or returns false at once where somebody else's are being run or the threads are paused.
  bool run(std::size_t parts, const Work& work) {
    if (busy_.exchange(true, std::memory_order_acquire)) return false;
    const Clock::time_point began = Clock::now();
    const bool together = began >= alone_until_;
    if (together) run_together(parts, work, began);
    busy_.store(false, std::memory_order_release);
    return together;
  }

 private:
  void run_together(std::size_t parts, const Work& work, Clock::time_point began) {
    start();
    work_.store(&work, std::memory_order_relaxed);
    finished_.store(0, std::memory_order_relaxed);
    const std::uint64_t run = Ticket{ticket_.load(std::memory_order_relaxed)}.run() + 1;
    // Sequentially consistent, like what sleepers do: either they see the ticket or they are seen here.
    ticket_.store(Ticket::of(run & 0xFFFFFFFF, parts).word);
    if (sleeping_.load() > 0) {
      {
        const std::lock_guard lock(mutex_);
      }
      wake_.notify_all();
    }
    while (claim_one()) {
    }
    if (finished_.load(std::memory_order_acquire) == parts) return;
    const Clock::time_point done = Clock::now();
    for (int looks = 1; finished_.load(std::memory_order_acquire) != parts; ++looks) {
      relax();
      // Whoever holds the last part may have lost its processor to somebody else.
      if (looks % kLooks == 0) std::this_thread::yield();
    }
    note_wait(done - began, done, Clock::now());
  }

  // Pauses the threads where waiting for them, from `done` to `now`, took longer than the caller's own part of the work.
  void note_wait(Clock::duration own, Clock::time_point done, Clock::time_point now) {
    if (now - done < own + kLate) return;
    const bool again = now < alone_until_ + 4 * pause_;
    pause_ = again ? std::min<Clock::duration>(2 * pause_, kLongestPause) : kShortestPause;
    alone_until_ = now + pause_;
  }

  // Claims a part and does it; false where none is left.
  bool claim_one() {
    Ticket ticket{ticket_.load(std::memory_order_acquire)};
    while (ticket.open()) {
      // Read before the claim: while a part of this run is unclaimed, its work is the one that stands here.
      const Work* work = work_.load(std::memory_order_relaxed);
      if (!ticket_.compare_exchange_weak(ticket.word, ticket.word + 1, std::memory_order_acq_rel)) continue;
      (*work)(ticket.next());
      finished_.fetch_add(1, std::memory_order_acq_rel);
      return true;
    }
    return false;
  }

  void start() {
    if (started_) return;
    started_ = true;
    try {
      while (threads_.size() < helpers_) threads_.emplace_back([this] { serve(); });
    } catch (const std::system_error&) {
      // The system gives no more threads; those there are, and the calling one, do the work.
    }
  }

  void serve() {
    while (!stop_.load(std::memory_order_relaxed)) {
      if (!claim_one() && !watch()) sleep();
    }
  }

  // True once there is work, false after a while without.
  bool watch() const {
    const auto end = Clock::now() + kWatch;
    do {
      for (int look = 0; look < kLooks; ++look) {
        if (Ticket{ticket_.load(std::memory_order_relaxed)}.open()) return true;
        relax();
      }
    } while (Clock::now() < end);
    return false;
  }

  void sleep() {
    std::unique_lock lock(mutex_);
    sleeping_.fetch_add(1);
    wake_.wait(lock, [this] { return stop_.load() || Ticket{ticket_.load()}.open(); });
    sleeping_.fetch_sub(1);
  }

  const std::size_t helpers_;
  const pid_t process_;
  // Each on a line of its own: the threads watch the first while they count in the second.
  alignas(64) std::atomic<std::uint64_t> ticket_{0};
  alignas(64) std::atomic<std::size_t> finished_{0};
  alignas(64) std::atomic<const Work*> work_{nullptr};
  std::atomic<bool> busy_{false}, stop_{false};
  std::atomic<int> sleeping_{0};
  // Guarded by busy_.
  bool started_ = false;
  Clock::time_point alone_until_;
  Clock::duration pause_ = kShortestPause;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
};

}  // namespace

class Workers::Pool {
 public:
  explicit Pool(std::size_t threads) : threads_(threads), crew_(new Crew(threads - 1)) {}

  ~Pool() {
    Crew* crew = crew_.load();
    if (crew->of_this_process()) delete crew;
  }

  std::size_t threads() const { return threads_; }

  bool run(std::size_t parts, const Work& work) {
    Crew* crew = crew_.load(std::memory_order_acquire);
    if (!crew->of_this_process()) crew = replace(crew);
    return crew->run(parts, work);
  }

 private:
  // After a fork: the old crew's threads live in the other process, so nothing of it can be joined, unlocked or freed here.
  Crew* replace(Crew* old) {
    auto fresh = std::make_unique<Crew>(threads_ - 1);
    if (crew_.compare_exchange_strong(old, fresh.get())) return fresh.release();
    return old;  // another thread was faster; this is its crew
  }

  const std::size_t threads_;
  std::atomic<Crew*> crew_;
};

Workers::Workers(std::size_t threads) {
  if (threads > 1) pool_ = std::make_shared<Pool>(threads);
}

std::size_t Workers::threads() const { return pool_ ? pool_->threads() : 1; }

void Workers::run(std::size_t parts, const Work& work) const {
  const bool shared = pool_ && parts > 1 && parts <= Ticket::kMostParts && pool_->run(parts, work);
  if (shared) return;
  for (std::size_t part = 0; part < parts; ++part) work(part);
}

}  // namespace fastsql
