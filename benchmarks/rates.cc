// What this machine can do at most: float32 multiply-adds a second, and bytes read and copied a second from each level of its
// memory. benchmarks/rates.py compiles and runs it:
//
//   rates SECONDS THREADS ROUNDS SIZE...     one JSON object; sizes of working sets in bytes, of each thread
//
// Every figure is the best of the rounds, of all threads together: a ceiling, so that a floor computed from it is one.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

// Keeps a result alive: what nobody reads, the compiler does not compute.
volatile float sink;

// 10 independent chains hide the latency of a multiply-add (4 or 5 cycles, two a cycle) and fit the registers of every set.
constexpr int kChains = 10;
constexpr int kSteps = 4096;

template <int Bytes>
struct VectorOf {
  typedef float type __attribute__((vector_size(Bytes), aligned(Bytes)));
};

template <int Bytes>
[[gnu::always_inline]] inline double multiply_add() {
  using Vector = typename VectorOf<Bytes>::type;
  const float factor = 0.999f + sink * 0.0f, addend = 0.001f + sink * 0.0f;  // unknown to the compiler
  Vector chain[kChains];
  for (int c = 0; c < kChains; ++c) chain[c] = Vector{} + static_cast<float>(c);
  for (int step = 0; step < kSteps; ++step) {
#pragma GCC unroll 10
    for (int c = 0; c < kChains; ++c) chain[c] = chain[c] * factor + addend;
  }
  Vector sum{};
  for (int c = 0; c < kChains; ++c) sum += chain[c];
  sink = sum[0] + sum[Bytes / 4 - 1];
  return 2.0 * (Bytes / 4) * kChains * kSteps;  // operations: a multiplication and an addition each
}

template <int Bytes>
[[gnu::always_inline]] inline double read_all(const float* data, std::size_t count) {
  using Vector = typename VectorOf<Bytes>::type;
  Vector sums[8] = {};
  constexpr std::size_t kWidth = Bytes / 4;
  for (std::size_t i = 0; i + 8 * kWidth <= count; i += 8 * kWidth) {
#pragma GCC unroll 8
    for (int s = 0; s < 8; ++s) sums[s] += *reinterpret_cast<const Vector*>(data + i + s * kWidth);
  }
  Vector sum{};
  for (const Vector& one : sums) sum += one;
  sink = sum[0];
  return 4.0 * static_cast<double>(count);
}

double multiply_add_baseline() { return multiply_add<16>(); }
double read_baseline(const float* data, std::size_t count) { return read_all<16>(data, count); }
#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] double multiply_add_avx2() { return multiply_add<32>(); }
[[gnu::target("avx512f")]] double multiply_add_avx512() { return multiply_add<64>(); }
[[gnu::target("avx2")]] double read_avx2(const float* data, std::size_t count) { return read_all<32>(data, count); }
[[gnu::target("avx512f")]] double read_avx512(const float* data, std::size_t count) { return read_all<64>(data, count); }
#endif

// Units a second of all threads together, the best round's: `work(thread)` is repeated, and says how many units it did. A round
// lasts from its first thread's start to its last one's end, so one that was not run by all threads side by side does not win.
double best_rate(int threads, double seconds, int rounds, const std::function<double(int)>& work) {
  double best = 0;
  for (int round = 0; round < rounds; ++round) {
    std::atomic<int> waiting{threads};
    std::vector<double> units(static_cast<std::size_t>(threads));
    std::vector<Clock::time_point> starts(units.size()), ends(units.size());
    const auto repeat = [&](int thread) {
      const auto own = static_cast<std::size_t>(thread);
      work(thread);  // warms caches and the clock
      --waiting;
      while (waiting > 0) {
      }
      const auto start = Clock::now();
      auto end = start;
      double done = 0;
      do {
        done += work(thread);
        end = Clock::now();
      } while (std::chrono::duration<double>(end - start).count() < seconds);
      units[own] = done;
      starts[own] = start;
      ends[own] = end;
    };
    std::vector<std::thread> others;
    for (int thread = 1; thread < threads; ++thread) others.emplace_back(repeat, thread);
    repeat(0);
    for (std::thread& other : others) other.join();
    double total = 0;
    for (const double done : units) total += done;
    const auto first = *std::min_element(starts.begin(), starts.end());
    const auto last = *std::max_element(ends.begin(), ends.end());
    best = std::max(best, total / std::chrono::duration<double>(last - first).count());
  }
  return best;
}

struct Aligned {
  void operator()(float* data) const { std::free(data); }
};
using Buffer = std::unique_ptr<float, Aligned>;

Buffer buffer(std::size_t bytes) {
  Buffer data(static_cast<float*>(std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096)));
  if (data == nullptr) {
    std::fprintf(stderr, "no memory for a working set of %zu bytes\n", bytes);
    std::exit(1);
  }
  std::memset(data.get(), 0, bytes);
  return data;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: rates SECONDS THREADS ROUNDS SIZE...\n");
    return 2;
  }
  const double seconds = std::atof(argv[1]);
  const int threads = std::atoi(argv[2]), rounds = std::atoi(argv[3]);
  if (seconds <= 0 || threads < 1 || rounds < 1) {
    std::fprintf(stderr, "SECONDS, THREADS and ROUNDS must be more than 0\n");
    return 2;
  }
  auto read = read_baseline;
  std::printf("{\"operations\": {\"baseline\": %.0f", best_rate(threads, seconds, rounds, [](int) { return multiply_add_baseline(); }));
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    read = read_avx2;
    std::printf(", \"avx2\": %.0f", best_rate(threads, seconds, rounds, [](int) { return multiply_add_avx2(); }));
  }
  if (__builtin_cpu_supports("avx512f")) {
    read = read_avx512;
    std::printf(", \"avx512\": %.0f", best_rate(threads, seconds, rounds, [](int) { return multiply_add_avx512(); }));
  }
#endif
  std::printf("}, \"bytes\": [");
  for (int given = 4; given < argc; ++given) {
    const std::size_t size = std::strtoull(argv[given], nullptr, 10);
    std::vector<Buffer> sources;
    for (int thread = 0; thread < threads; ++thread) sources.push_back(buffer(size));
    const double reading = best_rate(threads, seconds, rounds, [&](int thread) {
      return read(sources[static_cast<std::size_t>(thread)].get(), size / 4);
    });
    // Half of the working set to the other half; both the bytes read and those written count.
    const double copying = best_rate(threads, seconds, rounds, [&](int thread) {
      char* data = reinterpret_cast<char*>(sources[static_cast<std::size_t>(thread)].get());
      std::memcpy(data + size / 2, data, size / 2);
      sink = sources[static_cast<std::size_t>(thread)].get()[size / 8];
      return static_cast<double>(size);
    });
    std::printf("%s{\"size\": %zu, \"read\": %.0f, \"copy\": %.0f}", given > 4 ? ", " : "", size, reading, copying);
  }
  std::printf("]}\n");
  return 0;
}
