// Times the reading of single columns of Parquet: scan_bench FILE REPEATS COLUMN:TYPE ... prints one line for each, with
// nanoseconds of processor time per row, the least of the runs: Gauze's own scan on one thread, and the engine's min() of
// the column. TYPE is integer, double or text.

#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string>

#include "gauze/data/source.h"

namespace gauze {
namespace {

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

std::uint64_t read_all(Stream& stream) {
  std::uint64_t rows = 0;
  for (Batch batch; stream.next(batch);) rows += batch.rows;
  return rows;
}

/// The least of some runs.
template <class Run>
double least_seconds(int repeats, Run run) {
  double least = HUGE_VAL;
  for (; repeats > 0; --repeats) {
    const double start = processor_seconds();
    run();
    least = std::min(least, processor_seconds() - start);
  }
  return least;
}

void time_column(Source& source, const ColumnInfo& column, int repeats) {
  std::uint64_t rows = 0;
  const double own = least_seconds(repeats, [&] {
    rows = 0;
    for (const auto& stream : source.scan("t", {&column, 1}, 1)) rows += read_all(*stream);
  });
  const double engine = least_seconds(repeats, [&] {
    const std::string name = source.dialect().identifier(column.name);
    read_all(*source.execute("SELECT CAST(min(" + name + ") AS VARCHAR) FROM t"));
  });
  const auto per_row = [&](double seconds) { return seconds * 1e9 / static_cast<double>(rows); };
  std::cout << column.name << ": ";
  if (rows == 0) {
    std::cout << "not scanned\n";
  } else {
    std::cout << per_row(own) << " ns, engine " << per_row(engine) << " ns\n";
  }
}

}  // namespace
}  // namespace gauze

int main(int argc, char** argv) {
  using gauze::Type;
  if (argc < 4) {
    std::cerr << "scan_bench FILE REPEATS COLUMN:TYPE ...\n";
    return 64;
  }
  try {
    const auto source =
        gauze::open_files({{"t", argv[1]}}, {.threads = 1, .memory = 0, .temp_directory = ""});
    for (int i = 3; i < argc; ++i) {
      const std::string word = argv[i];
      const auto colon = word.rfind(':');
      const std::string type = colon == std::string::npos ? "" : word.substr(colon + 1);
      gauze::time_column(*source,
                         {word.substr(0, colon), type == "text"     ? Type::kText
                                                 : type == "double" ? Type::kDouble
                                                                    : Type::kInteger},
                         std::atoi(argv[2]));
    }
  } catch (const gauze::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
