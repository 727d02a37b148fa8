// The errors of the native core. The binding layer raises the Python class of the same name for each.
#pragma once

#include <stdexcept>
#include <string>

namespace fastsql {

// Base of everything the core throws on purpose; mirrors fastsql.errors.FastSQLError.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Tensors that do not fit together, or hold what the model does not define; mirrors fastsql.errors.ModelError.
class ModelError : public Error {
 public:
  using Error::Error;
};

// Something larger than what the model or the limits of the package allow; mirrors fastsql.errors.LimitError.
class LimitError : public Error {
 public:
  using Error::Error;
};

}  // namespace fastsql
