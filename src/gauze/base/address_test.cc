#include "gauze/base/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauze {
namespace {

TEST(Address, IsShownWithoutItsPassword) {
  EXPECT_EQ(shown_address("postgresql://ada:secret@server:5432/budgets"),
            "postgresql://ada@server:5432/budgets");
  EXPECT_EQ(shown_address("postgresql://ada@server/budgets?sslmode=require&password=secret"),
            "postgresql://ada@server/budgets?sslmode=require");
  EXPECT_EQ(shown_address("postgres://ada:secret@/db?host=/run/pg"),
            "postgres://ada@/db?host=/run/pg");
  EXPECT_EQ(shown_address("postgresql://server/db"), "postgresql://server/db");
  EXPECT_EQ(shown_address("postgresql://"), "postgresql://");
}

// As people write them: unescaped, misspelt, with the parameter's name in disguise.
TEST(Address, NoPartOfAPasswordIsShownHoweverItIsWritten) {
  for (const char* address :
       {"postgresql://ada:s@ecret@server/db", "postgresql://ada:a/secret@server/db",
        "postgresql://ada:a?secret@server/db", "postgresql://:secret@server",
        "postgresql://ada@server/db?p%61ssword=secret",
        "postgresql://server?sslpassword=secret&port=1",
        "postgresql:///db?user=ada&password=secret", "postgresql://ada@server/db?password=a&secret",
        "postgresql://ada@server/db?password=a@secret", "postgresql://server/db?password=secret@b",
        "Postgres://ada:secret@server/db", "name=postgresql://ada:secret@server/db"}) {
    EXPECT_THAT(shown_address(address), ::testing::Not(::testing::HasSubstr("ecret"))) << address;
    EXPECT_THAT(shown_address(address), ::testing::HasSubstr("://")) << address;
  }
}

TEST(Address, OfAFileIsTheFile) {
  for (const char* file : {"people.csv", "a@b:c?d.csv", "/tmp/x.ledger", ""}) {
    EXPECT_EQ(shown_address(file), file);
    EXPECT_FALSE(is_server_address(file));
  }
  EXPECT_TRUE(is_server_address("postgresql://server/db"));
  EXPECT_TRUE(is_server_address("postgres://"));
}

}  // namespace
}  // namespace gauze
