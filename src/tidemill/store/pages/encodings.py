"""Bodies and their encodings: as they came over the wire, and as compaction keeps them."""

import zlib

import brotli
import zstandard

LARGEST = 64 * 1024 * 1024
"""No content over this many bytes is unpacked: a fetch stops long before, so more means a damaged or hostile body."""

LEVEL = 9
"""Zstandard's level for what is kept: within two percent of level 12 on agenda pages, in a tenth of its time."""

GZIP_OR_ZLIB = 47
RAW_DEFLATE = -15


class Unreadable(ValueError):
    """A body that its encoding does not fit."""


def decoded(payload: bytes, encoding: str, base: bytes | None = None) -> bytes:
    """The content of a body; `base` is what a compacted one leans on. One that was cut short gives what there is."""
    try:
        content = _decode(payload, encoding.partition("/")[0], base)
    except (zlib.error, brotli.error, zstandard.ZstdError) as error:
        msg = f"the body is not {encoding}: {error}"
        raise Unreadable(msg) from error
    if len(content) > LARGEST:
        msg = f"the body unpacks to more than {LARGEST} bytes"
        raise Unreadable(msg)
    return content


def _decode(payload: bytes, encoding: str, base: bytes | None) -> bytes:
    match encoding:
        case "" | "identity":
            return payload
        case "gzip" | "deflate" | "x-gzip":
            return _inflated(payload)
        case "br":
            return bytes(brotli.Decompressor().process(payload, output_buffer_limit=LARGEST + 1))
        case "zstd":
            return _unzstd(payload, base)
        case _:
            msg = f"no such encoding: {encoding!r}"
            raise Unreadable(msg)


def _inflated(payload: bytes) -> bytes:
    try:
        return _members(payload, GZIP_OR_ZLIB)
    except zlib.error:
        return _members(payload, RAW_DEFLATE)  # what some servers call deflate


def _members(payload: bytes, window: int) -> bytes:
    unpacker = zlib.decompressobj(window)
    content = unpacker.decompress(payload, LARGEST + 1)
    while unpacker.eof and unpacker.unused_data[:2] == b"\x1f\x8b" and len(content) <= LARGEST:
        rest, unpacker = unpacker.unused_data, zlib.decompressobj(window)
        content += unpacker.decompress(rest, LARGEST + 1)
    return content


def _unzstd(payload: bytes, base: bytes | None) -> bytes:
    unpacker = zstandard.ZstdDecompressor(dict_data=_dictionary(base) if base is not None else None)
    return _read_out(unpacker, payload)


def _read_out(unpacker: zstandard.ZstdDecompressor, payload: bytes) -> bytes:
    with unpacker.stream_reader(payload, read_across_frames=True) as stream:
        return stream.read(LARGEST + 1)


class Packer:
    """Packs contents with zstd, leaning on one base content or on none."""

    def __init__(self, base: bytes | None = None) -> None:
        """Digest the base once; every content packed afterwards costs only itself."""
        dictionary = _dictionary(base) if base is not None else None
        self._compressor = zstandard.ZstdCompressor(level=LEVEL, dict_data=dictionary)
        self._unpacker = zstandard.ZstdDecompressor(dict_data=dictionary)

    def pack(self, content: bytes) -> bytes:
        """The packed content, after checking that it unpacks to the same bytes."""
        packed = self._compressor.compress(content)
        if _read_out(self._unpacker, packed) != content:  # as it will be read one day, bounds included
            msg = "packing did not give the same bytes back"
            raise Unreadable(msg)
        return packed


def _dictionary(base: bytes) -> zstandard.ZstdCompressionDict:
    return zstandard.ZstdCompressionDict(base, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
