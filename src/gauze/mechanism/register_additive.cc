#include "gauze/base/error.h"
#include "gauze/mechanism/discrete_gaussian.h"
#include "gauze/mechanism/discrete_laplace.h"
#include "gauze/mechanism/gaussian.h"
#include "gauze/mechanism/laplace.h"
#include "gauze/mechanism/radial_laplace.h"
#include "gauze/mechanism/register_internal.h"
#include "gauze/registry/common_options.h"
#include "gauze/registry/entries.h"
#include "gauze/registry/neighbours.h"

// Noise added to a vector of answers.
namespace gauze::internal {
namespace {

using Type = OptionSpec::Type;

const char* const kAnswers =
    "a vector of answers that were computed from the data, one number per line; its length is "
    "public";
const char* const kWholeAnswers =
    "a vector of whole answers that were computed from the data, one per line; its length is "
    "public";

OptionSpec l1_option() {
  return {"l1_sensitivity", Type::kNumber,
          "how far one person can move the vector, summed over its coordinates, above 0", ""};
}
OptionSpec l2_option() {
  return {"l2_sensitivity", Type::kNumber,
          "how far one person can move the vector, in Euclidean distance, above 0", ""};
}
OptionSpec scale_option() {
  return {"scale", Type::kNumber, "scale of the noise, above 0: epsilon is l1_sensitivity / scale",
          ""};
}
OptionSpec sigma_option() {
  return {"sigma", Type::kNumber,
          "standard deviation of the noise, above 0; `gauze calibrate` finds it for an epsilon and "
          "a delta",
          ""};
}
OptionSpec dimension_option(const char* description, const char* fallback) {
  return {"dimension", Type::kWhole, description, fallback};
}

std::vector<double> reals(const Rows& rows) {
  return rows.vector();
}
std::vector<std::int64_t> wholes(const Rows& rows) {
  return rows.integer_vector();
}

Algorithm laplace() {
  return on_rows(
      {.name = "laplace",
       .summary = "Laplace noise on real numbers",
       .input = kAnswers,
       .guarantee = "Pure differential privacy with epsilon = l1_sensitivity / scale, exactly: "
                    "noise is drawn exactly on a public lattice, and what the rounding adds to "
                    "the sensitivity is added to the noise.",
       .accuracy = "Each value is within scale * ln(1/beta) with probability 1 - beta.",
       .cost = "Time and memory proportional to the number of values.",
       .source = "Dwork, McSherry, Nissim and Smith, Calibrating Noise to Sensitivity in Private "
                 "Data Analysis (2006).",
       .document = "src/gauze/mechanism/laplace.md",
       .example = "echo 42.5 | gauze release laplace --l1-sensitivity 1 --scale 2 -",
       .options = {l1_option(), scale_option(),
                   dimension_option("how many values the vector has, 1 or more", "1"),
                   relation_option("add_remove")},
       .neighbours =
           [](const OptionValues& values) {
             return moved_vectors(values, "l1_sensitivity", values.whole("dimension"));
           }},
      [](const OptionValues& values) {
        return task_of(Laplace({.l1_sensitivity = values.number("l1_sensitivity"),
                                .scale = values.number("scale"),
                                .dimension = values.whole("dimension"),
                                .relation = values.relation()}),
                       reals);
      });
}

Algorithm discrete_laplace() {
  return on_rows(
      {.name = "discrete_laplace",
       .summary = "Two-sided geometric noise on integers",
       .input = kWholeAnswers,
       .guarantee = "Pure differential privacy with epsilon = l1_sensitivity / scale.",
       .accuracy = "Each value is within about scale * ln(1/beta), a whole number, with "
                   "probability 1 - beta.",
       .cost = "Time and memory proportional to the number of values.",
       .source = "Ghosh, Roughgarden and Sundararajan, Universally Utility-Maximizing Privacy "
                 "Mechanisms (2009); exact sampling after Canonne, Kamath and Steinke (2020).",
       .document = "src/gauze/mechanism/discrete_laplace.md",
       .example = "echo 42 | gauze release discrete_laplace --l1-sensitivity 1 --scale 2 -",
       .options = {{"l1_sensitivity", Type::kWhole,
                    "how far one person can move the vector, summed over its coordinates, a "
                    "whole number from 1",
                    ""},
                   scale_option(),
                   relation_option("add_remove")},
       .neighbours =
           [](const OptionValues& values) {
             return moved_vectors(values, "l1_sensitivity", 1, /*whole=*/true);
           }},
      [](const OptionValues& values) {
        return task_of(DiscreteLaplace({.l1_sensitivity = values.whole("l1_sensitivity"),
                                        .scale = values.number("scale"),
                                        .relation = values.relation()}),
                       wholes);
      });
}

Algorithm gaussian() {
  return on_rows(
      {.name = "gaussian",
       .summary = "Gaussian noise on real numbers",
       .input = kAnswers,
       .guarantee = "Zero-concentrated differential privacy with rho = l2_sensitivity^2 / (2 "
                    "sigma^2), exactly: noise is drawn exactly on a public lattice, and what the "
                    "rounding adds to the sensitivity is added to the noise. There is no pure "
                    "guarantee.",
       .accuracy = "Each value is within sigma * sqrt(2 ln(2/beta)) with probability 1 - beta.",
       .cost = "Time and memory proportional to the number of values.",
       .source = "Dwork, Kenthapadi, McSherry, Mironov and Naor, Our Data, Ourselves (2006); "
                 "Bun and Steinke (2016) for the concentrated guarantee.",
       .document = "src/gauze/mechanism/gaussian.md",
       .example = "echo 42.5 | gauze release gaussian --l2-sensitivity 1 --sigma 4 -",
       .options = {l2_option(), sigma_option(),
                   dimension_option("how many values the vector has, 1 or more", "1"),
                   relation_option("add_remove")},
       .neighbours =
           [](const OptionValues& values) {
             return moved_vectors(values, "l2_sensitivity", values.whole("dimension"));
           }},
      [](const OptionValues& values) {
        return task_of(Gaussian({.l2_sensitivity = values.number("l2_sensitivity"),
                                 .sigma = values.number("sigma"),
                                 .dimension = values.whole("dimension"),
                                 .relation = values.relation()}),
                       reals);
      });
}

Algorithm discrete_gaussian() {
  return on_rows(
      {.name = "discrete_gaussian",
       .summary = "Discrete Gaussian noise on integers",
       .input = kWholeAnswers,
       .guarantee = "Zero-concentrated differential privacy with rho = l2_sensitivity^2 / (2 "
                    "sigma^2); no pure guarantee.",
       .accuracy = "Each value is within about sigma * sqrt(2 ln(2/beta)), a whole number, with "
                   "probability 1 - beta.",
       .cost = "Time and memory proportional to the number of values.",
       .source = "Canonne, Kamath and Steinke, The Discrete Gaussian for Differential Privacy "
                 "(2020).",
       .document = "src/gauze/mechanism/discrete_gaussian.md",
       .example = "echo 42 | gauze release discrete_gaussian --l2-sensitivity 1 --sigma 4 -",
       .options = {l2_option(), sigma_option(),
                   dimension_option("length of the vector, 0 for any; 1 is priced a little "
                                    "tighter",
                                    "0"),
                   relation_option("add_remove")},
       .neighbours =
           [](const OptionValues& values) {
             return moved_vectors(values, "l2_sensitivity", values.whole("dimension"),
                                  /*whole=*/true);
           }},
      [](const OptionValues& values) {
        return task_of(DiscreteGaussian({.l2_sensitivity = values.number("l2_sensitivity"),
                                         .sigma = values.number("sigma"),
                                         .dimension = values.whole("dimension"),
                                         .relation = values.relation()}),
                       wholes);
      });
}

Algorithm radial_laplace() {
  return on_rows(
      {.name = "radial_laplace",
       .summary = "Noise on a real vector, pure privacy from Euclidean sensitivity",
       .input = kAnswers,
       .guarantee = "Pure differential privacy with epsilon = l2_sensitivity / scale, exactly, on "
                    "a public lattice.",
       .accuracy = "The Euclidean norm of the error is about dimension * scale.",
       .cost = "Time proportional to the dimension, in expectation.",
       .source = "Chaudhuri, Monteleoni and Sarwate (2011) for the density e^(-|z|/scale); its "
                 "lattice form is argued on the page.",
       .document = "src/gauze/mechanism/radial_laplace.md",
       .example =
           "seq 2 | gauze release radial_laplace --l2-sensitivity 1 --scale 2 --dimension 2 -",
       .options = {l2_option(),
                   {"scale", Type::kNumber,
                    "scale of the noise, above 0: epsilon is l2_sensitivity / scale", ""},
                   dimension_option("how many values the vector has, 1 or more", ""),
                   relation_option("add_remove")},
       .neighbours =
           [](const OptionValues& values) {
             return moved_vectors(values, "l2_sensitivity", values.whole("dimension"));
           }},
      [](const OptionValues& values) {
        const std::uint64_t dimension = values.whole("dimension");
        require(dimension <= UINT32_MAX, "dimension: must be from 1 to 2^32 - 1");
        return task_of(RadialLaplace({.l2_sensitivity = values.number("l2_sensitivity"),
                                      .scale = values.number("scale"),
                                      .dimension = static_cast<std::uint32_t>(dimension),
                                      .relation = values.relation()}),
                       reals);
      });
}

}  // namespace

std::vector<Algorithm> additive_algorithms() {
  return {laplace(), discrete_laplace(), gaussian(), discrete_gaussian(), radial_laplace()};
}

}  // namespace gauze::internal
