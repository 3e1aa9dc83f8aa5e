#include "examples/splitc/common/image.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "examples/splitc/common/text_reader.hpp"

namespace examples {
namespace {

constexpr std::size_t kMaxSide = 1 << 15;

// The numbers of a PGM file: between blanks, with comments that begin with '#' and end with the
// line.
class PgmText {
 public:
  explicit PgmText(const std::string& path) : path_(path), text_(read_file(path)) {}

  [[nodiscard]] bool starts_with(const char* magic) const {
    return std::string_view(text_).starts_with(magic);
  }
  void skip(std::size_t bytes) { at_ += bytes; }

  [[nodiscard]] std::size_t number(const char* what, std::size_t least, std::size_t most) {
    skip_blanks_and_comments();
    std::size_t value = 0;
    const std::size_t begin = at_;
    for (; at_ < text_.size() && is_digit(text_[at_]) && value <= most; ++at_)
      value = value * 10 + static_cast<std::size_t>(text_[at_] - '0');
    if (at_ == begin) fail(fmt::format("{} is missing", what));
    if (value < least || value > most)
      fail(fmt::format("{} must be from {} to {}", what, least, most));
    return value;
  }
  /// The bytes behind the header and one blank.
  [[nodiscard]] std::string_view rest() const {
    return std::string_view(text_).substr(std::min(at_ + 1, text_.size()));
  }
  [[noreturn]] void fail(const std::string& sentence) const {
    const auto end = text_.begin() + static_cast<std::ptrdiff_t>(std::min(at_, text_.size()));
    throw BadInput(
        fmt::format("{}:{}: {}", path_, 1 + std::count(text_.begin(), end, '\n'), sentence));
  }

 private:
  static bool is_digit(char c) { return '0' <= c && c <= '9'; }
  void skip_blanks_and_comments() {
    while (at_ < text_.size()) {
      if (text_[at_] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
        ++at_;
      } else {
        return;
      }
    }
  }

  std::string path_;
  std::string text_;
  std::size_t at_ = 0;
};

/// Checks the sizes before memory is taken for the pixels: a wrong header may promise any size.
void expect_bytes(const PgmText& text, const GreyImage& image, std::size_t wanted) {
  const std::size_t bytes = text.rest().size();
  if (bytes < wanted)
    text.fail(fmt::format("{} bytes of pixels follow where {} x {} pixels take {}", bytes,
                          image.width, image.height, wanted));
}

void read_plain_pixels(PgmText& text, GreyImage& image) {
  // Appends pixels one by one: there may be fewer than the header says.
  for (std::size_t left = image.width * image.height; left != 0; --left)
    image.pixels.push_back(static_cast<std::uint16_t>(text.number("a pixel", 0, image.white)));
}

void read_raw_pixels(PgmText& text, GreyImage& image) {
  const std::size_t depth = image.white > 255 ? 2 : 1;
  expect_bytes(text, image, image.width * image.height * depth);
  image.pixels.resize(image.width * image.height);
  const std::string_view bytes = text.rest();
  const auto byte_at = [bytes](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    const unsigned value = depth == 1 ? byte_at(i) : byte_at(2 * i) * 256U + byte_at(2 * i + 1);
    if (value > image.white) text.fail(fmt::format("pixel {} is brighter than white", i));
    image.pixels[i] = static_cast<std::uint16_t>(value);
  }
}

}  // namespace

GreyImage read_pgm(const std::string& path) {
  PgmText text(path);
  const bool plain = text.starts_with("P2");
  if (!plain && !text.starts_with("P5"))
    text.fail("a PGM image begins with P2 or P5; this is none");
  text.skip(2);
  GreyImage image;
  image.width = text.number("the width", 1, kMaxSide);
  image.height = text.number("the height", 1, kMaxSide);
  image.white = static_cast<std::uint16_t>(text.number("the value of white", 1, 65535));
  if (plain) {
    read_plain_pixels(text, image);
  } else {
    read_raw_pixels(text, image);
  }
  return image;
}

void write_pgm(const std::string& path, const GreyImage& image) {
  std::string contents = fmt::format("P5\n{} {}\n{}\n", image.width, image.height, image.white);
  for (const std::uint16_t pixel : image.pixels) {
    if (image.white > 255) contents.push_back(static_cast<char>(pixel >> 8));
    contents.push_back(static_cast<char>(pixel & 255));
  }
  write_file(path, contents);
}

void write_ppm(const std::string& path, std::size_t width, std::size_t height,
               const std::vector<Colour>& pixels) {
  std::string contents = fmt::format("P6\n{} {}\n255\n", width, height);
  for (const Colour& pixel : pixels)
    for (const std::uint8_t part : {pixel.red, pixel.green, pixel.blue})
      contents.push_back(static_cast<char>(part));
  write_file(path, contents);
}

}  // namespace examples
