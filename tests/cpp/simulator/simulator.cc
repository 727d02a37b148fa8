// Threads of the simulated GPU: each has a stack of its own, and runs until it waits for others.
#include "simulator.h"

#include <sys/mman.h>
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/device_functions.h"
#include "cuda_runtime.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

constinit thread_local dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace fastsql::simulator {
namespace {

constexpr std::size_t kStack = std::size_t{256} << 10;
constexpr int kNan = 0xFF;  // as every byte of a number
constexpr unsigned kWarp = 32;

struct Settings {
  Order order = Order::kForward;
  std::uint32_t seed = 0;
};
thread_local Settings settings;

// Numbers 0 to count - 1 in the order that is set.
std::vector<std::size_t> ordered(std::size_t count, std::mt19937& generator) {
  std::vector<std::size_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  if (settings.order == Order::kBackward) std::reverse(numbers.begin(), numbers.end());
  if (settings.order == Order::kShuffled) std::shuffle(numbers.begin(), numbers.end(), generator);
  return numbers;
}

// Memory for stacks, kept for the launches after.
class Stacks {
 public:
  Stacks() = default;
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;
  ~Stacks() {
    for (void* stack : stacks_) munmap(stack, kStack);
  }
  void* at(std::size_t number) {
    while (stacks_.size() <= number) {
      void* stack = mmap(nullptr, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (stack == MAP_FAILED) throw std::runtime_error("simulator: no memory for stacks");
      stacks_.push_back(stack);
    }
    return stacks_[number];
  }

 private:
  std::vector<void*> stacks_;
};

// A stack, and where its thread goes on.
struct Fiber {
#if defined(__x86_64__)
  void* stack_pointer = nullptr;
#else
  ucontext_t context{};
#endif
  void* fake_stack = nullptr;  // AddressSanitizer's
  const void* bottom = nullptr;
  std::size_t size = 0;
};

#if defined(__x86_64__)

// Saves what a function must preserve, on its own stack, and goes on where `to` was left. swapcontext does the same in fifty times
// the time, as it also asks the kernel for signal masks.
extern "C" void fastsql_switch_stack(void** from, void* to);
asm(R"(
.text
.local fastsql_switch_stack
.type fastsql_switch_stack, @function
fastsql_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size fastsql_switch_stack, .-fastsql_switch_stack
)");

void prepare(Fiber& fiber, void* stack, void (*enter)()) {
  constexpr std::size_t kSaved = 6;
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(stack, kStack);  // a thread that ended here before has left its frames
#endif
  void** top = reinterpret_cast<void**>(static_cast<char*>(stack) + kStack);
  *--top = nullptr;  // in place of a return address, so that the stack is aligned as after a call
  *--top = reinterpret_cast<void*>(enter);
  for (std::size_t i = 0; i < kSaved; ++i) *--top = nullptr;
  fiber.stack_pointer = top;
  fiber.bottom = stack;
  fiber.size = kStack;
}

void leave_for(Fiber& from, const Fiber& to) { fastsql_switch_stack(&from.stack_pointer, to.stack_pointer); }

#else

void prepare(Fiber& fiber, void* stack, void (*enter)()) {
  fiber.bottom = stack;
  fiber.size = kStack;
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = stack;
  fiber.context.uc_stack.ss_size = kStack;
  makecontext(&fiber.context, enter, 0);
}

void leave_for(Fiber& from, Fiber& to) { swapcontext(&from.context, &to.context); }

#endif

// Goes from one stack to another; returns when somebody comes back. A fiber that ends never does.
void switch_to(Fiber& from, Fiber& to, [[maybe_unused]] bool ends = false) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(ends ? nullptr : &from.fake_stack, to.bottom, to.size);
#endif
  leave_for(from, to);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(from.fake_stack, nullptr, nullptr);
#endif
}

// Threads that wait for each other: a warp, a block or a cluster. What the lanes of a warp exchange is kept twice, as one lane may be
// a meeting ahead of another.
struct Meeting {
  unsigned members = 0, arrived = 0, ended = 0;
  unsigned turn = 0;  // of those that all have come to
  const char* what = nullptr;
  unsigned char given[2][kWarp * 64];

  void arrive() {
    if (++arrived + ended >= members) open();
  }
  void end() {
    ++ended;
    if (arrived > 0 && arrived + ended >= members) open();
  }

 private:
  void open() {
    arrived = 0;
    ++turn;
    what = nullptr;
  }
};

struct Block {
  dim3 index;
  std::unique_ptr<unsigned char[]> shared;
  Meeting meeting;
  std::vector<Meeting> warps;
};

struct Thread {
  Fiber fiber;
  Block* block = nullptr;
  unsigned number = 0;  // in its block
  bool ended = false;
  const Meeting* waits_for = nullptr;  // to come to another turn
  unsigned turn = 0;

  Meeting& warp() const { return block->warps[number / kWarp]; }
  bool ready() const { return !ended && (waits_for == nullptr || waits_for->turn != turn); }
};

thread_local Stacks stacks;

// The blocks that run together.
class Cluster {
 public:
  Cluster(const cudaLaunchConfig_t& config, const std::function<void()>& work, const std::vector<dim3>& indices)
      : config_(config), work_(work), blocks_(indices.size()) {
    const unsigned threads = config.blockDim.x;
    meeting_.members = threads * static_cast<unsigned>(indices.size());
    threads_.resize(meeting_.members);
    for (std::size_t number = 0; number < indices.size(); ++number) {
      Block& block = blocks_[number];
      block.index = indices[number];
      block.shared.reset(new unsigned char[config.dynamicSmemBytes + 1]);
      std::memset(block.shared.get(), kNan, config.dynamicSmemBytes);
      block.meeting.members = threads;
      block.warps.resize((threads + kWarp - 1) / kWarp);
      for (unsigned thread = 0; thread < threads; ++thread) {
        threads_[number * threads + thread].block = &block;
        threads_[number * threads + thread].number = thread;
        ++block.warps[thread / kWarp].members;
      }
    }
  }

  void run(std::mt19937& generator) {
    active = this;
    for (std::size_t number = 0; number < threads_.size(); ++number) {
      prepare(threads_[number].fiber, stacks.at(number), &Cluster::enter);
    }
    for (bool any = true; any && failure_.empty();) {
      any = false;
      for (const std::size_t number : ordered(threads_.size(), generator)) {
        if (!threads_[number].ready()) continue;
        any = true;
        resume(threads_[number]);
        if (!failure_.empty()) break;
      }
    }
    active = nullptr;
    std::size_t waiting = 0;
    for (const Thread& thread : threads_) waiting += !thread.ended;
    if (failure_.empty() && waiting > 0) {
      failure_ = std::to_string(waiting) + " of " + std::to_string(threads_.size()) + " threads wait for others that never come";
    }
    if (!failure_.empty()) throw std::logic_error("simulator: " + failure_);
  }

  void wait(Meeting& meeting) {
    Thread& thread = *current_;
    const unsigned before = meeting.turn;
    meeting.arrive();
    if (meeting.turn != before) return;
    thread.waits_for = &meeting;
    thread.turn = before;
    switch_to(thread.fiber, scheduler_);
  }

  void wait_for_block() { wait(current_->block->meeting); }
  void wait_for_cluster() { wait(meeting_); }

  const unsigned char* exchange(const char* what, unsigned mask, const void* value, std::size_t size) {
    Meeting& warp = current_->warp();
    if (size > 64) fail(std::string(what) + " of " + std::to_string(size) + " bytes");
    if (mask != 0xFFFFFFFFu || warp.members != kWarp) fail(std::string(what) + " of a part of a warp");
    if (warp.ended > 0) fail(std::string(what) + ", and lanes of the warp have ended");
    if (warp.what != nullptr && std::string(warp.what) != what)
      fail("a warp meets in " + std::string(warp.what) + " and " + what);
    warp.what = what;
    unsigned char* given = warp.given[warp.turn % 2];
    if (size > 0) std::memcpy(given + lane() * size, value, size);
    wait(warp);
    return given;
  }

  unsigned lane() const { return current_->number % kWarp; }
  unsigned char* shared() const { return current_->block->shared.get(); }
  unsigned rank() const { return static_cast<unsigned>(current_->block - blocks_.data()); }
  unsigned size() const { return static_cast<unsigned>(blocks_.size()); }

  [[noreturn]] void fail(std::string why) {
    failure_ = std::move(why);
    switch_to(current_->fiber, scheduler_);
    std::abort();  // nobody comes back to a thread that has failed
  }

  static thread_local Cluster* active;

 private:
  static void enter() {
#if defined(__SANITIZE_ADDRESS__)
    Fiber& from = active->scheduler_;
    __sanitizer_finish_switch_fiber(nullptr, &from.bottom, &from.size);
#endif
    active->work_();
    Thread& thread = *active->current_;
    thread.ended = true;
    thread.warp().end();
    thread.block->meeting.end();
    active->meeting_.end();
    switch_to(thread.fiber, active->scheduler_, true);
  }

  void resume(Thread& thread) {
    current_ = &thread;
    thread.waits_for = nullptr;
    threadIdx = dim3(thread.number, 0, 0);
    blockIdx = thread.block->index;
    blockDim = config_.blockDim;
    gridDim = config_.gridDim;
    switch_to(scheduler_, thread.fiber);
  }

  const cudaLaunchConfig_t& config_;
  const std::function<void()>& work_;
  std::vector<Block> blocks_;
  std::vector<Thread> threads_;
  Meeting meeting_;
  Thread* current_ = nullptr;
  Fiber scheduler_;
  std::string failure_;
};

thread_local Cluster* Cluster::active = nullptr;

Cluster& active() {
  if (Cluster::active == nullptr) throw std::logic_error("simulator: a function of kernels was called by the host");
  return *Cluster::active;
}

}  // namespace

void set_order(Order order, std::uint32_t seed) { settings = {order, seed}; }

void run(const cudaLaunchConfig_t& config, const std::function<void()>& thread) {
  const dim3 &grid = config.gridDim, &block = config.blockDim;
  const unsigned cluster = config.numAttrs > 0 ? config.attrs[0].val.clusterDim.x : 1;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.y > 65535 || grid.z > 65535 || block.x == 0 || block.x > 1024 ||
      block.y != 1 || block.z != 1 || cluster == 0 || cluster > 16 || grid.x % cluster != 0 ||
      config.dynamicSmemBytes > std::size_t{227} << 10) {
    throw std::logic_error("simulator: a GPU would refuse a launch of this shape");
  }
  std::vector<std::vector<dim3>> clusters;
  for (unsigned z = 0; z < grid.z; ++z) {
    for (unsigned y = 0; y < grid.y; ++y) {
      for (unsigned x = 0; x < grid.x; x += cluster) {
        clusters.emplace_back();
        for (unsigned rank = 0; rank < cluster; ++rank) clusters.back().push_back(dim3(x + rank, y, z));
      }
    }
  }
  std::mt19937 generator(settings.seed);
  for (const std::size_t number : ordered(clusters.size(), generator)) Cluster(config, thread, clusters[number]).run(generator);
}

const unsigned char* exchange(const char* what, unsigned mask, const void* value, std::size_t size) {
  return active().exchange(what, mask, value, size);
}

int lane() { return static_cast<int>(active().lane()); }

}  // namespace fastsql::simulator

void __syncthreads() { fastsql::simulator::active().wait_for_block(); }
void __syncwarp(unsigned mask) { fastsql::simulator::active().exchange("__syncwarp", mask, nullptr, 0); }

namespace fastsql::cuda {

unsigned char* shared_memory() { return simulator::active().shared(); }
unsigned cluster_rank() { return simulator::active().rank(); }
unsigned cluster_size() { return simulator::active().size(); }
void cluster_barrier() { simulator::active().wait_for_cluster(); }

namespace {

float entry(std::uint32_t pair, int place) { return to_float({static_cast<std::uint16_t>(pair >> 16 * place)}); }

}  // namespace

void multiply_add(float (&sums)[4], const std::uint32_t (&left)[4], std::uint32_t right_0, std::uint32_t right_1) {
  struct Operands {
    std::uint32_t left[4], right[2];
  };
  const Operands mine{{left[0], left[1], left[2], left[3]}, {right_0, right_1}};
  Operands all[kLanes];
  std::memcpy(all, simulator::exchange("multiply_add", kAllLanes, &mine, sizeof mine), sizeof all);
  const int lane = simulator::lane();
  for (int r = 0; r < 4; ++r) {
    const int row = lane / 4 + r / 2 * 8, column = lane % 4 * 2 + r % 2;
    for (int depth = 0; depth < 16; ++depth) {
      const int pair = depth % 8 / 2, half = depth / 8;
      sums[r] += entry(all[row % 8 * 4 + pair].left[row / 8 + 2 * half], depth % 2) *
                 entry(all[column * 4 + pair].right[half], depth % 2);
    }
  }
}

void load_transposed(const Bfloat16* row, std::uint32_t& right_0, std::uint32_t& right_1) {
  const Bfloat16* rows[kLanes];
  // The lanes exchange addresses.
  // NOLINTNEXTLINE(bugprone-sizeof-expression)
  std::memcpy(rows, simulator::exchange("load_transposed", kAllLanes, &row, sizeof row), sizeof rows);
  const int lane = simulator::lane(), column = lane / 4, first = lane % 4 * 2;
  for (int l = 0; l < 16; ++l) {
    if (reinterpret_cast<std::uintptr_t>(rows[l]) % 16 != 0)
      simulator::active().fail("load_transposed of a row that is not aligned");
  }
  const auto pair = [&](int at) { return std::uint32_t{rows[at][column].bits} | std::uint32_t{rows[at + 1][column].bits} << 16; };
  right_0 = pair(first);
  right_1 = pair(8 + first);
}

}  // namespace fastsql::cuda
