#include "gauze/learn/fitting_internal.h"

#include "gauze/base/error.h"

namespace gauze::internal {

void expect_fitting(const Examples& examples, const Arithmetic& shape, std::uint64_t records,
                    Relation relation) {
  const auto expect = [](bool holds, const char* message) {
    if (!holds) throw Error(ErrorCode::kInvalidInput, message);
  };
  expect(examples.dimension() == shape.dimension, "examples have another dimension");
  expect(examples.rows_per_unit() <= shape.rows_per_unit,
         "examples may have more rows of a unit than rows_per_unit says");
  expect(relation != Relation::kReplace || examples.units() == records,
         "under replace there must be as many units as records");
}

}  // namespace gauze::internal
