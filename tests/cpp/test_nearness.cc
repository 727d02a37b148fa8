#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "linking/nearness.h"

using namespace fastsql::linking;

namespace {

using Text = std::vector<std::u32string>;

std::size_t far(const Text& one, const Text& other, std::size_t per_edit = Nearness::kPerEdit) {
  return Nearness(per_edit).half_letters(one, other);
}

}  // namespace

TEST_CASE("letters are counted that are missing, too much, others, or swapped", "[nearness]") {
  Nearness nearness(Nearness::kPerEdit);
  CHECK(nearness.edits(U"aspirin", U"asprin") == 1);
  CHECK(nearness.edits(U"heparin", U"hepairn") == 1);
  CHECK(nearness.edits(U"kitten", U"sitting") == 3);
  CHECK(nearness.edits(U"", U"abc") == 3);
  CHECK(nearness.edits(U"急性肾衰竭", U"慢性肾衰竭") == 1);
}

TEST_CASE("texts beyond a machine word are compared row by row", "[nearness]") {
  Nearness nearness(Nearness::kPerEdit);
  const std::u32string one(80, U'a');
  std::u32string other = one;
  other[40] = U'b';
  std::swap(other[40], other[41]);
  other.insert(3, U"x");
  CHECK(nearness.edits(one, other) == 2);
  CHECK(nearness.edits(one, one) == 0);
}

TEST_CASE("words are paired in any order, cut or misspelled", "[nearness]") {
  CHECK(far({U"renal", U"failure"}, {U"renal", U"failure"}) == 0);
  CHECK(far({U"renal", U"failure"}, {U"failure", U"renal"}) == 2);
  CHECK(far({U"renal", U"failure"}, {U"acute", U"renal", U"failure"}) == 5);
  CHECK(far({U"gluc"}, {U"glucose"}) == 3);
  CHECK(far({U"heartrate"}, {U"heart", U"rate"}) == 1);
  CHECK(far({U"ckd"}, {U"chronic", U"kidney", U"disease"}) == 10);
}

TEST_CASE("numbers are never misspelled", "[nearness]") {
  CHECK(far({U"stage", U"3"}, {U"stage", U"4"}) == 12);
  CHECK(far({U"5"}, {U"50"}) == 4);
}

TEST_CASE("strictly, one name is not taken for another", "[nearness]") {
  CHECK(far({U"prednisone"}, {U"prednisolone"}) == 4);
  CHECK(far({U"prednisone"}, {U"prednisolone"}, Nearness::kStrictly) > 12);
  CHECK(far({U"weight"}, {U"height"}, Nearness::kStrictly) == 12);
  CHECK(far({U"asprin"}, {U"aspirin"}, Nearness::kStrictly) == 2);
}

TEST_CASE("a text without words is as far as can be", "[nearness]") {
  CHECK(far({}, {}) == 0);
  CHECK(far({}, {U"swab"}) == 8);
  CHECK(far({U""}, {U"swab"}) == 8);
}
