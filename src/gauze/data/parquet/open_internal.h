#pragma once

#include <string>
#include <vector>

#include "gauze/data/view_column_internal.h"

namespace gauze::internal {

/// Parquet files in FROM. Values in names of folders, x=1, are text: a type that fits all of them
/// is one that a single folder can change.
std::string scan_parquet(const std::vector<std::string>& files);

/// A table of Parquet files as the engine reads them.
struct OpenedParquet {
  TablePart part;
  bool repair_first = false;  ///< before a row is read, `repair_parquet` must have copied the files
};

/// Opens the files of a table. No column is one that the embedded engine cannot write or whose
/// bytes it would mix with another row's. Throws `kInvalidInput` where files do not fit together
/// and `kUnsupported` where the engine does not read one.
OpenedParquet open_parquet(DuckDbConnection& connection, const Holder& holder);

}  // namespace gauze::internal
