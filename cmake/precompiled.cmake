# Headers that nearly every file includes, compiled once: it halves the time of a first build. Sources include what
# they use all the same; builds with a compiler cache do not precompile, and see to it.
if(CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()
set(gauze_headers <algorithm> <boost/multiprecision/gmp.hpp> <cmath> <cstdint> <functional> <map> <memory>
    <nlohmann/json.hpp> <optional> <span> <string> <variant> <vector>)
set(gauze_precompiled_libraries Boost::headers PkgConfig::MPFR PkgConfig::GMP nlohmann_json::nlohmann_json)
file(WRITE ${PROJECT_BINARY_DIR}/precompiled.cc "")

add_library(gauze_precompiled OBJECT ${PROJECT_BINARY_DIR}/precompiled.cc)
target_link_libraries(gauze_precompiled PRIVATE ${gauze_precompiled_libraries})
target_precompile_headers(gauze_precompiled PRIVATE ${gauze_headers})

# What tests do themselves takes no time, so that they need not be optimised much.
if(GAUZE_TESTS)
  set(gauze_test_options $<$<CONFIG:Release>:-O1>)
  add_library(gauze_precompiled_tests OBJECT ${PROJECT_BINARY_DIR}/precompiled.cc)
  target_link_libraries(gauze_precompiled_tests PRIVATE ${gauze_precompiled_libraries} GTest::gmock)
  target_precompile_headers(gauze_precompiled_tests PRIVATE ${gauze_headers} <gmock/gmock.h> <gtest/gtest.h>)
  # Position-independent as programs are, not as libraries.
  set_target_properties(gauze_precompiled_tests PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(gauze_precompiled_tests PRIVATE ${gauze_test_options} -fPIE)
endif()

# gauze_test_program(name source...): one with what all tests need.
function(gauze_test_program name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE gauze::testing GTest::gmock GTest::gtest_main)
  target_compile_options(${name} PRIVATE ${gauze_test_options})
  target_precompile_headers(${name} REUSE_FROM gauze_precompiled_tests)
endfunction()
