#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gauze/ledger/connection_internal.h"
#include "gauze/ledger/record_internal.h"

namespace gauze::ledger {

/// The statements that make the one table and its indexes.
const std::vector<std::string>& schema();

/// Appends the record: fills in id, time and hashes. Inside a write transaction. Returns it complete.
Record append(Connection& connection, Record record);

/// The records for which `condition` holds, in order; `parameters` are its $1, $2, ...
std::vector<Record> find(Connection& connection, const std::string& condition,
                         const std::vector<std::string>& parameters = {});
/// The last such record.
std::optional<Record> find_last(Connection& connection, const std::string& condition,
                                const std::vector<std::string>& parameters = {});

/// Every record in order, a page at a time. Inside a transaction.
void each_record(Connection& connection, const std::function<void(const Record&)>& visit);

/// The record that set the data set's limit; throws `kUnknownName`.
Record dataset_record(Connection& connection, const std::string& dataset);

}  // namespace gauze::ledger
