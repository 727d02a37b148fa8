// What a linear map's products become, in double precision.
#pragma once

#include <cmath>

#include "linear/linear.h"

namespace fastsql::test {

inline double finished(Then then, double product, double before) {
  switch (then) {
    case Then::kRelu:
      return product > 0 ? product : 0;
    case Then::kGelu:
      return 0.5 * product * (1 + std::tanh(0.7978845608 * (product + 0.044715 * product * product * product)));
    case Then::kAdd:
      return before + product;
    case Then::kStore:
      break;
  }
  return product;
}

}  // namespace fastsql::test
