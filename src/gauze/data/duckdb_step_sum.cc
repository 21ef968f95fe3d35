#include <array>
#include <bit>
#include <cmath>

#include "gauze/data/duckdb_internal.h"
#include "gauze/data/step_sum.h"

// Sums in whole steps as an aggregate of the embedded engine. In its SQL the same takes a
// comparison, an addition and a subtraction of whole columns, and the engine must be kept from
// believing statistics that leave out NaN.

namespace gauze::internal {
namespace {

/// Lies in the engine's memory, at multiples of 8 bytes.
struct State {
  std::uint64_t low;
  std::int64_t high;
  std::int64_t count;

  /// `more` has 64 bits, the sum 128.
  void add(std::int64_t more) {
    const std::uint64_t before = low;
    low += static_cast<std::uint64_t>(more);
    high += (more >> 63) + (low < before ? 1 : 0);
    ++count;
  }
  void add(const State& other) {
    const std::uint64_t before = low;
    low += other.low;
    high += other.high + (low < before ? 1 : 0);
    count += other.count;
  }
};

State& state(duckdb_aggregate_state* states, idx_t i) {
  return *reinterpret_cast<State*>(states[i]);
}

idx_t state_size(duckdb_function_info) {
  return sizeof(State);
}

void initialise(duckdb_function_info, duckdb_aggregate_state state) {
  *reinterpret_cast<State*>(state) = {0, 0, 0};
}

void update(duckdb_function_info info, duckdb_data_chunk input, duckdb_aggregate_state* states) {
  const StepRounding rounding(
      *static_cast<StepSum*>(duckdb_aggregate_function_get_extra_info(info)));
  duckdb_vector vector = duckdb_data_chunk_get_vector(input, 0);
  const auto* values = static_cast<double*>(duckdb_vector_get_data(vector));
  const uint64_t* valid = duckdb_vector_get_validity(vector);
  const idx_t rows = duckdb_data_chunk_get_size(input);
  const auto add = [&](idx_t i, double x) {
    rounding(x, [&](std::int64_t steps) { state(states, i).add(steps); });
  };
  for (idx_t i = 0; i < rows && !valid; ++i) add(i, values[i]);
  for (idx_t i = 0; i < rows && valid; ++i) {
    add(i, valid[i / 64] >> (i % 64) & 1 ? values[i] : std::nan(""));
  }
}

void combine(duckdb_function_info, duckdb_aggregate_state* from, duckdb_aggregate_state* to,
             idx_t count) {
  for (idx_t i = 0; i < count; ++i) state(to, i).add(state(from, i));
}

void finish(duckdb_function_info, duckdb_aggregate_state* states, duckdb_vector result, idx_t count,
            idx_t offset) {
  const auto numbers = [&](idx_t child) {
    duckdb_vector vector = duckdb_struct_vector_get_child(result, child);
    return static_cast<std::int64_t*>(duckdb_vector_get_data(vector)) + offset;
  };
  std::int64_t* high = numbers(0);
  std::int64_t* low = numbers(1);
  std::int64_t* n = numbers(2);
  for (idx_t i = 0; i < count; ++i) {
    high[i] = state(states, i).high;
    low[i] = static_cast<std::int64_t>(state(states, i).low);
    n[i] = state(states, i).count;
  }
}

bool same(const StepSum& a, const StepSum& b) {
  const auto bits = [](const StepSum& s) {
    return std::array{std::bit_cast<std::uint64_t>(s.lower), std::bit_cast<std::uint64_t>(s.upper),
                      std::bit_cast<std::uint64_t>(s.for_null.value_or(std::nan("")))};
  };
  return a.exponent == b.exponent && bits(a) == bits(b);
}

bool make(duckdb_connection connection, const std::string& name, const StepSum& sum) {
  duckdb_logical_type real = duckdb_create_logical_type(DUCKDB_TYPE_DOUBLE);
  std::array<duckdb_logical_type, 3> parts;
  for (duckdb_logical_type& part : parts) part = duckdb_create_logical_type(DUCKDB_TYPE_BIGINT);
  std::array<const char*, 3> names = {"high", "low", "n"};
  duckdb_logical_type result = duckdb_create_struct_type(parts.data(), names.data(), parts.size());
  duckdb_aggregate_function function = duckdb_create_aggregate_function();
  duckdb_aggregate_function_set_name(function, name.c_str());
  duckdb_aggregate_function_add_parameter(function, real);
  duckdb_aggregate_function_set_return_type(function, result);
  duckdb_aggregate_function_set_special_handling(function);  // of nulls: they come here
  duckdb_aggregate_function_set_functions(function, state_size, initialise, update, combine,
                                          finish);
  duckdb_aggregate_function_set_extra_info(function, new StepSum(sum),
                                           [](void* info) { delete static_cast<StepSum*>(info); });
  const bool made = duckdb_register_aggregate_function(connection, function) == DuckDBSuccess;
  duckdb_destroy_aggregate_function(&function);
  duckdb_destroy_logical_type(&result);
  for (duckdb_logical_type& part : parts) duckdb_destroy_logical_type(&part);
  duckdb_destroy_logical_type(&real);
  return made;
}

}  // namespace

std::string DuckDbDatabase::step_sum(const StepSum& sum) {
  const std::lock_guard lock(mutex_);
  const auto name = [](std::size_t i) { return "gauze_step_sum_" + std::to_string(i); };
  for (std::size_t i = 0; i < step_sums_.size(); ++i) {
    if (same(step_sums_[i], sum)) return name(i);
  }
  if (!make(main_->get(), name(step_sums_.size()), sum)) {
    throw Error(ErrorCode::kInternal, "the embedded engine does not take a function");
  }
  step_sums_.push_back(sum);
  return name(step_sums_.size() - 1);
}

}  // namespace gauze::internal
