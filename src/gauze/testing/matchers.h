#pragma once

#include <gtest/gtest.h>

#include "gauze/base/error.h"

/// The statement throws a gauze::Error with this code. Codes are asserted, wording is not.
#define EXPECT_ERROR(statement, expected)                                        \
  do {                                                                           \
    try {                                                                        \
      (void)(statement);                                                         \
      ADD_FAILURE() << #statement " did not throw";                              \
    } catch (const gauze::Error& error) {                                        \
      EXPECT_EQ(error.code(), expected) << #statement " said: " << error.what(); \
    }                                                                            \
  } while (false)
