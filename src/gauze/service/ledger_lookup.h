#pragma once

#include <string>
#include <vector>

#include "gauze/data/schema.h"
#include "gauze/ledger/ledger.h"
#include "gauze/service/table_files.h"

// Which schema and which budget count for data when nobody says so. It catches what people forget; whoever can read
// the files can read the rows (docs/threat-model.md).
namespace gauze::service {

/// `people.schema.json` beside `people.csv`, or the only schema in the folder of the data; "" where there is none.
std::string find_schema(const std::vector<std::string>& data);

/// Which budget pays: `hospital.ledger` beside `hospital.schema.json`, or the one that counts the data set beside the
/// schema or the rows. "" where nobody keeps count. Throws `kInvalidOption` where another budget counts these rows, or
/// where several could pay.
std::string find_ledger(const std::string& schema_path, const Schema& schema,
                        const TableTexts& tables);

/// The schema beside tables that speaks of one of them or of its files; "" when none does.
std::string schema_about(const TableTexts& tables);
/// A budget beside tables; "" when there is none.
std::string budget_beside(const TableTexts& tables);

/// SHA-256 of the schema's canonical JSON, in hexadecimal: the same however the file is laid out.
std::string digest(const Schema& schema);
/// What a ledger remembers of a schema, which must name the data set. Throws `kInvalidOption`, and what `read_schema`
/// throws.
CountedSchema counted_schema(const std::string& ledger, const std::string& dataset,
                             const std::string& schema_path);
/// The schema beside a ledger that names the data set; "" where none does. Throws `kInvalidOption` where several do
/// and none has the ledger's name.
std::string schema_beside(const std::string& ledger, const std::string& dataset);

}  // namespace gauze::service
