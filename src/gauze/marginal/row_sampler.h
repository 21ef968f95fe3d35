#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gauze/marginal/coded_rows.h"
#include "gauze/marginal/graphical_model.h"
#include "gauze/random/bit_source.h"

namespace gauze {

/// So many rows in cells in proportion to their weights: each cell gets what is due to it, rounded down or
/// up, and on average exactly that. Where all weights are 0, all are alike. Weights are >= 0.
std::vector<std::uint64_t> rounded_shares(std::span<const double> weights, std::uint64_t rows,
                                          BitSource& bits);

/// Deals out the columns of a table that are not in `given`, which the rows have already: among the rows that
/// are alike in those, shuffled, in shares of the table's cells, which are >= 0.
void deal(const Factor& table, const Clique& given, CodedRows& rows, BitSource& bits);

/// Rows whose tables are those of a model, as closely as whole rows can be, in random order.
///
/// The columns of the tree's first node are dealt out as a whole; those of each further node for every
/// group of rows that are alike in what it shares with its parent, shuffled inside the group.
///
/// Accuracy   in each node's table no cell is more than a row off for each group, whatever their number.
/// Time       O(rows columns + cells of the tree).
/// Argument   row_sampler.md
CodedRows sampled_rows(const GraphicalModel& model, std::uint64_t rows, BitSource& bits);

}  // namespace gauze
