// A model's sizes, weights and input as Python holds them.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>

#include "model/config.h"
#include "model/weights.h"

namespace fastsql::bindings {

// From ModelConfig.to_dict(). Raises KeyError where an entry is missing.
model::Config config_of(const pybind11::dict& sizes);

// Views of a dict of contiguous float32 or int8 arrays, which must outlive the result. Throws ModelError for other arrays.
model::Weights weights_of(const pybind11::dict& arrays);

using Numbers = pybind11::array_t<std::int32_t, pybind11::array::c_style>;

// Entries of an array with one axis. Throws ModelError, which says its `name`, for another.
std::size_t length_of(const char* name, const Numbers& array);

}  // namespace fastsql::bindings
