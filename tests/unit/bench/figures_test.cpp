#include "benchmarks/common/figures.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "benchmarks/common/machine.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::bench {
namespace {

using program::Json;

std::set<std::string> keys(const Json& object) {
  const std::vector<std::string> all = object.keys();
  return {all.begin(), all.end()};
}

std::string printed(const Figures& figures) {
  char* text = nullptr;
  std::size_t length = 0;
  std::FILE* const stream = open_memstream(&text, &length);
  figures.print(stream);
  std::fclose(stream);
  const std::unique_ptr<char, decltype(&std::free)> owner(text, &std::free);
  return {text, length};
}

TEST(FiguresJson, HasExactlyTheAgreedShape) {
  Figures figures;
  figures.add("o_s_ns", "ns", {3, 1, 2}, {"GASNet-EX", 4, {}});
  const Json document = figures.to_json({});
  EXPECT_EQ(keys(document), (std::set<std::string>{"figures", "machine"}));
  const Json figure = document.at("figures").at("o_s_ns");
  EXPECT_EQ(keys(figure), (std::set<std::string>{"min", "median", "p95", "unit", "n"}));
  EXPECT_EQ(figure.at("min").number(), 1);
  EXPECT_EQ(figure.at("median").number(), 2);
  EXPECT_EQ(figure.at("p95").number(), 3);
  EXPECT_EQ(figure.at("unit").text(), "ns");
  EXPECT_EQ(figure.at("n").number(), 3);
}

TEST(Figures, OfAnotherDistanceAreATableOfTheirOwn) {
  Figures near, far;
  near.add("o_s_ns", "ns", {3, 1, 2}, {"GASNet-EX", 4, {}});
  far.add("o_s_ns", "ns", {30}, {"GASNet-EX", 40, {}});
  near.add_elsewhere(251.3, far);
  EXPECT_EQ(near.median_of("o_s_ns"), 2);
  const std::string text = printed(near);
  const std::size_t title = text.find("With the cores at another distance (hand-over 251 ns):");
  ASSERT_NE(title, std::string::npos) << text;
  EXPECT_LT(text.find("2.000"), title);
  EXPECT_NE(text.find("30.00", title), std::string::npos) << text;
  const Json document = near.to_json({});
  EXPECT_EQ(keys(document), (std::set<std::string>{"elsewhere", "figures", "machine"}));
  EXPECT_EQ(document.at("elsewhere").at("251_ns").at("o_s_ns").at("median").number(), 30);
}

TEST(FiguresJson, HoldsTheMedianOfTheRatiosBesideTheFigure) {
  Figures figures;
  figures.add("am_oneway_mps", "M/s", {50, 60, 90}, {"ring_rate_mps", 0, {100, 100, 100}});
  const Json ratio = figures.to_json({}).at("figures").at("am_oneway_mps_ratio");
  EXPECT_DOUBLE_EQ(ratio.at("median").number(), 0.6);
  EXPECT_DOUBLE_EQ(ratio.at("min").number(), 0.5);
  EXPECT_EQ(ratio.at("unit").text(), "x");
  EXPECT_EQ(ratio.at("n").number(), 3);
}

TEST(FiguresJson, SaysWhichYardsticksAreSuspect) {
  Figures figures;
  figures.add_yardstick("ring_rate_mps", "M/s", {40});
  figures.add_yardstick("hand_over_ns", "ns", {60});
  figures.add_note("a remark");
  const Json machine = figures.to_json(Json().set("cpu", "x")).at("machine");
  EXPECT_EQ(machine.at("cpu").text(), "x");
  EXPECT_EQ(machine.at("suspect_yardsticks").texts(), std::vector<std::string>{"ring_rate_mps"});
  EXPECT_EQ(machine.at("notes").texts(), std::vector<std::string>{"a remark"});
}

TEST(FiguresJson, IsWrittenToAFile) {
  Figures figures;
  figures.add("x_ns", "ns", {1}, {"peer", 1, {}});
  const std::string path = testing::TempDir() + "viaduct_figures_test.json";
  figures.write_json(path, machine_facts(2, "processes"));
  const Json read = Json::read(path);
  EXPECT_EQ(read.at("figures").at("x_ns").at("n").number(), 1);
  for (const char* fact : {"cpu", "cores", "kernel", "compiler", "ranks", "mode"}) {
    EXPECT_TRUE(read.at("machine").has(fact)) << fact;
  }
  std::remove(path.c_str());
}

TEST(FiguresJson, AFileThatCannotBeWrittenIsNamed) {
  const Figures figures;
  try {
    figures.write_json("/no/such/folder/f.json", {});
    FAIL() << "wrote to a folder that is not there";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("/no/such/folder/f.json"), std::string::npos);
    EXPECT_EQ(error.code(), std::errc::no_such_file_or_directory);
  }
}

TEST(FiguresTable, ShowsWhatAFigureIsReadAgainst) {
  Figures figures;
  figures.add("vi_rtt_half_ns", "ns", {105, 105, 105}, {"hand_over_ns", 0, {100, 100, 100}});
  const std::string table = printed(figures);
  EXPECT_NE(table.find("vi_rtt_half_ns"), std::string::npos);
  EXPECT_NE(table.find("1.05"), std::string::npos) << table;
  EXPECT_NE(table.find("100.0 hand_over_ns"), std::string::npos) << table;
  EXPECT_EQ(table.find("vi_rtt_half_ns_ratio"), std::string::npos) << "the ratio has a column";
}

TEST(FiguresTable, NeverHidesASuspectYardstick) {
  Figures figures;
  figures.add_yardstick("ring_rate_mps", "M/s", {40});
  EXPECT_NE(printed(figures).find("SUSPECT"), std::string::npos);
  EXPECT_NE(printed(figures).find("note: ring_rate_mps is suspect"), std::string::npos);
}

TEST(Figures, RefuseWhatCannotBeAFigure) {
  Figures figures;
  figures.add("a_ns", "ns", {1}, {"peer", 1, {}});
  EXPECT_THROW(figures.add("a_ns", "ns", {1}, {"peer", 1, {}}), std::invalid_argument);
  EXPECT_THROW(figures.add("b_ns", "ns", {}, {"peer", 1, {}}), std::invalid_argument);
  EXPECT_THROW(figures.add("c_ns", "ns", {1, 2}, {"y", 0, {1, 2, 3}}), std::invalid_argument);
  EXPECT_EQ(keys(figures.to_json({}).at("figures")), (std::set<std::string>{"a_ns"}));
  EXPECT_THROW(static_cast<void>(figures.median_of("b_ns")), std::out_of_range);
}

}  // namespace
}  // namespace viaduct::bench
