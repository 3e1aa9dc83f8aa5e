"""unpack_kernel.py BZIMAGE OUTPUT: the ELF file in a kernel image, or the image itself when it is packed otherwise."""

import lzma
import sys


def unpacked(image: bytes) -> bytes:
    at = image.find(b"\xfd7zXZ\0")
    if at < 0:
        return image
    try:
        kernel = lzma.LZMADecompressor().decompress(image[at:])
    except lzma.LZMAError:
        return image
    return kernel if kernel.startswith(b"\x7fELF") else image


with open(sys.argv[1], "rb") as source, open(sys.argv[2], "wb") as target:
    target.write(unpacked(source.read()))
