// How far a search looks.
#pragma once

#include <cstddef>

namespace fastsql::decode {

struct Breadth {
  std::size_t beam;     // hypotheses
  double patience = 0;  // nats by which what is unfinished may be less likely than the best query and is still followed

  // NOLINTNEXTLINE(google-explicit-constructor): a width alone is one
  Breadth(std::size_t beam, double patience = 0) : beam(beam), patience(patience) {}
};

}  // namespace fastsql::decode
