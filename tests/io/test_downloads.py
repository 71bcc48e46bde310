"""Downloads: they go on, they are whole, they are what they should be."""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import json
import os
import shutil
import zipfile
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from canonym.errors import InvalidInput, ReadError
from canonym.io import downloads
from canonym.io.downloads import (
    download,
    fetch_checksum,
    parse_checksum,
    verified_digest,
)
from tests.mirror import Mirror

CONTENT = b"".join(b"line %06d of the file\n" % n for n in range(2000))
OTHER = CONTENT.replace(b"file", b"book")
HALF = len(CONTENT) // 2


@pytest.fixture
def mirror() -> Iterator[Mirror]:
    with Mirror() as server:
        yield server


def fetch(mirror: Mirror, folder: Path, path: str = "/a.txt", **options: Any) -> Path:
    target = folder / Path(path).name
    download(f"{mirror.address}{path}", target, **{"limit": 10**6, **options})
    return target


def refused(
    mirror: Mirror, folder: Path, *phrases: str, path: str = "/a.txt", **options: Any
) -> None:
    """Check that a download is refused, and has no file of its name."""
    with pytest.raises(InvalidInput) as caught:
        fetch(mirror, folder, path, **options)
    for phrase in phrases:
        assert phrase in str(caught.value)
    assert not (folder / Path(path).name).exists()


def names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


def test_a_file_has_its_checksum_beside_it(mirror: Mirror, tmp_path: Path) -> None:
    mirror.put("/a.txt", CONTENT)
    counts: list[tuple[int, int | None]] = []
    path = fetch(mirror, tmp_path, progress=lambda done, total: counts.append((done, total)))
    assert path.read_bytes() == CONTENT
    assert names(tmp_path) == ["a.txt", "a.txt.sha256"]
    digest = hashlib.sha256(CONTENT).hexdigest()
    assert (tmp_path / "a.txt.sha256").read_text() == f"{digest}  a.txt\n"
    assert verified_digest(path) == digest
    assert counts[0] == (0, len(CONTENT))
    assert counts[-1] == (len(CONTENT), len(CONTENT))


@pytest.mark.parametrize("how", [{"etag": '"1"'}, {"etag": "", "modified": "Fri, 27 Nov 2026"}])
def test_what_broke_off_goes_on(mirror: Mirror, tmp_path: Path, how: dict[str, str]) -> None:
    served = mirror.put("/a.txt", CONTENT, stop_after=HALF, **how)
    refused(mirror, tmp_path, f"broke off after {HALF:,} of {len(CONTENT):,} bytes", "goes on")
    assert names(tmp_path) == ["a.txt.part", "a.txt.part.json"]
    served.stop_after = None
    counts: list[int] = []
    path = fetch(mirror, tmp_path, progress=lambda done, _: counts.append(done))
    assert path.read_bytes() == CONTENT
    assert counts[0] == HALF
    assert mirror.requests[-1][1]["Range"] == f"bytes={HALF}-"
    assert names(tmp_path) == ["a.txt", "a.txt.sha256"]


@pytest.mark.parametrize(
    "how",
    [
        {"etag": '"2"'},  # the condition tells
        {"etag": "", "modified": ""},  # nothing tells, and nothing can be continued
        {"ranges": False},
        {"etag": 'W/"1"'},  # a weak tag does not say that bytes are the same
    ],
)
def test_a_file_that_changed_is_fetched_from_its_beginning(
    mirror: Mirror, tmp_path: Path, how: dict[str, Any]
) -> None:
    mirror.put("/a.txt", CONTENT, stop_after=HALF)
    refused(mirror, tmp_path, "broke off")
    mirror.put("/a.txt", OTHER, **how)
    assert fetch(mirror, tmp_path).read_bytes() == OTHER


def test_a_server_that_ignores_the_condition_is_found_out(mirror: Mirror, tmp_path: Path) -> None:
    mirror.put("/a.txt", CONTENT, stop_after=HALF)
    refused(mirror, tmp_path, "broke off")
    changed = mirror.put("/a.txt", OTHER, etag='"2"')
    changed.modified = '"1"'  # so that the condition seems to hold
    assert fetch(mirror, tmp_path).read_bytes() == OTHER
    assert len(mirror.requests) == 3


def test_a_file_that_became_shorter_than_the_part(mirror: Mirror, tmp_path: Path) -> None:
    mirror.put("/a.txt", CONTENT, stop_after=HALF)
    refused(mirror, tmp_path, "broke off")
    mirror.put("/a.txt", CONTENT[:1000])
    assert fetch(mirror, tmp_path).read_bytes() == CONTENT[:1000]


def test_a_part_of_another_address_is_not_continued(mirror: Mirror, tmp_path: Path) -> None:
    mirror.put("/one/a.txt", CONTENT, stop_after=HALF)
    mirror.put("/two/a.txt", OTHER)
    refused(mirror, tmp_path, "broke off", path="/one/a.txt")
    assert fetch(mirror, tmp_path, "/two/a.txt").read_bytes() == OTHER


def test_a_part_without_its_record_is_not_continued(mirror: Mirror, tmp_path: Path) -> None:
    mirror.put("/a.txt", CONTENT)
    (tmp_path / "a.txt.part").write_bytes(OTHER[:HALF])
    assert fetch(mirror, tmp_path).read_bytes() == CONTENT
    for record in ("", "[]", '{"address": 1}', "{"):
        (tmp_path / "a.txt.part").write_bytes(OTHER[:HALF])
        (tmp_path / "a.txt.part.json").write_text(record)
        assert fetch(mirror, tmp_path).read_bytes() == CONTENT


def test_no_file_stands_beside_the_checksum_of_another(
    mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror.put("/a.txt", CONTENT)
    fetch(mirror, tmp_path)
    mirror.put("/a.txt", OTHER, etag='"2"')

    replace = Path.replace

    def killed(path: Path, target: Path) -> Path:
        if target.name == "a.txt":
            raise KeyboardInterrupt
        return replace(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            fetch(mirror, tmp_path)
    assert "a.txt" not in names(tmp_path)
    n_requests = len(mirror.requests)
    assert fetch(mirror, tmp_path).read_bytes() == OTHER
    assert len(mirror.requests) == n_requests
    assert names(tmp_path) == ["a.txt", "a.txt.sha256"]


def test_a_complete_part_is_not_fetched_again(mirror: Mirror, tmp_path: Path) -> None:
    (tmp_path / "a.txt.part").write_bytes(CONTENT)
    record = {"address": f"{mirror.address}/a.txt", "etag": '"1"', "size": len(CONTENT)}
    (tmp_path / "a.txt.part.json").write_text(json.dumps(record))
    assert fetch(mirror, tmp_path).read_bytes() == CONTENT
    assert not mirror.requests


def test_a_server_without_lengths(mirror: Mirror, tmp_path: Path) -> None:
    mirror.put("/a.txt", CONTENT, chunked=True, stop_after=HALF)
    refused(mirror, tmp_path, "broke off", "bytes")
    mirror.put("/a.txt", CONTENT, chunked=True)
    assert fetch(mirror, tmp_path).read_bytes() == CONTENT
    mirror.put("/b.txt", CONTENT, length=False)
    refused(mirror, tmp_path, "neither how long the file is", path="/b.txt")
    digest = hashlib.md5(CONTENT).hexdigest()
    assert fetch(mirror, tmp_path, "/b.txt", checksums={"a list": digest}).is_file()
    mirror.put("/c.txt", CONTENT, length=False, stop_after=HALF)
    refused(mirror, tmp_path, "a list", path="/c.txt", checksums={"a list": digest})


def test_a_silent_server(mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "SILENCE", 0.2)
    mirror.put("/a.txt", CONTENT, pause=1.0)
    refused(mirror, tmp_path, "broke off after 1,000 of", "timed out")
    mirror.put("/a.txt", CONTENT, pause=0.001)  # slow is not silent
    assert fetch(mirror, tmp_path).read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("status", "phrase"),
    [(404, "is not there"), (403, "not to programs"), (429, "later"), (503, "later"), (418, "418")],
)
def test_refusals(mirror: Mirror, tmp_path: Path, status: int, phrase: str) -> None:
    mirror.put("/a.txt", b"no", status=status)
    refused(mirror, tmp_path, f"{mirror.address}/a.txt", str(status), phrase, "--from FILE")
    assert names(tmp_path) == []


def test_no_server(tmp_path: Path) -> None:
    with Mirror() as mirror:
        pass
    refused(mirror, tmp_path, "cannot be reached", "CANONYM_MIRROR", "https_proxy")
    with pytest.raises(InvalidInput, match="cannot be reached"):
        download("http://nowhere.invalid/a", tmp_path / "a", limit=10)


def test_a_redirect_is_followed(mirror: Mirror, tmp_path: Path) -> None:
    mirror.put("/a.txt", b"", status=302, location="/b.txt")
    served = mirror.put("/b.txt", CONTENT, stop_after=HALF)
    refused(mirror, tmp_path, "broke off")
    served.stop_after = None
    assert fetch(mirror, tmp_path).read_bytes() == CONTENT
    assert mirror.requests[-1][1]["Range"] == f"bytes={HALF}-"


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://127.0.0.1/a", "data:,a"])
def test_a_redirect_to_another_scheme_is_refused(
    mirror: Mirror, tmp_path: Path, target: str
) -> None:
    mirror.put("/a.txt", b"", status=302, location=target)
    refused(mirror, tmp_path, "a.txt")
    assert names(tmp_path) == []


def test_a_redirect_from_https_to_http_is_refused() -> None:
    request = downloads.urllib.request.Request("https://a/b")
    follow = downloads._SameScheme().redirect_request
    with pytest.raises(InvalidInput, match="leads to http://a/b, which is not as safe"):
        follow(request, io.BytesIO(), 302, "", {}, "http://a/b")
    assert follow(request, io.BytesIO(), 302, "", {}, "https://c/d") is not None
    plain = downloads.urllib.request.Request("http://a/b")
    assert follow(plain, io.BytesIO(), 302, "", {}, "https://a/b") is not None


@pytest.mark.parametrize("address", ["file:///etc/passwd", "ftp://a/b", "a/b", "https:///b", ""])
def test_other_addresses_are_refused(address: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="expected https://HOST/PATH"):
        download(address, tmp_path / "a", limit=10)


@pytest.mark.parametrize(
    "page",
    [
        b"<!DOCTYPE html>\n<title>Log in</title>",
        b"\n <html><body>moved",
        b"<!-- a comment --><HTML lang='en'>",
    ],
)
def test_a_page_is_no_file(mirror: Mirror, tmp_path: Path, page: bytes) -> None:
    mirror.put("/a.obo.gz", page)
    refused(mirror, tmp_path, "a web page instead", "--from FILE", path="/a.obo.gz")
    assert names(tmp_path) == []


def test_xml_is_no_page(mirror: Mirror, tmp_path: Path) -> None:
    mirror.put("/a.xml", b'<?xml version="1.0"?><DescriptorRecordSet/>')
    assert fetch(mirror, tmp_path, "/a.xml").is_file()


def test_too_large(mirror: Mirror, tmp_path: Path) -> None:
    mirror.put("/a.txt", CONTENT)
    refused(mirror, tmp_path, f"{len(CONTENT):,} bytes, and 1,000 bytes are the limit", limit=1000)
    assert mirror.requests
    mirror.put("/a.txt", CONTENT, chunked=True)
    refused(mirror, tmp_path, "does not end, and 1,000 bytes are the limit", limit=1000)
    assert names(tmp_path) == []


@pytest.mark.parametrize("kind", ["md5", "sha1", "sha256", "sha512"])
def test_checksums_are_compared(mirror: Mirror, tmp_path: Path, kind: str) -> None:
    mirror.put("/a.txt", CONTENT)
    wrong = hashlib.new(kind, OTHER).hexdigest()
    refused(mirror, tmp_path, kind, wrong, "the list", checksums={"the list": wrong})
    assert names(tmp_path) == []
    fetch(mirror, tmp_path, checksums={"the list": hashlib.new(kind, CONTENT).hexdigest()})


@pytest.mark.parametrize(
    ("field", "form"),
    [
        ("Repr-Digest", "sha-256=:{}:"),
        ("Digest", "SHA-256={}"),
        ("Digest", "unixsum=1,sha-256={}"),
        ("Content-MD5", "{}"),
    ],
)
def test_checksums_of_the_server_are_compared(
    mirror: Mirror, tmp_path: Path, field: str, form: str
) -> None:
    kind = "md5" if field.endswith("MD5") else "sha256"
    for content, right in ((OTHER, False), (CONTENT, True)):
        value = form.format(b64encode(hashlib.new(kind, content).digest()).decode())
        mirror.put("/a.txt", CONTENT, headers={field: value}, length=False)
        if right:
            fetch(mirror, tmp_path)
        else:
            refused(mirror, tmp_path, field)
            assert names(tmp_path) == []


def test_a_checksum_of_a_part_is_not_that_of_the_file(mirror: Mirror, tmp_path: Path) -> None:
    served = mirror.put("/a.txt", CONTENT, stop_after=HALF)
    refused(mirror, tmp_path, "broke off")
    served.stop_after = None
    served.headers["Content-MD5"] = b64encode(hashlib.md5(CONTENT[HALF:]).digest()).decode()
    assert fetch(mirror, tmp_path).read_bytes() == CONTENT


def test_a_part_that_was_tampered_with_is_refused(mirror: Mirror, tmp_path: Path) -> None:
    served = mirror.put("/a.txt", CONTENT, stop_after=HALF)
    refused(mirror, tmp_path, "broke off")
    (tmp_path / "a.txt.part").write_bytes(OTHER[:HALF])
    served.stop_after = None
    digest = {"the list": hashlib.sha256(CONTENT).hexdigest()}
    refused(mirror, tmp_path, "not what its checksum says", checksums=digest)
    assert fetch(mirror, tmp_path, checksums=digest).read_bytes() == CONTENT


def _zip(content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", content)
    return packed.getvalue()


@pytest.mark.parametrize("pack", [gzip.compress, _zip])
def test_damaged_archives_are_refused(mirror: Mirror, tmp_path: Path, pack: Any) -> None:
    packed = pack(os.urandom(5000))
    cut = packed[:-20]
    middle = len(packed) // 2
    changed = packed[:middle] + bytes([packed[middle] ^ 1]) + packed[middle + 1 :]
    for content in (cut, changed):
        mirror.put("/a.gz", content)
        refused(mirror, tmp_path, f"{mirror.address}/a.gz", "nothing was kept", path="/a.gz")
        assert names(tmp_path) == []
    mirror.put("/a.gz", packed)
    assert fetch(mirror, tmp_path, "/a.gz").read_bytes() == packed


def test_an_empty_file_is_refused(mirror: Mirror, tmp_path: Path) -> None:
    mirror.put("/a.txt", b"")
    refused(mirror, tmp_path, "empty")
    assert names(tmp_path) == []


def test_a_full_disk(mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mirror.put("/a.txt", CONTENT)
    usage = shutil.disk_usage(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=100))
        refused(mirror, tmp_path, f"{len(CONTENT):,} bytes are to be fetched, 100 are free")
    with monkeypatch.context() as patch:
        # The disk is filled by somebody else meanwhile.
        patch.setattr(Path, "open", _full(Path.open))
        refused(mirror, tmp_path, "No space left", "CANONYM_DATA_HOME")
    assert fetch(mirror, tmp_path).read_bytes() == CONTENT


def _full(whole: Any) -> Any:
    class Full(io.BytesIO):
        def write(self, *_: Any) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def open_(path: Path, mode: str = "r", *rest: Any, **options: Any) -> Any:
        return (
            Full()
            if path.suffix == ".part" and mode != "rb"
            else whole(path, mode, *rest, **options)
        )

    return open_


def test_a_changed_file_is_not_verified(mirror: Mirror, tmp_path: Path) -> None:
    mirror.put("/a.txt", CONTENT)
    path = fetch(mirror, tmp_path)
    path.write_bytes(OTHER)
    with pytest.raises(ReadError, match="is not the file that was fetched"):
        verified_digest(path)
    downloads.checksum_file(path).write_text("nonsense")
    with pytest.raises(ReadError, match="cannot be read"):
        verified_digest(path)
    downloads.checksum_file(path).unlink()
    with pytest.raises(ReadError, match="cannot be read"):
        verified_digest(path)


def test_checksums_beside_a_file(mirror: Mirror) -> None:
    digest = hashlib.md5(CONTENT).hexdigest()
    mirror.put("/a.md5", f"{digest}  a.txt\n".encode())
    assert fetch_checksum(f"{mirror.address}/a.md5", "a.txt") == digest
    with pytest.raises(InvalidInput, match=r"holds no checksum of b\.txt"):
        fetch_checksum(f"{mirror.address}/a.md5", "b.txt")
    assert fetch_checksum(f"{mirror.address}/b.md5", "b.txt", optional=True) is None
    with pytest.raises(InvalidInput, match="404"):
        fetch_checksum(f"{mirror.address}/b.md5", "b.txt")
    mirror.put("/b.md5", b"", status=500)
    with pytest.raises(InvalidInput, match="500"):
        fetch_checksum(f"{mirror.address}/b.md5", "b.txt", optional=True)


def test_forms_of_checksums() -> None:
    digits = hashlib.sha256(b"").hexdigest()
    assert parse_checksum(digits.upper(), "a") == digits
    assert parse_checksum(f"{'0' * 64} *b\n{digits} *a\n", "a") == digits
    for text in ("", "abc  a", "<html>", f"{digits[:-1]}g  a"):
        with pytest.raises(ValueError, match="no line"):
            parse_checksum(text, "a")


def test_proxies_of_the_environment(
    mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A proxy is asked for the whole address.
    mirror.put("http://nowhere.invalid/a.txt", CONTENT)
    monkeypatch.setenv("http_proxy", mirror.address)
    monkeypatch.delenv("no_proxy", raising=False)
    download("http://nowhere.invalid/a.txt", tmp_path / "a.txt", limit=10**6)
    assert mirror.paths() == ["http://nowhere.invalid/a.txt"]
