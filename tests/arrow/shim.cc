// What a client in another language calls: tables in and out through the Arrow C data interface.

#include "gauze/base/error.h"
#include "gauze/data/arrow.h"

/// A table comes in, is held as a gauze::Table and goes out again. 0, or the code of the error.
extern "C" int gauze_round_trip(ArrowSchema* schema, ArrowArray* array, ArrowSchema* out_schema,
                                ArrowArray* out_array) {
  try {
    gauze::export_arrow(gauze::import_arrow(schema, array), out_schema, out_array);
    return 0;
  } catch (const gauze::Error& error) {
    return static_cast<int>(error.code());
  }
}

/// Every type that we export, three rows.
extern "C" void gauze_sample(ArrowSchema* schema, ArrowArray* array) {
  using gauze::Column;
  using gauze::Type;
  gauze::export_arrow(
      gauze::Table({"b", "i", "m", "r", "s", "d", "w"},
                   {Column::of_integers(Type::kBoolean, {1, 0, 1}, {1, 1, 0}),
                    Column::of_integers(Type::kInteger, {INT64_MIN, 0, INT64_MAX}),
                    Column::of_reals(Type::kDecimal, {0.25, 2, -3}, {0, 1, 1}),
                    Column::of_reals(Type::kDouble, {0.1, 5e-324, -1e300}),
                    Column::of_texts({"it's", "", "na\xc3\xafve"}, {1, 0, 1}),
                    Column::of_integers(Type::kDate, {-719162, 0, 19782}, {1, 0, 1}),
                    Column::of_integers(Type::kTimestamp, {-1, 0, 1'700'000'000'000'000})}),
      schema, array);
}

/// The address of the first value of column 0 after an import: that of the client where memory is shared.
extern "C" const void* gauze_first_integers(ArrowSchema* schema, ArrowArray* array) {
  const gauze::Table table = gauze::import_arrow(schema, array);
  return table.columns().at(0).integers().data();
}
