#include "gauze/histogram/histogram_job.h"

#include <algorithm>
#include <compare>

#include "gauze/base/error.h"
#include "gauze/base/words.h"
#include "gauze/data/bound.h"
#include "gauze/data/table.h"

namespace gauze {
namespace {

/// Fills in what the schema knows.
HistogramJob::Options completed(HistogramJob::Options options) {
  if (options.table->is_public())
    throw Error(ErrorCode::kInvalidOption,
                "the table '" + options.table->name + "' is public; read it without noise");
  nlohmann::json& given = options.options;
  if (!given.is_object()) given = nlohmann::json::object();
  const std::uint64_t declared = bounds_of(options.table).rows_per_unit;
  if (!given.contains("rows_per_unit")) given["rows_per_unit"] = std::to_string(declared);
  if (!given.contains("cells")) given["cells"] = "0";
  return options;
}

OptionValues values_of(const HistogramJob::Options& options) {
  return {options.method->about.options, options.options};
}

std::vector<Axis> axes_meant(const HistogramJob::Options& options) {
  const OptionValues values = values_of(options);
  const std::vector<std::string>& columns = options.columns;
  require(!columns.empty(), "columns: are missing; say which column to count by");
  const std::vector<std::uint64_t> cells = values.wholes("cells");
  require(cells.size() == 1 || cells.size() == columns.size(),
          "cells: must be one number, or one for each column");
  const std::uint32_t most = options.method->points ? 1u << 16 : 4096;
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const ColumnSchema* column = options.table->find(columns[i]);
    if (column == nullptr)
      throw Error(ErrorCode::kUnknownName, "the table '" + options.table->name +
                                               "' has no column '" + columns[i].substr(0, 100) +
                                               "' in its schema");
    for (std::size_t before = 0; before < i; ++before)
      require(!same_name(columns[before], columns[i]), "columns: name each column once");
    const std::uint64_t wanted = cells.size() == 1 ? cells[0] : cells[i];
    require(wanted <= 1u << 31, "cells: must be at most 2^31");
    // One number for several columns is meant for those that are cut; categories are what they are.
    const bool cut = !column->domain.categories || cells.size() > 1 || columns.size() == 1;
    axes.emplace_back(*column, cut ? static_cast<std::uint32_t>(wanted) : 0,
                      columns.size() == 1 || options.method->points ? most : 64);
  }
  return axes;
}

/// The columns that are read.
std::vector<std::string> columns_of(const HistogramJob::Options& options) {
  std::vector<std::string> read = options.columns;
  const std::string unit = bounds_of(options.table).unit;
  if (!unit.empty() && std::none_of(read.begin(), read.end(), [&](const std::string& column) {
        return same_name(column, unit);
      }))
    read.push_back(unit);
  return read;
}

Shape shape_of(const std::vector<Axis>& axes) {
  Shape shape;
  for (const Axis& axis : axes) shape.extents.push_back(axis.cells());
  return shape;
}

/// Of one unit in one cell; no limit of its own where the method does not know of any.
std::uint64_t rows_per_cell_of(const HistogramJob::Options& options, std::uint64_t rows_per_unit) {
  const auto& known = options.method->about.options;
  const bool limited = std::any_of(known.begin(), known.end(),
                                   [](const auto& each) { return each.name == "rows_per_cell"; });
  const std::uint64_t limit = limited ? values_of(options).whole("rows_per_cell") : 0;
  return limit == 0 ? rows_per_unit : limit;
}

/// A row of a unit, as a point.
struct OwnedPoint {
  std::uint32_t unit;
  std::vector<std::uint32_t> place;
  auto operator<=>(const OwnedPoint&) const = default;
};

/// No more than `most` rows of a unit in a cell. Which of them stay is no question: they are alike.
void thin(std::vector<OwnedPoint>& points, std::uint64_t most) {
  std::sort(points.begin(), points.end());
  std::vector<OwnedPoint> kept;
  std::uint64_t alike = 0;
  for (OwnedPoint& point : points) {
    alike = !kept.empty() && kept.back() == point ? alike + 1 : 1;
    if (alike <= most) kept.push_back(std::move(point));
  }
  points = std::move(kept);
}

}  // namespace

HistogramJob::HistogramJob(Options options)
    : options_(completed(std::move(options))),
      axes_(axes_meant(options_)),
      reads_(columns_of(options_)),
      rows_per_unit_(values_of(options_).whole("rows_per_unit")),
      rows_per_cell_(rows_per_cell_of(options_, rows_per_unit_)),
      method_(options_.method->on(values_of(options_), shape_of(axes_))) {
  const TableBounds bounds = bounds_of(options_.table);
  require(!bounds.unit->empty() || rows_per_unit_ == 1,
          "rows_per_unit: is 1 where every row is another unit");
}

std::vector<Axis> HistogramJob::axes_of(Options options) {
  return axes_meant(completed(std::move(options)));
}

void HistogramJob::expect_columns(Source& source) const {
  gauze::expect_columns(source, options_.table, reads_);
}

Points HistogramJob::read(Source& source, Context& context) const {
  TableBounds bounds = bounds_of(options_.table);
  std::vector<ColumnSchema> columns;
  for (const std::string& column : options_.columns.get())
    columns.push_back(*options_.table->find(column));
  bounds.rows_per_unit = rows_per_unit_;
  bounds.columns = columns;
  const auto progress = [&context](double done) { context.progress(done); };
  const BoundedTable table =
      bound(read_table(source, options_.table, reads_, progress), std::move(bounds), context.bits);
  std::vector<std::vector<std::uint32_t>> cells;
  for (std::size_t axis = 0; axis < axes_.size(); ++axis)
    cells.push_back(axes_[axis].indices(table.rows().columns()[axis]));
  Points points;
  points.coordinates.reserve(table.rows().rows() * axes_.size());
  std::vector<OwnedPoint> owned;
  for (std::size_t row = 0; row < table.rows().rows(); ++row) {
    bool counted = true;
    for (const auto& axis : cells) counted = counted && axis[row] != Axis::kNoCell;
    if (!counted) continue;
    if (rows_per_cell_ < rows_per_unit_) owned.push_back({table.units()[row], {}});
    auto& place = rows_per_cell_ < rows_per_unit_ ? owned.back().place : points.coordinates;
    for (const auto& axis : cells) place.push_back(axis[row]);
  }
  thin(owned, rows_per_cell_);
  for (const OwnedPoint& point : owned)
    points.coordinates.insert(points.coordinates.end(), point.place.begin(), point.place.end());
  return points;
}

Release<ColumnHistogram> HistogramJob::run(Source& source, Context& context) const {
  const Points points = read(source, context);
  context.begins_to_draw();
  auto released = method_.run(points, context);
  return {
      {axes_, std::move(released.value)}, std::move(released.accuracy), std::move(released.spent)};
}

}  // namespace gauze
