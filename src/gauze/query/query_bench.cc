// Times whole private answers: query_bench FILE SQL SCHEMA EPSILON DELTA THREADS REPEATS [PLAIN] prints one line of JSON per
// run: seconds to plan and calibrate, seconds to answer, groups, the first rows of the answer, and the seconds that the same
// engine takes in turn for the question PLAIN, whose columns are cast to BIGINT, DOUBLE or VARCHAR.

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "gauze/base/error.h"
#include "gauze/query/sql_query.h"
#include "gauze/random/system_bits.h"

namespace gauze {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

nlohmann::json cell_json(const Answer::Cell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell.value)) return *whole;
  if (const auto* real = std::get_if<double>(&cell.value)) return *real;
  return to_text(cell.value);
}

double plain_seconds(Source& source, const std::string& sql) {
  const auto start = std::chrono::steady_clock::now();
  const auto stream = source.execute(sql);
  for (Batch batch; stream->next(batch);) continue;
  return seconds_since(start);
}

void run(int count, char** arguments) {
  const Schema schema = read_schema(arguments[3]);
  const std::string table = schema.tables.at(0).name;
  const auto threads = static_cast<unsigned>(std::atoi(arguments[6]));
  const auto source =
      open_files({{table, arguments[1]}}, {.threads = threads, .memory = 0, .temp_directory = ""});
  SystemBits bits;
  for (int i = 0; i < std::atoi(arguments[7]); ++i) {
    auto start = std::chrono::steady_clock::now();
    const SqlQuery query({.plan = plan_query(arguments[2], schema),
                          .epsilon = parse_ratio(arguments[4]),
                          .delta = parse_ratio(arguments[5]),
                          .threads = threads});
    nlohmann::json line = {{"design_seconds", seconds_since(start)}, {"reason", query.reason()}};
    start = std::chrono::steady_clock::now();
    Meter meter(query.event());
    Context context{meter, bits};
    const Answer answer = query.run(*source, context).value;
    line["seconds"] = seconds_since(start);
    line["groups"] = answer.rows.size();
    if (count > 8) line["plain_seconds"] = plain_seconds(*source, arguments[8]);
    for (std::size_t r = 0; r < answer.rows.size() && r < 1000; ++r) {
      nlohmann::json row;
      for (const Answer::Cell& cell : answer.rows[r]) row.push_back(cell_json(cell));
      line["rows"].push_back(row);
    }
    std::cout << line.dump() << std::endl;
  }
}

}  // namespace
}  // namespace gauze

int main(int count, char** arguments) {
  if (count != 8 && count != 9) {
    std::cerr << "query_bench FILE SQL SCHEMA EPSILON DELTA THREADS REPEATS [PLAIN]\n";
    return 2;
  }
  try {
    gauze::run(count, arguments);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
