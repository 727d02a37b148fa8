#include "grammar/automaton.h"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "core/error.h"
#include "grammar/sample.h"
#include "grammar/takable.h"

namespace py = pybind11;

namespace fastsql::bindings {
namespace {

using namespace fastsql::grammar;
using Integers = py::array_t<std::int32_t, py::array::c_style>;

Table view(const char* name, const Integers& array) {
  if (array.ndim() == 1) return {array.data(), {static_cast<std::size_t>(array.shape(0))}};
  throw ModelError(std::string(name) + " has " + std::to_string(array.ndim()) + " axes; it needs 1");
}

[[noreturn]] void refuse(std::int32_t action) {
  const auto error = py::module_::import("fastsql.grammar.automaton").attr("IllegalActionError");
  PyErr_SetString(error.ptr(), ("action " + std::to_string(action) + " is not offered here").c_str());
  throw py::error_already_set();
}

// States hold on to the automaton that owns what they point at.
struct Search {
  explicit Search(std::shared_ptr<const ActionSpace> actions) : space(std::move(actions)), automaton(space) {}
  std::shared_ptr<const ActionSpace> space;
  Automaton automaton;
  std::mutex mutex;  // advancing takes memory from the automaton
};
struct Hypothesis {
  std::shared_ptr<Search> search;
  State state;

  std::vector<Word> mask() const {
    std::vector<Word> set(search->automaton.space().words());
    search->automaton.mask(state, set.data());
    return set;
  }
};

Hypothesis start(const std::shared_ptr<Search>& search) {
  const std::lock_guard lock(search->mutex);
  return {search, search->automaton.start()};
}

Hypothesis advance(const Hypothesis& from, std::int32_t action, bool decision) {
  Hypothesis to = from;
  bool taken = action >= 0 && action < from.search->automaton.space().size();
  if (taken) {
    const std::vector<Word> legal = from.mask();
    const std::lock_guard lock(from.search->mutex);
    taken = has_bit(legal.data(), static_cast<std::size_t>(action)) && to.search->automaton.advance(to.state, action, decision);
  }
  if (!taken) refuse(action);
  return to;
}

py::array_t<std::int64_t> legal(const Hypothesis& hypothesis) {
  const std::vector<Word> set = hypothesis.mask();
  std::vector<std::int64_t> ids;
  for (std::size_t word = 0; word < set.size(); ++word) {
    for (Word rest = set[word]; rest != 0; rest &= rest - 1) {
      ids.push_back(static_cast<std::int64_t>(word * kWordBits + lowest_bit(rest)));
    }
  }
  return py::array_t<std::int64_t>(static_cast<py::ssize_t>(ids.size()), ids.data());
}

// Of the legal actions, which a search may take: bool[legal].
py::array_t<bool> takable(const Hypothesis& hypothesis) {
  const py::array_t<std::int64_t> ids = legal(hypothesis);
  const SpaceView& space = hypothesis.search->automaton.space().view();
  py::array_t<bool> result(ids.size());
  bool* out = result.mutable_data();
  bool any = false;
  for (py::ssize_t i = 0; i < ids.size(); ++i) {
    out[i] = !chooses(space, hypothesis.state) || is_takable(space, hypothesis.state, static_cast<std::int32_t>(ids.data()[i]));
    any = any || out[i];
  }
  if (!any) std::fill_n(out, ids.size(), true);
  return result;
}

py::array_t<bool> mask(const Hypothesis& hypothesis) {
  const std::vector<Word> set = hypothesis.mask();
  py::array_t<bool> result(hypothesis.search->automaton.space().size());
  bool* out = result.mutable_data();
  for (py::ssize_t action = 0; action < result.size(); ++action) {
    out[action] = has_bit(set.data(), static_cast<std::size_t>(action));
  }
  return result;
}

// What a sequence of decisions passes through: the frontier before each, and what was legal then.
struct Replay {
  std::vector<std::int16_t> symbols, parents;
  std::vector<Word> legal;
  std::int32_t refused = kNone;
  std::int32_t used = 0;
  bool finished = false;
};

Replay follow(std::shared_ptr<const ActionSpace> space, const std::int32_t* decisions, std::size_t count) {
  Automaton automaton(std::move(space));
  const std::size_t words = automaton.space().words();
  Replay replay;
  replay.legal.resize((count + 1) * words);  // one more: masks are written before it is known who decides
  State state = automaton.start();
  for (std::size_t decision = 0; !state.finished();) {
    Word* set = replay.legal.data() + decision * words;
    automaton.mask(state, set);
    const std::int32_t forced = only_element(set, words);
    std::int32_t action = forced;
    if (forced < 0) {
      if (decision == count) break;
      action = decisions[decision];
      const bool known = action >= 0 && action < automaton.space().size();
      if (forced == kNone || !known || !has_bit(set, static_cast<std::size_t>(action))) {
        replay.refused = action;
        return replay;
      }
      replay.symbols.push_back(static_cast<std::int16_t>(state.symbol()));
      replay.parents.push_back(static_cast<std::int16_t>(state.parent()));
      ++decision;
    }
    if (!automaton.advance(state, action, forced < 0)) {
      replay.refused = action;
      return replay;
    }
  }
  replay.used = state.used;
  replay.finished = state.finished();
  return replay;
}

template <typename T>
py::array_t<T> array_of(const std::vector<T>& values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

py::tuple replay(const Search& search, const Integers& decisions) {
  const Table taken = view("decisions", decisions);
  Replay result;
  {
    const py::gil_scoped_release release;
    result = follow(search.space, taken.data, taken.shape[0]);
  }
  if (result.refused != kNone) refuse(result.refused);
  if (result.symbols.size() < taken.shape[0]) refuse(taken.data[result.symbols.size()]);
  const std::size_t words = search.space->words();
  py::array_t<Word> legal({result.symbols.size(), words});
  std::copy_n(result.legal.data(), result.symbols.size() * words, legal.mutable_data());
  return py::make_tuple(array_of(result.symbols), array_of(result.parents), legal, result.used, result.finished);
}

// Each query has an automaton of its own, so that none waits for another.
py::tuple sampled(const Search& search, const py::array_t<float, py::array::c_style>& preference, std::uint64_t seed) {
  if (preference.ndim() != 1 || preference.shape(0) != search.space->size()) {
    throw ModelError("preference needs one number for each of " + std::to_string(search.space->size()) + " actions");
  }
  std::vector<std::int32_t> path;
  {
    const py::gil_scoped_release release;
    Automaton automaton(search.space);
    path = sample(automaton, preference.data(), seed);
  }
  const bool finished = path.empty() || path.back() != kDeadEnd;
  if (!finished) path.pop_back();
  return py::make_tuple(array_of(path), finished);
}

}  // namespace

void bind_automaton(py::module_& module) {
  // One class a table, so that what is made once a grammar and once a schema can be kept.
  py::class_<Grammar, std::shared_ptr<Grammar>>(module, "Grammar", "The compiled action grammar.")
      .def(py::init([](const Integers& table) { return std::make_shared<Grammar>(view("table", table)); }), py::arg("table"));
  py::class_<SchemaItems, std::shared_ptr<SchemaItems>>(module, "SchemaItems", "A schema, for all its questions.")
      .def(py::init([](const std::shared_ptr<Grammar>& grammar, const Integers& table) {
             return std::make_shared<SchemaItems>(grammar, view("table", table));
           }),
           py::arg("grammar"), py::arg("table"));
  py::class_<ActionSpace, std::shared_ptr<ActionSpace>>(module, "ActionSpace", "The actions of one question.")
      .def(py::init([](const std::shared_ptr<SchemaItems>& schema, const Integers& table) {
             return std::make_shared<ActionSpace>(schema, view("table", table));
           }),
           py::arg("schema"), py::arg("table"))
      .def_property_readonly("size", &ActionSpace::size)
      .def_property_readonly("offsets", [](const ActionSpace& space) {
        py::tuple offsets(kKinds + 1);
        for (std::size_t kind = 0; kind <= kKinds; ++kind) offsets[kind] = space.view().offsets[kind];
        return offsets;
      });
  py::class_<Search, std::shared_ptr<Search>>(module, "Automaton", "The grammar's pushdown automaton.")
      .def(py::init([](const std::shared_ptr<ActionSpace>& space) { return std::make_shared<Search>(space); }), py::arg("space"))
      .def("start", &start)
      .def("replay", &replay, py::arg("decisions"))
      .def("sample", &sampled, py::arg("preference"), py::arg("seed"));
  py::class_<Hypothesis>(module, "State", "A point in the decoding of one query; never changes.")
      .def_property_readonly("finished", [](const Hypothesis& h) { return h.state.finished(); })
      .def_property_readonly("symbol", [](const Hypothesis& h) { return h.state.finished() ? -1 : h.state.symbol(); })
      .def_property_readonly("parent", [](const Hypothesis& h) { return h.state.finished() ? -1 : h.state.parent(); })
      .def_property_readonly("used", [](const Hypothesis& h) { return h.state.used; })
      .def_property_readonly("decisions", [](const Hypothesis& h) { return h.state.decisions; })
      .def_property_readonly("cost", [](const Hypothesis& h) { return h.state.cost; })
      .def("advance", &advance, py::arg("action"), py::kw_only(), py::arg("decision") = true)
      .def("legal", &legal)
      .def("mask", &mask)
      .def("takable", &takable);
}

}  // namespace fastsql::bindings
