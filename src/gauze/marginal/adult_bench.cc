#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "gauze/marginal/aim.h"
#include "gauze/marginal/mst.h"
#include "gauze/random/system_bits.h"
#include "gauze/random/uniform.h"

// Half the mean L1 distance of all tables of three columns, and seconds, of rows that are made up from a file
// of codes with a header: adult_bench FILE 85,9,100,... [releases] [epsilon] [MiB of AIM's model].
namespace gauze {
namespace {

CodedRows read(const char* path, const char* cells) {
  CodedRows rows;
  std::stringstream extents(cells);
  for (std::string part; std::getline(extents, part, ',');)
    rows.domain.extents.push_back(static_cast<std::uint32_t>(std::stoul(part)));
  rows.columns.resize(rows.domain.axes());
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::stringstream codes(line);
    std::string part;
    for (auto& column : rows.columns) {
      std::getline(codes, part, ',');
      column.push_back(static_cast<std::uint32_t>(std::stoul(part)));
    }
  }
  return rows;
}

double distance(const CodedRows& a, const CodedRows& b, const Clique& clique) {
  const auto x = a.counts(clique), y = b.counts(clique);
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    sum += std::fabs(static_cast<double>(x[i]) / static_cast<double>(a.rows()) -
                     static_cast<double>(y[i]) / static_cast<double>(b.rows()));
  return sum / 2;
}

double error(const CodedRows& a, const CodedRows& b) {
  double sum = 0, tables = 0;
  const auto columns = static_cast<std::uint32_t>(a.domain.axes());
  for (std::uint32_t i = 0; i < columns; ++i)
    for (std::uint32_t j = i + 1; j < columns; ++j)
      for (std::uint32_t k = j + 1; k < columns; ++k) sum += distance(a, b, {i, j, k}), tables += 1;
  return sum / tables;
}

template <class Method>
void report(const char* name, const Method& method, const CodedRows& rows, int releases) {
  SystemBits bits;
  double sum = 0;
  std::size_t tables = 0;
  std::uint64_t cells = 0;
  double seconds = 0;
  for (int i = 0; i < releases; ++i) {
    const auto from = std::chrono::steady_clock::now();
    Meter meter(method.event());
    Context context{meter, bits};
    const SyntheticRows made = method.run(rows, context).value;
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count();
    sum += error(rows, made.rows);
    tables += made.measured.size();
    cells = std::max(cells, made.cells);
  }
  std::printf("%-12s error %.4f  seconds %.2f  tables %.1f  cells %llu\n", name, sum / releases,
              seconds / releases, static_cast<double>(tables) / releases,
              static_cast<unsigned long long>(cells));
  std::fflush(stdout);
}

int run(int count, char** words) {
  if (count < 3) {
    std::cerr << "adult_bench FILE CELLS [releases] [epsilon] [MiB]\n";
    return 2;
  }
  const CodedRows rows = read(words[1], words[2]);
  const int releases = count > 3 ? std::stoi(words[3]) : 5;
  const Ratio epsilon = parse_ratio(count > 4 ? words[4] : "1"), delta = parse_ratio("1e-9");
  const std::uint64_t limit = count > 5 ? std::stoull(words[5]) : 1;
  SystemBits bits;
  CodedRows independent = rows;
  for (auto& column : independent.columns) shuffle(bits, std::span(column));
  std::printf("%-12s error %.4f\n", "independent", error(rows, independent));
  report("mst",
         Mst({.domain = rows.domain, .epsilon = epsilon, .delta = delta, .rows_per_unit = 1}), rows,
         releases);
  report("aim",
         Aim({.domain = rows.domain,
              .epsilon = epsilon,
              .delta = delta,
              .rows_per_unit = 1,
              .model_limit = limit}),
         rows, releases);
  return 0;
}

}  // namespace
}  // namespace gauze

int main(int count, char** words) {
  return gauze::run(count, words);
}
