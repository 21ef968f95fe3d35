// Times whole private answers: query_bench FILE SQL SCHEMA EPSILON DELTA THREADS REPEATS [PLAIN] prints one line of JSON per
// run: seconds to plan, calibrate and answer, by the clock and of the processors, groups, the first rows of the answer, and the
// same of what the engine takes in turn for the question PLAIN, whose columns are cast to BIGINT, DOUBLE or VARCHAR. The
// first line says how long it took to start the engine and open the file. `memory:FILE` reads the file before, and asks the
// table that it became.

#include <time.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "gauze/base/error.h"
#include "gauze/data/table.h"
#include "gauze/query/sql_query.h"
#include "gauze/random/system_bits.h"

namespace gauze {
namespace {

/// By the clock, and of all processors together.
struct Times {
  double clock;
  double processors;
};

Times now() {
  const auto seconds = [](clockid_t which) {
    timespec time{};
    clock_gettime(which, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  return {seconds(CLOCK_MONOTONIC), seconds(CLOCK_PROCESS_CPUTIME_ID)};
}

void set_since(nlohmann::json& line, const std::string& what, const Times& start) {
  const Times end = now();
  line[what + "seconds"] = end.clock - start.clock;
  line[what + "processor_seconds"] = end.processors - start.processors;
}

nlohmann::json cell_json(const Answer::Cell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell.value)) return *whole;
  if (const auto* real = std::get_if<double>(&cell.value)) return *real;
  return to_text(cell.value);
}

void read_all(Source& source, const std::string& sql) {
  const auto stream = source.execute(sql);
  for (Batch batch; stream->next(batch);) continue;
}

std::unique_ptr<Source> opened(const std::string& where, const TableSchema& table,
                               unsigned threads) {
  constexpr std::string_view kMemory = "memory:";
  const SourceOptions options{.threads = threads, .memory = 0, .temp_directory = ""};
  if (!where.starts_with(kMemory)) return open_files({{table.name, where}}, options);
  const auto file = open_files({{table.name, where.substr(kMemory.size())}}, options);
  return open_tables({{table.name, read_table(*file, table)}}, options);
}

void run(int count, char** arguments) {
  const Schema schema = read_schema(arguments[3]);
  const auto threads = static_cast<unsigned>(std::atoi(arguments[6]));
  Times start = now();
  const auto source = opened(arguments[1], schema.tables.at(0), threads);
  nlohmann::json opened;
  set_since(opened, "open_", start);
  std::cout << opened.dump() << std::endl;
  SystemBits bits;
  for (int i = 0; i < std::atoi(arguments[7]); ++i) {
    nlohmann::json line;
    start = now();
    const SqlQuery query({.plan = plan_query(arguments[2], schema),
                          .epsilon = parse_ratio(arguments[4]),
                          .delta = parse_ratio(arguments[5]),
                          .threads = threads});
    set_since(line, "design_", start);
    Meter meter(query.event());
    Context context{meter, bits};
    const Answer answer = query.run(*source, context).value;
    set_since(line, "", start);
    line["reason"] = query.reason();
    line["groups"] = answer.rows.size();
    if (count > 8) {
      start = now();
      read_all(*source, arguments[8]);
      set_since(line, "plain_", start);
    }
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
