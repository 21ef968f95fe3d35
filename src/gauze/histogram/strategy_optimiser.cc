#include "gauze/histogram/strategy_optimiser.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <future>
#include <limits>

#include "gauze/base/error.h"
#include "gauze/histogram/lbfgs_internal.h"
#include "gauze/histogram/strategy_axis_internal.h"

namespace gauze {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using internal::Minimum;

constexpr int kIterations = 300;
constexpr double kTolerance = 1e-4;
constexpr Eigen::Index kMostRows = 128;  // beyond the few that matter, time grows with their square
/// Of a sum beside a cell. Where cells by themselves are worth nothing beside sums, sums would grow without end, and the error
/// become a difference of numbers so large that nothing is left of it.
constexpr double kMostWeight = 1e3;

/// A sum of Gram matrices of one axis.
struct Gram {
  std::vector<std::pair<double, const AxisWorkload*>> parts;

  Eigen::Index cells() const { return parts.front().second->cells(); }
  MatrixXd times(const MatrixXd& columns) const {
    MatrixXd result = MatrixXd::Zero(columns.rows(), columns.cols());
    for (const auto& [factor, workload] : parts) {
      for (Eigen::Index k = 0; k < columns.cols(); ++k) {
        const auto product = workload->gram_times(
            std::span(columns.col(k).data(), static_cast<std::size_t>(columns.rows())));
        result.col(k) += factor * Eigen::Map<const VectorXd>(product.data(), columns.rows());
      }
    }
    return result;
  }
  VectorXd diagonal() const {
    VectorXd result = VectorXd::Zero(cells());
    for (const auto& [factor, workload] : parts) {
      const auto diagonal = workload->gram_diagonal();
      result += factor * Eigen::Map<const VectorXd>(diagonal.data(), result.size());
    }
    return result;
  }
};

/// p-identity strategies A = [I; Theta] D, where D makes the columns' norms 1, and
/// f(Theta) = tr((A'A)^-1 G) with its gradient: O(cells p^2). All matrices here are transposed: cells x p.
class PIdentity {
 public:
  PIdentity(const Gram& gram, NoiseNorm noise)
      : gram_(gram), noise_(noise), diagonal_(gram.diagonal()) {}

  /// Weights must not be negative under Laplace noise: there they are squares of what is varied.
  MatrixXd theta(const VectorXd& x) const {
    const Eigen::Map<const MatrixXd> varied(x.data(), diagonal_.size(),
                                            x.size() / diagonal_.size());
    const MatrixXd weights =
        noise_ == NoiseNorm::kLaplace ? MatrixXd(varied.cwiseAbs2()) : MatrixXd(varied);
    return weights.cwiseMin(kMostWeight).cwiseMax(-kMostWeight);
  }
  VectorXd norms(const MatrixXd& theta) const {
    if (noise_ == NoiseNorm::kLaplace) return theta.rowwise().sum().array() + 1;
    return (theta.rowwise().squaredNorm().array() + 1).sqrt();
  }

  // With C = D^-1, B = G C T, M = (I + T'T)^-1 and F = T'C B: f = tr(C^2 G) - tr(M F); the derivative by
  // theta is -2 (C B M - T M F M), and what C contributes, 2 (g c - diag(B M T')).
  double operator()(const VectorXd& x, VectorXd& gradient) const {
    const MatrixXd t = theta(x);
    const VectorXd c = norms(t);
    const Eigen::Index p = t.cols();
    const MatrixXd scaled = c.asDiagonal() * t;
    const MatrixXd b = gram_.times(scaled);
    MatrixXd inner = MatrixXd::Identity(p, p);
    inner.selfadjointView<Eigen::Lower>().rankUpdate(t.transpose());
    const MatrixXd m = inner.selfadjointView<Eigen::Lower>().llt().solve(MatrixXd::Identity(p, p));
    const MatrixXd f = scaled.transpose() * b;
    const MatrixXd bm = b * m;
    MatrixXd slope = -2 * (c.asDiagonal() * bm);
    slope.noalias() += t * (2 * (m * f * m));
    const VectorXd of_norm = 2 * (diagonal_.cwiseProduct(c) - bm.cwiseProduct(t).rowwise().sum());
    if (noise_ == NoiseNorm::kLaplace) {
      slope.colwise() += of_norm;
      slope.array() *= 2 * Eigen::Map<const MatrixXd>(x.data(), t.rows(), p).array();
    } else {
      slope += of_norm.cwiseQuotient(c).asDiagonal() * t;
    }
    slope = (t.array().abs() < kMostWeight).select(slope, 0);
    gradient = Eigen::Map<const VectorXd>(slope.data(), slope.size());
    return diagonal_.dot(c.cwiseAbs2()) - m.cwiseProduct(f).sum();
  }

  Strategy::Axis axis(const VectorXd& x) const {
    const MatrixXd t = theta(x);
    const VectorXd inverse = norms(t).cwiseInverse();
    const internal::RowMajor rows = (inverse.asDiagonal() * t).transpose();
    return {{inverse.data(), inverse.data() + inverse.size()},
            {static_cast<std::size_t>(rows.rows()),
             static_cast<std::size_t>(rows.cols()),
             {rows.data(), rows.data() + rows.size()}}};
  }

 private:
  const Gram& gram_;
  NoiseNorm noise_;
  VectorXd diagonal_;
};

/// Numbers in [0, 1) that look random and are always the same: the fractions of k (k + 1) / 2 times the
/// golden ratio.
MatrixXd scattered(Eigen::Index rows, Eigen::Index columns) {
  MatrixXd result(rows, columns);
  for (Eigen::Index i = 0; i < result.size(); ++i) {
    const auto k = static_cast<long double>(i + 1);
    const long double number = k * (k + 1) / 2 * 0.618033988749894848L;
    result.data()[i] = static_cast<double>(number - std::floor(number));
  }
  return result;
}

/// Blocks of these sizes side by side, a column each, and a little of everything, so that all can grow.
MatrixXd blocks(Eigen::Index cells, std::span<const double> sizes) {
  std::vector<std::pair<Eigen::Index, Eigen::Index>> spans;
  for (const double size : sizes) {
    const auto number = static_cast<Eigen::Index>(std::ceil(static_cast<double>(cells) / size));
    for (Eigen::Index i = 0; i < number; ++i)
      spans.emplace_back(i * cells / number, (i + 1) * cells / number);
  }
  MatrixXd result = 0.07 * scattered(cells, static_cast<Eigen::Index>(spans.size()));
  for (std::size_t k = 0; k < spans.size(); ++k)
    result.col(static_cast<Eigen::Index>(k))
        .segment(spans[k].first, spans[k].second - spans[k].first)
        .array() += 0.7;
  return result;
}

/// A column for each question, where there are few.
MatrixXd questions(const Gram& gram) {
  std::vector<double> columns;
  for (const auto& part : gram.parts) {
    const DenseMatrix rows = part.second->questions(static_cast<std::size_t>(kMostRows) / 2);
    double largest = 1e-300;
    for (const double weight : rows.values) largest = std::max(largest, std::abs(weight));
    for (const double weight : rows.values)
      columns.push_back(std::sqrt(3 * std::abs(weight) / largest));
  }
  const Eigen::Index p = static_cast<Eigen::Index>(columns.size()) / gram.cells();
  return Eigen::Map<const MatrixXd>(columns.data(), gram.cells(), p);
}

/// Hierarchies of one and of two levels of blocks above the cells, and scattered weights; those are left out
/// for many cells in which intervals are asked, where blocks have always been better.
std::vector<MatrixXd> laplace_starts(const Gram& gram) {
  const Eigen::Index cells = gram.cells();
  const auto n = static_cast<double>(cells);
  const double least = n / static_cast<double>(kMostRows - 16);
  std::vector<MatrixXd> starts;
  starts.push_back(
      blocks(cells, std::vector<double>{std::max(std::pow(n, 0.4), least), std::pow(n, 0.8)}));
  starts.push_back(blocks(cells, std::vector<double>{std::max(std::sqrt(n), least)}));
  const bool intervals = std::all_of(gram.parts.begin(), gram.parts.end(), [](const auto& part) {
    return part.second->kind() != AxisWorkload::Kind::kMatrix;
  });
  const Eigen::Index p = std::clamp<Eigen::Index>(cells / 16, 1, 32);
  if (cells <= 256 || !intervals)
    starts.push_back(scattered(cells, p) * std::sqrt(3.0 / static_cast<double>(p)));
  if (MatrixXd few = questions(gram); few.cols() > 0 && few.cols() <= kMostRows)
    starts.push_back(few + 0.07 * scattered(cells, few.cols()));
  return starts;
}

/// Without the rule that columns have equal norms, the best A'A has the eigenvectors of G and the roots of
/// its eigenvalues: the largest of them, found by subspace iteration.
MatrixXd gaussian_start(const Gram& gram) {
  const Eigen::Index n = gram.cells();
  const Eigen::Index p = std::clamp<Eigen::Index>(n / 2, 1, kMostRows);
  MatrixXd space = scattered(n, p).array() - 0.5;
  for (int i = 0; i < 4; ++i) {
    const Eigen::HouseholderQR<MatrixXd> factors(gram.times(space));
    space = factors.householderQ() * MatrixXd::Identity(n, p);
  }
  const Eigen::SelfAdjointEigenSolver<MatrixXd> small(space.transpose() * gram.times(space));
  const VectorXd roots = small.eigenvalues().cwiseMax(0).cwiseSqrt();
  const double floor = std::max(roots.minCoeff(), 1e-3 * roots.maxCoeff());
  const VectorXd sizes = ((roots / floor).array() - 1).max(0.0) + 1e-3;
  return space * small.eigenvectors() * sizes.cwiseSqrt().asDiagonal();
}

Strategy::Axis optimised_axis(const Gram& gram, NoiseNorm noise) {
  if (gram.cells() == 1) return {{1.0}, {}};
  const PIdentity objective(gram, noise);
  const auto descend = [&](const MatrixXd& start) {
    return internal::minimise(std::cref(objective),
                              Eigen::Map<const VectorXd>(start.data(), start.size()), kIterations,
                              kTolerance);
  };
  if (noise == NoiseNorm::kGaussian) return objective.axis(descend(gaussian_start(gram)).x);
  std::vector<std::future<Minimum>> runs;
  for (MatrixXd& start : laplace_starts(gram))
    runs.push_back(std::async(std::launch::async, descend, std::move(start)));
  Minimum best;
  best.value = std::numeric_limits<double>::infinity();
  for (auto& run : runs)
    if (Minimum one = run.get(); one.value < best.value) best = std::move(one);
  return objective.axis(best.x);
}

/// One axis after the other, with the others as they are: their traces weigh the products of the workload.
Strategy optimised_product(const Workload& workload, NoiseNorm noise) {
  const auto& products = workload.products();
  const std::size_t axes = products.front().axes.size();
  std::vector<Strategy::Axis> chosen(axes);
  std::vector<std::vector<double>> traces(products.size(), std::vector<double>(axes));
  for (std::size_t i = 0; i < products.size(); ++i)
    for (std::size_t axis = 0; axis < axes; ++axis) {
      const auto diagonal = products[i].axes[axis].gram_diagonal();
      for (const double entry : diagonal) traces[i][axis] += entry;
    }
  const int rounds = products.size() == 1 || axes == 1 ? 1 : 3;
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t axis = 0; axis < axes; ++axis) {
      Gram gram;
      for (std::size_t i = 0; i < products.size(); ++i) {
        double factor = products[i].weight * products[i].weight;
        for (std::size_t other = 0; other < axes; ++other)
          if (other != axis) factor *= traces[i][other];
        gram.parts.emplace_back(factor, &products[i].axes[axis]);
      }
      chosen[axis] = optimised_axis(gram, noise);
      const Strategy alone = Strategy::product({chosen[axis]});
      for (std::size_t i = 0; i < products.size(); ++i)
        traces[i][axis] =
            expected_variance(alone, Workload({{1, {products[i].axes[axis]}}}), noise);
    }
  }
  return Strategy::product(std::move(chosen));
}

/// Weights of tables: norm^2 times the sum over sets of spectrum / eigenvalue, where the eigenvalue of a set
/// is the sum of weight^2 (cells summed out) over the tables that contain it.
Strategy optimised_marginals(const Workload& workload, NoiseNorm noise) {
  const Shape shape = workload.shape();
  const Eigen::Index sets = Eigen::Index{1} << shape.axes();
  VectorXd spectrum = VectorXd::Zero(sets);
  for (const Workload::Product& product : workload.products()) {
    const auto part = internal::spectrum(product);
    spectrum += Eigen::Map<const VectorXd>(part.data(), sets);
  }
  spectrum = (spectrum.array() > 1e-9 * spectrum.sum()).select(spectrum, 0);
  VectorXd outside = VectorXd::Ones(sets);
  for (Eigen::Index set = 0; set < sets; ++set)
    for (std::size_t axis = 0; axis < shape.axes(); ++axis)
      if (!(set >> axis & 1)) outside[set] *= shape.extents[axis];
  const bool squares = noise == NoiseNorm::kLaplace;  // as above: keeps weights from being negative
  const auto objective = [&](const VectorXd& x, VectorXd& gradient) {
    const VectorXd weights = squares ? VectorXd(x.cwiseAbs2()) : x;
    const double norm = squares ? weights.sum() : weights.norm();
    double error = 0;
    VectorXd slope = VectorXd::Zero(sets);
    for (Eigen::Index set = 0; set < sets; ++set) {
      if (spectrum[set] == 0) continue;
      double eigenvalue = 0;
      for (Eigen::Index table = set; table < sets; table = (table + 1) | set)
        eigenvalue += weights[table] * weights[table] * outside[table];
      error += spectrum[set] / eigenvalue;
      for (Eigen::Index table = set; table < sets; table = (table + 1) | set)
        slope[table] -=
            spectrum[set] / (eigenvalue * eigenvalue) * 2 * weights[table] * outside[table];
    }
    slope *= norm * norm;
    if (squares) {
      slope.array() += 2 * norm * error;
      slope.array() *= 2 * x.array();
    } else {
      slope += 2 * error * weights;
    }
    gradient = slope;
    return norm * norm * error;
  };
  // Not convex under Laplace noise: once from tables of each number of axes.
  Minimum best;
  best.value = std::numeric_limits<double>::infinity();
  for (std::size_t way = 0; way <= shape.axes(); ++way) {
    VectorXd start(sets);
    for (Eigen::Index set = 0; set < sets; ++set)
      start[set] =
          std::popcount(static_cast<std::uint64_t>(set)) == static_cast<int>(way) ? 1 : 0.2;
    if (Minimum one = internal::minimise(objective, start, 10 * kIterations, 1e-7);
        one.value < best.value)
      best = std::move(one);
  }
  const VectorXd& x = best.x;
  const VectorXd weights = squares ? VectorXd(x.cwiseAbs2()) : VectorXd(x.cwiseAbs());
  return Strategy::marginals(shape, {weights.data(), weights.data() + sets});
}

}  // namespace

double expected_variance(const Strategy& strategy, const Workload& workload, NoiseNorm noise) {
  const bool laplace = noise == NoiseNorm::kLaplace;
  const auto norm = (laplace ? strategy.l1_norm() : strategy.l2_norm()).convert_to<double>();
  return strategy.total_variance(workload) * norm * norm * (laplace ? 2 : 1);
}

Strategy optimised_strategy(const Workload& workload, NoiseNorm noise) {
  Strategy best = Strategy::identity(workload.shape());
  double least = expected_variance(best, workload, noise);
  const auto consider = [&](Strategy candidate) {
    const double variance = expected_variance(candidate, workload, noise);
    if (!(variance < least)) return;
    least = variance;
    best = std::move(candidate);
  };
  consider(optimised_product(workload, noise));
  if (workload.shape().axes() > 1) consider(optimised_marginals(workload, noise));
  return best;
}

}  // namespace gauze
