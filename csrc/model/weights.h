// The tensors of a bundle by their names, as views of memory that the caller keeps alive while a model is being made.
// A large matrix is int8, with its scales [out] under "<name>.scale"; everything else is float32.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "linear/linear.h"

namespace fastsql::model {

struct Stored {
  std::vector<std::size_t> shape;
  const float* values = nullptr;  // one of the two
  const std::int8_t* quantised = nullptr;
};

class Weights {
 public:
  void add(std::string name, Stored tensor) { tensors_.insert_or_assign(std::move(name), std::move(tensor)); }

  bool has(const std::string& name) const { return tensors_.count(name) > 0; }

  // "<name>.weight" [out, in] with "<name>.bias" [out], if there is one. Each of these throws ModelError naming a tensor that
  // is missing or has another shape or element type.
  Linear linear(const std::string& name, std::size_t out, std::size_t in, InstructionSet set = best_instruction_set()) const;
  // A copy of a tensor of this shape, multiplied back to float32 where it is int8.
  std::vector<float> floats(const std::string& name, const std::vector<std::size_t>& shape) const;
  // The length of a tensor's first axis.
  std::size_t rows(const std::string& name) const;
  // The matrix as it is stored, `name` in full.
  Matrix matrix(const std::string& name, std::size_t out, std::size_t in) const;

 private:
  const float* float_values(const std::string& name, const std::vector<std::size_t>& shape) const;
  const Stored& at(const std::string& name) const;
  const Stored& at(const std::string& name, const std::vector<std::size_t>& shape) const;
  std::map<std::string, Stored> tensors_;
};

}  // namespace fastsql::model
