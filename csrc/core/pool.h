// Objects that are costly to make and used by one thread at a time, such as workspaces: whoever needs one takes it and leaves it
// to the next.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace fastsql {

template <typename T>
class Pool {
 public:
  // One object, for as long as the lease lives; the pool must outlive it.
  class Lease {
   public:
    Lease(Pool& pool, std::unique_ptr<T> object) : pool_(pool), object_(std::move(object)) {}
    ~Lease() { pool_.put(std::move(object_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    T& operator*() const { return *object_; }
    T* operator->() const { return object_.get(); }

   private:
    Pool& pool_;
    std::unique_ptr<T> object_;
  };

  // The object used last, or a new one. Thread-safe.
  Lease take() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        std::unique_ptr<T> object = std::move(free_.back());
        free_.pop_back();
        return Lease(*this, std::move(object));
      }
      free_.reserve(++made_);  // so that giving back cannot fail
    }
    return Lease(*this, std::make_unique<T>());
  }

 private:
  void put(std::unique_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(object));
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> free_;
  std::size_t made_ = 0;
};

}  // namespace fastsql
