#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "core/error.h"
#include "linking/gram_table.h"
#include "linking/near_places.h"
#include "linking/nearness.h"
#include "linking/schema_links.h"
#include "linking/value_match.h"
#include "linking/value_parts.h"
#include "linking/value_table.h"

namespace py = pybind11;

namespace fastsql::bindings {
namespace {

using namespace fastsql::linking;
using Bytes = py::array_t<std::uint8_t, py::array::c_style>;
using Numbers = py::array_t<std::int32_t, py::array::c_style>;

template <std::size_t rank, typename T, int flags>
Tensor<const T, rank> view(const char* name, const py::array_t<T, flags>& array) {
  if (array.ndim() != static_cast<py::ssize_t>(rank)) {
    throw ModelError(std::string("linking: ") + name + " has " + std::to_string(array.ndim()) + " axes; it needs " +
                     std::to_string(rank));
  }
  Tensor<const T, rank> tensor{array.data(), {}};
  for (std::size_t axis = 0; axis < rank; ++axis) tensor.shape[axis] = static_cast<std::size_t>(array.shape(axis));
  return tensor;
}

// The table holds on to the array that it reads.
struct Values {
  Values(const Bytes& body, const std::array<std::uint64_t, ValueTable::kSections + 1>& bounds,
         const py::array_t<std::uint32_t, py::array::c_style>& checksums)
      : body(body),
        table(view<1>("body", body).data, static_cast<std::size_t>(body.size()), bounds,
              {checksums.data(), checksums.data() + checksums.size()}) {}
  Bytes body;
  ValueTable table;
};

py::list hits(const Values& values, const py::bytes& key) {
  const std::string_view text = key;
  std::vector<ValueHit> found;
  {
    const py::gil_scoped_release release;
    found = find_values(values.table, text);
  }
  py::list list;
  for (const ValueHit& hit : found) list.append(py::make_tuple(hit.begin, hit.end, hit.values));
  return list;
}

// The same, beside the values whose grams they are, which live as long.
struct Grams {
  Grams(const Values& values, const Bytes& body, const std::array<std::uint64_t, GramTable::kSections + 1>& bounds,
        const py::array_t<std::uint32_t, py::array::c_style>& checksums)
      : values(values),
        body(body),
        table(view<1>("body", body).data, static_cast<std::size_t>(body.size()), bounds,
              {checksums.data(), checksums.data() + checksums.size()}, values.table.size()) {}
  const Values& values;
  Bytes body;
  GramTable table;
};

using Texts = std::vector<std::u32string>;

std::vector<std::uint32_t> propose(const Grams& grams, const std::vector<Texts>& texts,
                                   const std::vector<std::uint8_t>& allowed) {
  const py::gil_scoped_release release;
  return grams.table.propose(texts, grams.values.table, allowed);
}

py::list said(const Grams& grams, const Texts& words, const std::vector<std::uint8_t>& idle, const std::vector<WordRun>& settled,
              const std::vector<std::uint8_t>& allowed) {
  std::vector<NearPlace> found;
  {
    const py::gil_scoped_release release;
    found = find_near(grams.values.table, grams.table, words, idle, settled, allowed);
  }
  py::list list;
  for (const NearPlace& place : found) list.append(py::make_tuple(place.distance, place.begin, place.end, place.value));
  return list;
}

using SaidText = std::tuple<py::bytes, py::bytes, std::vector<WordRun>, bool>;

py::list parts(const Grams& grams, const std::vector<SaidText>& texts, const std::vector<std::uint8_t>& allowed) {
  std::vector<Said> said;
  for (const auto& [plain, key, places, whole] : texts) said.push_back({plain, key, places, whole});
  std::vector<ValuePart> found;
  {
    const py::gil_scoped_release release;
    found = find_parts(grams.values.table, grams.table, said, allowed);
  }
  py::list list;
  for (const ValuePart& part : found) {
    list.append(py::make_tuple(part.text, static_cast<int>(part.kind), part.fixed, part.furthest, part.holders));
  }
  return list;
}

std::size_t half_letters(const Texts& one, const Texts& other, std::size_t per_edit) {
  return Nearness(per_edit).half_letters(one, other);
}

RelationNumbers relation_numbers(const py::dict& numbers) {
  const auto number = [&numbers](const char* name) { return numbers[name].cast<std::uint8_t>(); };
  return {number("token-self"),          number("token-candidate"),   number("candidate-token"), number("candidate-self"),
          number("candidate-candidate"), number("candidate-overlap"), number("token-table"),     number("table-token"),
          number("token-column"),        number("column-token"),      number("candidate-table"), number("table-candidate"),
          number("candidate-column"),    number("column-candidate")};
}

using ListsOfNumbers = std::pair<Numbers, Numbers>;

Lists lists(const char* name, const ListsOfNumbers& arrays) {
  return {view<1>(name, arrays.first), view<1>(name, arrays.second)};
}

SchemaLinks schema_links(const ListsOfNumbers& grams, const ListsOfNumbers& parts, const ListsOfNumbers& wholes,
                         const py::dict& numbers, const Bytes& within, const Numbers& table_of, const Bytes& fits) {
  const Tensor<const std::uint8_t, 2> block = view<2>("within", within);
  NameTable names(lists("grams", grams), lists("parts", parts), lists("wholes", wholes), block.shape[0]);
  return SchemaLinks(std::move(names), relation_numbers(numbers), block, view<1>("table_of", table_of), view<2>("fits", fits));
}

Bytes relations(const SchemaLinks& links, std::vector<std::int32_t> words, std::vector<std::int32_t> word_spans,
                std::vector<std::int32_t> shortened, const Numbers& offsets, std::vector<std::int32_t> spans,
                std::vector<std::int32_t> kinds, std::vector<std::vector<std::int32_t>> held) {
  const QuestionParts question{std::move(words), std::move(word_spans), std::move(shortened), view<2>("offsets", offsets),
                               std::move(spans), std::move(kinds),      std::move(held)};
  const std::size_t size = links.nodes(question.offsets.shape[0], question.kinds.size()).size();
  Bytes result({size, size});
  const Tensor<std::uint8_t, 2> target{result.mutable_data(), {size, size}};
  {
    const py::gil_scoped_release release;
    links.relations(question, target);
  }
  return result;
}

}  // namespace

void bind_linking(py::module_& module) {
  py::class_<Values>(module, "ValueIndex", "Known values by the sequence of their words.")
      .def(py::init<const Bytes&, const std::array<std::uint64_t, ValueTable::kSections + 1>&,
                    const py::array_t<std::uint32_t, py::array::c_style>&>(),
           py::arg("body").noconvert(), py::arg("bounds"), py::arg("checksums").noconvert())
      .def("hits", &hits, py::arg("key"));
  py::class_<Grams>(module, "GramIndex", "Known values by the letters that they have in common with a text.")
      .def(py::init<const Values&, const Bytes&, const std::array<std::uint64_t, GramTable::kSections + 1>&,
                    const py::array_t<std::uint32_t, py::array::c_style>&>(),
           py::arg("values"), py::arg("body").noconvert(), py::arg("bounds"), py::arg("checksums").noconvert(),
           py::keep_alive<1, 2>())
      .def("propose", &propose, py::arg("texts"), py::arg("allowed"))
      .def("said", &said, py::arg("words"), py::arg("idle"), py::arg("settled"), py::arg("allowed"))
      .def("parts", &parts, py::arg("texts"), py::arg("allowed"));
  module.def("half_letters", &half_letters, py::arg("one"), py::arg("other"), py::arg("per_edit"));
  py::class_<SchemaLinks>(module, "SchemaLinks", "Links questions to one schema.")
      .def(py::init(&schema_links), py::arg("grams"), py::arg("parts"), py::arg("wholes"), py::arg("numbers"), py::arg("within"),
           py::arg("table_of"), py::arg("fits"))
      .def("relations", &relations, py::arg("words"), py::arg("word_spans"), py::arg("shortened"), py::arg("offsets"),
           py::arg("spans"), py::arg("kinds"), py::arg("held"));
}

}  // namespace fastsql::bindings
