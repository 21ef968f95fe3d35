#pragma once

#include <cstdint>

#include "gauze/data/table.h"

// The Arrow C data interface: two structures whose layout every Arrow library agrees on.
// https://arrow.apache.org/docs/format/CDataInterface.html
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};
}

#endif

namespace gauze {

/// Fills both structures with the table as one struct array (a record batch). Integers, doubles,
/// decimals (as doubles), timestamps and the codes of texts (dictionary-encoded) are shared, not
/// copied, and stay alive until the receiver releases them; booleans and dates are converted.
void export_arrow(const Table& table, ArrowSchema* schema, ArrowArray* array);

/// Takes both structures over: they are released when the last column that shares their memory is
/// gone, or at once when the import fails. 64-bit integers, doubles, timestamps in microseconds and
/// 32-bit codes are shared; other numbers, strings, dates and 128-bit decimals are converted. Times
/// keep their UTC value, nanoseconds are cut. Throws `kUnsupported`, naming the column, for other
/// types and `kInvalidInput` for what is no table.
Table import_arrow(ArrowSchema* schema, ArrowArray* array);

}  // namespace gauze
