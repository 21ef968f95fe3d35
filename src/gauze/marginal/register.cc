#include "gauze/marginal/register.h"

#include <memory>
#include <utility>

#include "gauze/base/error.h"
#include "gauze/marginal/aim.h"
#include "gauze/marginal/mst.h"
#include "gauze/marginal/priv_bayes.h"
#include "gauze/marginal/synthetic_task.h"

namespace gauze {
namespace {

const char* const kCodes =
    "a line of codes for each row, from 0 on, with commas and without a header; how many values "
    "each has is public";
const char* const kZcdp =
    "(epsilon, delta), by the largest rho of zero-concentrated differential privacy that implies "
    "it.";

template <class Method>
SynthesisMethod method_of(Method method) {
  const auto shared = std::make_shared<const Method>(std::move(method));
  return {shared->event(), [shared](double confidence) { return shared->accuracy(confidence); },
          [shared](const CodedRows& rows, Context& context) { return shared->run(rows, context); }};
}

/// Nobody and somebody, two and three rows: all alike, one apart, and all values.
audit::LinePairs neighbouring_rows(const OptionValues& values) {
  const std::uint64_t r = values.whole("rows_per_unit");
  require(r <= 1000, "rows_per_unit: must be at most 1000 for an audit");
  std::string first, last;
  for (const std::uint64_t cells : values.wholes("cells")) {
    first.append(first.empty() ? "0" : ",0");
    last.append(last.empty() ? "" : ",").append(std::to_string(cells - 1));
  }
  const auto with = [r](audit::Lines rows, const std::string& more) {
    rows.insert(rows.end(), r, more);
    return rows;
  };
  return {{"nobody and one person", {}, with({}, first)},
          {"two rows and a person like them", {first, first}, with({first, first}, first)},
          {"two rows and a person apart", {first, first}, with({first, first}, last)},
          {"two rows and a person like one", {first, last}, with({first, last}, last)}};
}

Algorithm algorithm_of(SyntheticEntry entry) {
  Algorithm algorithm = entry.about;
  algorithm.input = kCodes;
  algorithm.guarantee = kZcdp;
  algorithm.kind = microdata_kind();
  algorithm.neighbours = neighbouring_rows;
  const auto shared = std::make_shared<const SyntheticEntry>(std::move(entry));
  algorithm.make = [shared](const Asked& asked) { return synthetic_task(shared, asked); };
  return algorithm;
}

SyntheticEntry mst() {
  return {
      .about = {.name = "mst",
                .summary = "Rows like the private ones in each column and in a tree of pairs; fast",
                .guarantee = kZcdp,
                .accuracy = "The number of rows within its noise; tables of pairs of the tree "
                            "within theirs; of other columns nobody knows.",
                .cost = "Time proportional to rows times the square of the columns; memory to the "
                        "tables of the pairs.",
                .source = "McKenna, Miklau and Sheldon (2021).",
                .document = "src/gauze/marginal/mst.md",
                .when =
                    "Many columns, little time, or a first look; what three columns do together "
                    "is lost.",
                .example =
                    "gauze release mst --data adult.csv --epsilon 1 --delta 1e-9 -o rows.csv",
                .options = synthetic_options()},
      .on = [](const OptionValues& values, const Shape& domain) {
        return method_of(Mst({.domain = domain,
                              .epsilon = values.number("epsilon"),
                              .delta = values.number("delta"),
                              .rows_per_unit = values.whole("rows_per_unit"),
                              .rows = values.whole("rows")}));
      }};
}

SyntheticEntry aim() {
  using Kind = OptionSpec::Type;
  return {.about =
              {.name = "aim",
               .summary = "Rows like the private ones in tables of several columns, measured where "
                          "a model is worst",
               .guarantee = kZcdp,
               .accuracy = "The number of rows within its noise; how far tables are off depends on "
                           "the data.",
               .cost = "Up to 16 rounds for each column; each counts every table of up to `way` "
                       "columns and fits the model again. Memory: six times model_limit.",
               .source = "McKenna, Mullins, Sheldon and Miklau (2022).",
               .document = "src/gauze/marginal/aim.md",
               .when = "Tables of three columns matter, and minutes are there; mst where seconds "
                       "count.",
               .example = "gauze release aim --data adult.csv --epsilon 1 --delta 1e-9 -o rows.csv",
               .options = synthetic_options(
                   {{"way", Kind::kWhole,
                     "of how many columns the tables are that shall be right, 1 to 4", "3"},
                    {"model_limit", Kind::kWhole,
                     "MiB that each copy of the model's tables may take, 1 to 4096", "80"}})},
          .on = [](const OptionValues& values, const Shape& domain) {
            return method_of(Aim({.domain = domain,
                                  .epsilon = values.number("epsilon"),
                                  .delta = values.number("delta"),
                                  .rows_per_unit = values.whole("rows_per_unit"),
                                  .rows = values.whole("rows"),
                                  .way = values.whole("way"),
                                  .model_limit = values.whole("model_limit")}));
          }};
}

SyntheticEntry priv_bayes() {
  return {
      .about =
          {.name = "priv_bayes",
           .summary = "Rows like the private ones in each column given up to three others; no "
                      "model is fitted",
           .guarantee = kZcdp,
           .accuracy = "The number of rows within its noise; how far tables are off depends on "
                       "the data.",
           .cost = "Time proportional to rows times candidates, at most 10,000 for each column.",
           .source = "Zhang, Cormode, Procopiuc, Srivastava and Xiao (2017), with a score of "
                     "known sensitivity.",
           .document = "src/gauze/marginal/priv_bayes.md",
           .when = "A time that is known before, and columns that a few others decide; aim is "
                   "more accurate.",
           .example =
               "gauze release priv_bayes --data adult.csv --epsilon 1 --delta 1e-9 -o rows.csv",
           .options = synthetic_options({{"parents", OptionSpec::Type::kWhole,
                                          "at most so many columns decide another, 0 to 3", "3"}})},
      .on = [](const OptionValues& values, const Shape& domain) {
        return method_of(PrivBayes({.domain = domain,
                                    .epsilon = values.number("epsilon"),
                                    .delta = values.number("delta"),
                                    .rows_per_unit = values.whole("rows_per_unit"),
                                    .rows = values.whole("rows"),
                                    .parents = values.whole("parents")}));
      }};
}

}  // namespace

std::vector<Family> marginal_families() {
  return {
      {"Synthetic rows", {algorithm_of(mst()), algorithm_of(aim()), algorithm_of(priv_bayes())}}};
}

}  // namespace gauze
