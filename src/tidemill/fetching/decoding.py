"""Undo Content-Encoding under a size cap, and notice when the end of a body is missing."""

import zlib
from collections.abc import Callable

import brotli
import msgspec
import zstandard

from tidemill.core.failure import Failure

LARGEST_ZSTD_WINDOW = 8 << 20  # bytes; what RFC 9659 lets a server ask of us
_BROTLI_STEP = 1 << 20  # bytes of output at a time
MOST_LAYERS = 5
"""Encodings on top of each other that are undone; servers use one, by mistake two. A gzip file can unpack to itself."""
MOST_MEMBERS = 5_000
"""Members of one gzip body; those that compress block by block make one in every 64 KB."""
MOST_EXPANSION = 500
"""How many times its body content may be, above a megabyte: markup comes to 10 or 20, and deflate's most is 1,032."""
EXPANDS_FREELY = 1 << 20
_FIRST_PIECE = 1 << 10
_LARGEST_PIECE = 1 << 16

_GZIP_MAGIC = b"\x1f\x8b"
_GZIP = 16 + zlib.MAX_WBITS
_ALIASES = {"x-gzip": "gzip", "identity": "", "none": "", "utf-8": "", "": ""}


class Decoded(msgspec.Struct, frozen=True):
    """The content of a body, and the form in which it is worth keeping.

    `stored_as` is '', `gzip`, `deflate` (with its zlib header), `br` or `zstd`, and says what `stored` is encoded
    with; whatever is odd (two layers, several members, raw deflate, a body cut short) is kept decoded. `cut` is
    TOO_LARGE or TRUNCATED_BODY when `content` is not all there is, or more than such a body can honestly hold.
    """

    content: bytes
    stored: bytes
    stored_as: str = ""
    cut: Failure | None = None


class _Layer(msgspec.Struct, frozen=True):
    content: bytes
    cut: Failure | None = None
    is_plain: bool = True


def decode(body: bytes, content_encoding: str, limit: int) -> Decoded:
    """Return the body without its encodings, never more than `limit` bytes of it, in time linear in both."""
    if not content_encoding:
        return Decoded(body, body)
    names = [name.strip().lower() for name in content_encoding.split(",")]
    layers = [name for name in (_ALIASES.get(name, name) for name in reversed(names)) if name in _DECODERS]
    if len(layers) > MOST_LAYERS:
        return Decoded(b"", b"", "", Failure.TOO_LARGE)
    content, odd = body, len(layers) != 1
    for name in layers:
        if not _looks_encoded(content, name):
            odd = True  # a proxy has decoded it and left the header: browsers give up, we need not
            continue
        layer = _DECODERS[name](content, limit)
        content, odd = layer.content, odd or not layer.is_plain
        cut = layer.cut or _bomb(content, body)
        if cut is not None:
            return Decoded(content, content, "", cut)
    return Decoded(content, content) if odd else Decoded(content, body, layers[0])


def _bomb(content: bytes, body: bytes) -> Failure | None:
    return Failure.TOO_LARGE if len(content) > max(EXPANDS_FREELY, MOST_EXPANSION * len(body)) else None


def _looks_encoded(content: bytes, name: str) -> bool:
    if name == "gzip":
        return content.startswith(_GZIP_MAGIC)
    if name == "zstd":
        return content.startswith(zstandard.FRAME_HEADER) or content[1:4] == b"\x2a\x4d\x18"
    return bool(content)


def _gunzip(data: bytes, limit: int) -> _Layer:
    """Decompress one gzip member or several in a row; what follows and is no member is ignored, as browsers do."""
    layer, consumed = _inflate(data, limit, _GZIP)
    pieces, size, view = [layer.content], len(layer.content), memoryview(data)
    while layer.cut is None and data.startswith(_GZIP_MAGIC, consumed):
        if len(pieces) == MOST_MEMBERS:
            return _Layer(b"".join(pieces), Failure.TOO_LARGE, is_plain=False)
        layer, length = _inflate_piecewise(view[consumed:], limit - size)
        consumed += length
        pieces.append(layer.content)
        size += len(layer.content)
    return layer if len(pieces) == 1 else _Layer(b"".join(pieces), layer.cut, is_plain=False)


def _inflate_piecewise(data: memoryview, limit: int) -> tuple[_Layer, int]:
    """Decompress the member at the start of `data`; return it and its length.

    zlib copies what follows a member out of what it was given. So it is given a little at first, then twice as much
    each time: what it copies stays in proportion to the member.
    """
    stream, pieces, size, position, step = zlib.decompressobj(_GZIP), [], 0, 0, _FIRST_PIECE
    try:
        while position < len(data) and not stream.eof:
            fed = data[position : position + step]
            piece = stream.decompress(fed, limit - size + 1)
            position += len(fed) - len(stream.unused_data)
            pieces.append(piece)
            size += len(piece)
            if size > limit:
                return _Layer(b"".join(pieces)[:limit], Failure.TOO_LARGE), position
            step = min(2 * step, _LARGEST_PIECE)
    except zlib.error:
        return _Layer(b"".join(pieces), Failure.TRUNCATED_BODY), position
    return _Layer(b"".join(pieces), None if stream.eof else Failure.TRUNCATED_BODY), position


def _undeflate(data: bytes, limit: int) -> _Layer:
    """Decompress deflate with a zlib header, which it should have, or without one, as it often comes."""
    has_header = data[0] & 0x0F == zlib.DEFLATED and int.from_bytes(data[:2]) % 31 == 0
    layer, _ = _inflate(data, limit, zlib.MAX_WBITS if has_header else -zlib.MAX_WBITS)
    return _Layer(layer.content, layer.cut, is_plain=has_header)


def _inflate(data: bytes, limit: int, wbits: int) -> tuple[_Layer, int]:
    """Decompress one stream; return it and how many bytes of `data` it took."""
    stream = zlib.decompressobj(wbits)
    try:
        content = stream.decompress(data, max(1, limit))
        if len(content) > limit or (len(content) == limit and stream.decompress(stream.unconsumed_tail, 1)):
            return _Layer(content[:limit], Failure.TOO_LARGE), len(data)
    except zlib.error:
        return _Layer(b"", Failure.TRUNCATED_BODY), len(data)
    if not stream.eof:
        return _Layer(content, Failure.TRUNCATED_BODY), len(data)
    return _Layer(content), len(data) - len(stream.unused_data)


def _unbrotli(data: bytes, limit: int) -> _Layer:
    stream = brotli.Decompressor()
    pieces: list[bytes] = []
    size = 0
    try:
        while True:
            piece = stream.process(data, output_buffer_limit=_BROTLI_STEP)
            data = b""
            pieces.append(piece)
            size += len(piece)
            if size > limit:
                return _Layer(b"".join(pieces)[:limit], Failure.TOO_LARGE)
            if stream.is_finished() or (not piece and stream.can_accept_more_data()):
                break
    except brotli.error:
        return _Layer(b"".join(pieces), Failure.TRUNCATED_BODY)
    return _Layer(b"".join(pieces), None if stream.is_finished() else Failure.TRUNCATED_BODY)


def _unzstd(data: bytes, limit: int) -> _Layer:
    """Decompress one Zstandard frame or several in a row: under the cap first, then to see whether the last one ends.

    What follows the frames and is none is ignored, as with gzip.
    """
    decompressor = zstandard.ZstdDecompressor(max_window_size=LARGEST_ZSTD_WINDOW)
    try:
        content = decompressor.stream_reader(data, read_across_frames=True).read(limit + 1)
    except zstandard.ZstdError:
        return _first_frame(decompressor, data, limit)
    if len(content) > limit:
        return _Layer(content[:limit], Failure.TOO_LARGE)
    frames, is_whole = _zstd_frames(decompressor, memoryview(data))
    if frames > MOST_MEMBERS:
        return _Layer(content, Failure.TOO_LARGE, is_plain=False)
    return _Layer(content, None if is_whole else Failure.TRUNCATED_BODY, is_plain=frames == 1)


def _first_frame(decompressor: zstandard.ZstdDecompressor, data: bytes, limit: int) -> _Layer:
    """Decompress the first frame of a body in which something else follows; another frame that is broken cuts it."""
    try:
        content = decompressor.stream_reader(data).read(limit + 1)
        if len(content) > limit:
            return _Layer(content[:limit], Failure.TOO_LARGE)
        stream = decompressor.decompressobj()
        whole = stream.decompress(data)
    except zstandard.ZstdError:
        return _Layer(b"", Failure.TRUNCATED_BODY)
    is_cut = not stream.eof or _looks_encoded(stream.unused_data, "zstd")
    return _Layer(whole, Failure.TRUNCATED_BODY if is_cut else None, is_plain=False)


def _zstd_frames(decompressor: zstandard.ZstdDecompressor, data: memoryview) -> tuple[int, bool]:
    """Count the frames of a body that is known to be valid, up to one more than are taken, and see whether it ends.

    Fed piece by piece, for the reason that `_inflate_piecewise` has.
    """
    position, frames, ended = 0, 0, False
    while position < len(data) and frames <= MOST_MEMBERS:
        stream, step, ended = decompressor.decompressobj(), _FIRST_PIECE, False
        frames += 1
        while position < len(data) and not ended:
            fed = data[position : position + step]
            stream.decompress(fed)
            ended = stream.eof
            position += len(fed) - len(stream.unused_data)
            step = min(2 * step, _LARGEST_PIECE)
    return frames, ended


_DECODERS: dict[str, Callable[[bytes, int], _Layer]] = {
    "gzip": _gunzip,
    "deflate": _undeflate,
    "br": _unbrotli,
    "zstd": _unzstd,
}
