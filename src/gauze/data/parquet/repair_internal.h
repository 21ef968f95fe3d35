#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gauze/data/temporary_file_internal.h"
#include "gauze/data/view_column_internal.h"

namespace gauze::internal {

/// A table of Parquet that is read from copies of its files.
struct RepairedParquet {
  std::vector<TablePart> parts;  ///< with the same columns
  std::vector<std::unique_ptr<TemporaryFile>> copies;
};

/// Where copies of files are made.
struct CopyPlace {
  std::string folder;
  /// The path by which the engine opens the copy of a file.
  std::function<std::string(const std::string& file, const TemporaryFile& copy)> path;
};

/// Copies the files of a table, which has these columns, so that no value in them makes a SELECT
/// fail (docs/adr/0002-parquet-repair.md says what will replace this). `error` is what the engine
/// said of a SELECT that failed; "" before a row is read. Nothing where copies do not prevent that
/// error, or where a file cannot be read. Throws `kIo` when the disk is full or when cancelled.
std::optional<RepairedParquet> repair_parquet(std::string_view error, const Holder& holder,
                                              const std::vector<ViewColumn>& columns,
                                              DuckDbConnection& connection, const CopyPlace& place,
                                              const std::atomic<bool>& cancelled);

}  // namespace gauze::internal
