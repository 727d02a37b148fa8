// A model's sizes and weights as Python holds them.
#pragma once

#include <pybind11/pybind11.h>

#include "model/config.h"
#include "model/weights.h"

namespace fastsql::bindings {

// From ModelConfig.to_dict(). Raises KeyError where an entry is missing.
model::Config config_of(const pybind11::dict& sizes);

// Views of a dict of contiguous float32 or int8 arrays, which must outlive the result. Throws ModelError for other arrays.
model::Weights weights_of(const pybind11::dict& arrays);

}  // namespace fastsql::bindings
