#pragma once
// Pictures in the portable formats of Netpbm: grey (PGM, plain P2 and raw P5) and colour (PPM, P6).

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace examples {

struct GreyImage {
  std::size_t width = 0;
  std::size_t height = 0;
  std::uint16_t white = 255;          ///< the greatest value that a pixel may have
  std::vector<std::uint16_t> pixels;  ///< row by row
};

struct Colour {
  std::uint8_t red;
  std::uint8_t green;
  std::uint8_t blue;
};

/// Throws BadInput that names the file, and the place of the mistake.
[[nodiscard]] GreyImage read_pgm(const std::string& path);

/// Throw BadInput when the file cannot be written.
void write_pgm(const std::string& path, const GreyImage& image);
void write_ppm(const std::string& path, std::size_t width, std::size_t height,
               const std::vector<Colour>& pixels);

}  // namespace examples
