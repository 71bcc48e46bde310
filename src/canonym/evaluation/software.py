"""The software that can change the figures of an evaluation."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

import canonym
from canonym.encoders.saved import ENCODER_MANIFEST, read_encoder_manifest
from canonym.linker import Linker

_LIBRARIES = {"transformer": ("torch", "transformers"), "onnx": ("onnxruntime",)}
_FINDERS = {
    "ab3p": "Ab3P (pyab3p)",
    "schwartz-hearst": "Schwartz and Hearst (built in)",
    None: "not looked for",
}


def software_of(linker: Linker, engine: str | None) -> dict[str, str]:
    """Return the versions of all that encodes names, finds abbreviations and counts."""
    saved = linker.folder.glob(f"encoder-*/**/{ENCODER_MANIFEST}")
    kinds = {read_encoder_manifest(file.parent)[0] for file in saved}
    packages = ["numpy", "scipy"]
    packages += [name for kind in sorted(kinds) for name in _LIBRARIES.get(kind, ())]
    packages += ["pyab3p"] if engine == "ab3p" else []
    return {
        "canonym": canonym.__version__,
        "Python": platform.python_version(),
        **{package: _version(package) for package in packages},
    }


def finder_title(engine: str | None) -> str:
    """Name what found the abbreviations of documents; None is nothing."""
    return _FINDERS[engine]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # another build of it, such as onnxruntime-gpu
        return "of another build"
