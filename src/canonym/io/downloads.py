"""Files fetched over HTTP: resumable, whole or not there, from where they should come.

A download grows in ``NAME.part``, beside ``NAME.part.json`` that says of which bytes it is the
beginning. It gets its name when it is complete, sound and what its checksums say, and has
``NAME.sha256`` beside it then, as ``sha256sum --check`` reads it. The standard library asks the
proxies that the environment names (``https_proxy``, ``no_proxy``).
"""

from __future__ import annotations

import http.client
import json
import logging
import re
import shutil
import urllib.error
import urllib.request
import zipfile
from base64 import b64decode
from collections.abc import Callable, Mapping
from pathlib import Path
from string import hexdigits
from typing import IO, Any, NamedTuple
from urllib.parse import urlsplit

from canonym.errors import CanonymError, InvalidInput, ReadError
from canonym.io.files import file_digest, write_file
from canonym.io.streams import ZIP_DAMAGE, decompressed, members
from canonym.regex import regex

_log = logging.getLogger(__name__)

SILENCE = 60.0
"""Seconds without a byte after which a server counts as gone."""

DIGESTS = {32: "md5", 40: "sha1", 64: "sha256", 128: "sha512"}
"""Kinds of checksums by the number of their hexadecimal digits."""

_BLOCK = 1 << 18
_PAGE = re.compile(rb"\s*(?:<!--(?>.*?-->)\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S)
_RANGE = regex(r"bytes (\d+)-\d+/(\d+)")
_GONE = (urllib.error.URLError, http.client.HTTPException, OSError)

Progress = Callable[[int, int | None], None]
"""Called with the bytes that are there, and their number, None where the server does not tell."""


class Origin(NamedTuple):
    """The bytes that a server offers: two parts of a file are of the same origin, or no file."""

    address: str
    etag: str = ""
    modified: str = ""
    size: int | None = None

    @property
    def validator(self) -> str:
        """Return what ``If-Range`` takes; a weak tag does not tell bytes apart."""
        return self.etag if self.etag and not self.etag.startswith("W/") else self.modified


def check_address(address: str) -> None:
    """Refuse an address that is none of HTTP."""
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidInput(
            f"{address!r} is no address of a file; expected https://HOST/PATH (or http)"
        )


def download(
    address: str,
    path: Path,
    *,
    limit: int,
    checksums: Mapping[str, str] | None = None,
    progress: Progress = lambda _done, _total: None,
) -> None:
    """Fetch a file, from where an earlier attempt stopped, as long as it is the same file.

    The `address` is ``https://…`` or ``http://…``, and may lead elsewhere, but never from HTTPS to
    HTTP. The folder of `path` exists, and no other process fetches to it: the caller has a lock. At
    most `limit` bytes are taken. `checksums` have the hexadecimal digits, whose number tells the
    kind, by where they are from; those in the headers of the server are compared in any case.

    Raises
    ------
    InvalidInput
        If the server cannot be reached or refuses, breaks off, sends a page instead of a file, too
        much, or something damaged, or if the disk is full. What can be continued is kept.
    """
    check_address(address)
    part = path.with_name(f"{path.name}.part")
    expected = dict(checksums or {})
    origin = _origin(part)
    if origin is None or origin.address != address or not origin.validator:
        _discard(part)
        origin = None
    done = part.stat().st_size if origin else 0
    if not origin or done != origin.size:
        expected |= _fetch(address, part, origin, limit, progress, bool(expected))
    _keep(part, path, address, expected)


def copy_download(local: Path, path: Path, *, limit: int, checksums: Mapping[str, str]) -> None:
    """Copy a file of this machine as `download` fetches one, with the same checks.

    What ``NAME.sha256`` beside it says, if it is there, is one of them.
    """
    part, beside = path.with_name(f"{path.name}.part"), checksum_file(local)
    expected = dict(checksums)
    try:
        if beside.is_file():
            expected[str(beside)] = parse_checksum(beside.read_text("utf-8"), local.name)
        size = local.stat().st_size
        if size <= limit:
            shutil.copyfile(local, part)
    except OSError as error:
        raise InvalidInput(f"{local} cannot be copied: {error.strerror}") from error
    except ValueError as error:
        raise InvalidInput(f"{beside} holds no checksum of {local.name}") from error
    if size > limit:
        raise InvalidInput(f"{local} has more than {limit:,} bytes: nothing was kept")
    _keep(part, path, str(local), expected)


def _keep(part: Path, path: Path, address: str, checksums: Mapping[str, str]) -> None:
    """Check what was fetched, and give it its name, with its checksum beside it."""
    try:
        _check(part, checksums)
    except CanonymError as error:
        _discard(part)
        problem = getattr(error, "problem", error)
        raise InvalidInput(f"{address}: {problem}; nothing was kept") from error
    path.unlink(missing_ok=True)  # no file ever stands beside the checksum of another
    with write_file(checksum_file(path)) as partial:
        partial.write_text(f"{file_digest(part)}  {path.name}\n", encoding="utf-8", newline="\n")
    part.replace(path)
    _discard(part)


def checksum_file(path: Path) -> Path:
    """Return the file beside a download that holds its SHA-256."""
    return path.with_name(f"{path.name}.sha256")


def verified_digest(path: Path) -> str:
    """Return the SHA-256 of a download, or raise `ReadError` where it is not as it was fetched."""
    digest = file_digest(path)
    try:
        noted = parse_checksum(checksum_file(path).read_text(encoding="utf-8"), path.name)
    except (OSError, ValueError) as error:
        raise ReadError(checksum_file(path), f"cannot be read ({error})") from error
    if digest != noted:
        raise ReadError(
            path,
            f"is not the file that was fetched: its SHA-256 is {digest}, and was {noted}. It was "
            "changed or damaged since",
        )
    return digest


def fetch_checksum(address: str, name: str, *, optional: bool = False) -> str | None:
    """Fetch the checksum of a file called `name` from a small file such as ``NAME.md5``.

    Returns None where it is `optional` and the server has none. Raises `InvalidInput` if it cannot
    be fetched, or holds no checksum.
    """
    try:
        with _open(address) as response:
            text = _read(response, Origin(address), 0)
    except _Refused as error:
        if optional and error.code in (403, 404, 410):
            return None
        raise
    try:
        return parse_checksum(text.decode("utf-8", "replace"), name)
    except ValueError as error:
        raise InvalidInput(f"{address} holds no checksum of {name}") from error


def parse_checksum(text: str, name: str) -> str:
    """Return the checksum of a file, from lines of ``DIGITS  NAME``, or a line of digits alone.

    >>> parse_checksum("900150983cd24fb0d6963f7d28e17f72  ./abc.txt", "abc.txt")
    '900150983cd24fb0d6963f7d28e17f72'
    """
    lines = [line.split(maxsplit=1) for line in text.splitlines() if line.strip()]
    for digits, *names in lines:
        named = Path(names[0].lstrip("*")).name if names else name
        if named == name and len(digits) in DIGESTS and set(hexdigits).issuperset(digits):
            return digits.lower()
    raise ValueError("no line with a checksum")


# --- one request ----------------------------------------------------------------------------------


class _SameScheme(urllib.request.HTTPRedirectHandler):
    """Follows redirects to the same scheme, and from HTTP to HTTPS."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: Any,
        newurl: str,
    ) -> urllib.request.Request | None:
        if urlsplit(newurl).scheme not in (urlsplit(req.full_url).scheme, "https"):
            fp.close()
            raise InvalidInput(
                f"{req.full_url} leads to {newurl}, which is not as safe: nothing was fetched. Set "
                "CANONYM_MIRROR, or fetch the file yourself"
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class _Refused(InvalidInput):
    """A server has answered, with something else than a file."""

    def __init__(self, address: str, error: urllib.error.HTTPError) -> None:
        usual = "try again later" if error.code >= 500 else "it does not serve this address"
        super().__init__(
            f"{address}: the server answers {error.code} {error.reason}: "
            f"{_ADVICE.get(error.code, usual)}. A file that you fetched yourself is taken with "
            "--from FILE, another address from your own catalogue"
        )
        self.code = error.code


def _open(address: str, headers: Mapping[str, str] | None = None) -> Any:
    """Ask for a file, and return the answer, whose body is yet to be read."""
    from canonym import __version__

    own = {"User-Agent": f"canonym/{__version__}", "Accept-Encoding": "identity"}
    request = urllib.request.Request(address, headers={**own, **(headers or {})})
    try:
        return urllib.request.build_opener(_SameScheme()).open(request, timeout=SILENCE)
    except urllib.error.HTTPError as error:
        with error:
            raise _Refused(address, error) from error
    except _GONE as error:
        raise InvalidInput(_unreachable(address, error)) from error


def _fetch(
    address: str, part: Path, origin: Origin | None, limit: int, progress: Progress, checked: bool
) -> dict[str, str]:
    """Fetch what is missing of a part, and return the checksums that the server sends."""
    start = part.stat().st_size if origin else 0
    headers = {"Range": f"bytes={start}-", "If-Range": origin.validator} if origin else {}
    try:
        response = _open(address, headers)
    except _Refused as error:
        if error.code != 416 or not origin:
            raise
        _discard(part)  # the file has become shorter
        return _fetch(address, part, None, limit, progress, checked)
    with response:
        offered = _offered(address, response)
        if origin and not _continues(response, offered, origin, start):
            _log.info("%s is sent from its beginning: it cannot be continued", address)
            _discard(part)
            if response.status == 206:  # the end of another file
                return _fetch(address, part, None, limit, progress, checked)
            start = 0
        digests = _digests(address, response, whole=not start)
        _check_offer(address, response, offered, limit, checked=checked or bool(digests))
        if not start:  # it is written down of which file a part will be, before it begins
            part.unlink(missing_ok=True)
            with write_file(_record(part)) as partial:
                partial.write_text(json.dumps(offered._asdict()), encoding="utf-8")
        _receive(response, part, start, offered, limit, progress)
    return digests


def _offered(address: str, response: Any) -> Origin:
    """Read from the headers of an answer what file it is of."""
    headers = response.headers
    ranged = _RANGE.fullmatch(headers.get("Content-Range", "")) if response.status == 206 else None
    length = ranged[2] if ranged else headers.get("Content-Length", "")
    size = int(length) if length.isdecimal() and (ranged or response.status == 200) else None
    return Origin(address, headers.get("ETag", ""), headers.get("Last-Modified", ""), size)


def _continues(response: Any, offered: Origin, origin: Origin, start: int) -> bool:
    """Tell whether an answer is the rest of the file of which there is a part."""
    ranged = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
    same = offered.validator in ("", origin.validator)
    same &= origin.size in (None, offered.size)
    return bool(response.status == 206 and ranged and int(ranged[1]) == start and same)


def _check_offer(
    address: str, response: Any, offered: Origin, limit: int, *, checked: bool
) -> None:
    if offered.size is not None and offered.size > limit:
        raise InvalidInput(_too_large(address, limit, f"has {offered.size:,} bytes"))
    chunked = "chunked" in response.headers.get("Transfer-Encoding", "").lower()
    if offered.size is None and not chunked and not checked:
        raise InvalidInput(
            f"{address}: the server says neither how long the file is nor what its checksum is, so "
            "that half of it would look like all of it; nothing was fetched. Set CANONYM_MIRROR, "
            "or fetch the file yourself"
        )


def _receive(
    response: Any, part: Path, start: int, offered: Origin, limit: int, progress: Progress
) -> None:
    """Write the body of an answer to a part, of which `start` bytes are there."""
    address, total, done = offered.address, offered.size, start
    if total is not None and (free := shutil.disk_usage(part.parent).free) < total - start:
        needed = f"{total - start:,} bytes are to be fetched, {free:,} are free"
        raise InvalidInput(_no_space(part, needed))
    with part.open("r+b" if start else "wb") as stream:
        stream.seek(start)
        stream.truncate()
        progress(done, total)
        while block := _read(response, offered, done):
            done += len(block)
            if done > limit or (total is not None and done > total):
                _discard(part)
                raise InvalidInput(_too_large(address, limit, "does not end"))
            try:
                stream.write(block)
                stream.flush()
            except OSError as error:
                raise InvalidInput(_no_space(part, error.strerror or str(error))) from error
            progress(done, total)
    if total is not None and done < total:
        raise InvalidInput(_broken(offered, done))


def _read(response: Any, offered: Origin, done: int) -> bytes:
    try:
        block: bytes = response.read1(_BLOCK)
    except _GONE as error:
        raise InvalidInput(_broken(offered, done, error)) from error
    return block


def _digests(address: str, response: Any, *, whole: bool) -> dict[str, str]:
    """Return the checksums in the headers of an answer; one is of the body, which may be a part."""
    headers = response.headers
    digests = {}
    for field in ("Repr-Digest", "Digest"):
        for item in headers.get(field, "").split(","):
            kind, _, value = item.strip().partition("=")
            if kind.lower() in ("sha-256", "sha-512", "md5"):
                where = f"the header {field} ({kind}) of {urlsplit(address).hostname}"
                digests[where] = value.partition(";")[0].strip(":")
    if whole and headers.get("Content-MD5"):
        digests[f"the header Content-MD5 of {urlsplit(address).hostname}"] = headers["Content-MD5"]
    return {
        where: digits
        for where, value in digests.items()
        if (digits := _hexadecimal(value)) and len(digits) in DIGESTS
    }


def _hexadecimal(value: str) -> str:
    try:
        return b64decode(value, validate=True).hex()
    except ValueError:
        return ""


# --- what is there --------------------------------------------------------------------------------


def _check(path: Path, checksums: Mapping[str, str]) -> None:
    """Refuse a page, what is not as its checksums say, and what is damaged inside."""
    with path.open("rb") as stream:
        if _PAGE.match(stream.read(4096)):
            raise InvalidInput(_PAGE_INSTEAD)
    for where, digits in checksums.items():
        kind = DIGESTS[len(digits)]
        digest = file_digest(path, kind)
        if digest != digits:
            raise InvalidInput(
                f"what was fetched is not what its checksum says: its {kind} is {digest}, and "
                f"should be {digits} by {where}. It was changed on the way, or replaced meanwhile"
            )
    if members(path):
        try:
            with zipfile.ZipFile(path) as archive:
                damaged = archive.testzip()
        except ZIP_DAMAGE as error:
            raise ReadError(path, f"what was fetched is a damaged zip archive ({error})") from error
        if damaged:
            raise ReadError(path, f"what was fetched is a damaged zip archive, in {damaged!r}")
        return
    with decompressed(path) as source:
        while source.read(_BLOCK):
            pass


def _record(part: Path) -> Path:
    return part.with_name(f"{part.name}.json")


def _origin(part: Path) -> Origin | None:
    """Read of which file a part is; None where that cannot be told."""
    try:
        fields = json.loads(_record(part).read_text(encoding="utf-8"))
        origin = Origin(**fields)
        beyond = origin.size is not None and part.stat().st_size > origin.size
    except (OSError, ValueError, TypeError):
        return None  # nothing was begun, or nothing is known of it
    return None if beyond else origin


def _discard(part: Path) -> None:
    part.unlink(missing_ok=True)
    _record(part).unlink(missing_ok=True)


# --- messages -------------------------------------------------------------------------------------

_ADVICE = {
    401: "it wants a log-in",
    403: "it does not serve this address, or not to programs",
    404: "the file is not there, or not any more",
    407: "the proxy wants a log-in",
    410: "the file is not there any more",
    429: "it is asked too often: try again later",
}
_PAGE_INSTEAD = (
    "the server sent a web page instead of the file: it has moved, or the server wants to see a "
    "person. Open the address in a browser, save the file, and take it with --from FILE"
)


def _no_space(part: Path, reason: str) -> str:
    return (
        f"{part.parent} cannot take the file ({reason}); make room, or set CANONYM_DATA_HOME to a "
        "folder with more, and run the command again"
    )


def _too_large(address: str, limit: int, what: str) -> str:
    return (
        f"{address} {what}, and {limit:,} bytes are the limit; nothing was kept. Give its size in "
        "your own catalogue if it has grown that much"
    )


def _broken(origin: Origin, done: int, error: BaseException | None = None) -> str:
    of = "" if origin.size is None else f" of {origin.size:,}"
    why = f" ({error})" if error and str(error) else ""
    again = "goes on from there" if origin.validator else "starts again"
    return f"{origin.address} broke off after {done:,}{of} bytes{why}; the next run {again}"


def _unreachable(address: str, error: BaseException) -> str:
    reason = getattr(error, "reason", None) or error
    return (
        f"{urlsplit(address).hostname} cannot be reached ({reason}): is there a network, does it "
        f"need a proxy (https_proxy), is there a mirror (CANONYM_MIRROR)? The address is {address}"
    )
