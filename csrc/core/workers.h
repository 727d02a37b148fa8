// A few threads that share the rows or columns of one operation. Whoever finds them busy does the work alone, so callers on
// many threads never wait for each other; so does everybody for a while after the threads were late, as they are where other
// programs want their processors. What is computed does not depend on who computes it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace fastsql {

class Workers {
 public:
  // The calling thread alone.
  Workers() = default;
  // The calling thread and `threads` - 1 others, started when they are first needed (again in a forked process).
  explicit Workers(std::size_t threads);

  std::size_t threads() const;

  // Calls work(part) for every part below `parts`, each once, on any of the threads; returns when all are done. Parts must
  // not touch the same output. `work` must not throw.
  void run(std::size_t parts, const std::function<void(std::size_t)>& work) const;

 private:
  class Pool;
  std::shared_ptr<Pool> pool_;
};

}  // namespace fastsql
