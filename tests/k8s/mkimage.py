#!/usr/bin/env python3
"""mkimage.py NAME OUT.tar PROGRAM=PLACE FILE=PLACE…: an image with this program, these files and nothing else, as `docker save` lays it
out. A program that is not static gets its libraries too."""

import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile


def libraries(binary):
    """The files that the dynamic linker would load, itself included."""
    listed = subprocess.run(["ldd", binary], capture_output=True, text=True)
    return re.findall(r"(/\S+) \(0x", listed.stdout) if listed.returncode == 0 else []


def layer(files):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for source, place in files:
            info = tarfile.TarInfo(place.lstrip("/"))
            info.mode, info.size = 0o755, os.path.getsize(source)
            with open(source, "rb") as file:
                tar.addfile(info, file)
    return out.getvalue()


def main():
    name, target, *given = sys.argv[1:]
    files = [tuple(one.split("=")) for one in given]
    program, entry = files[0]
    content = layer(files + [(os.path.realpath(path), path) for path in libraries(program)])
    config = json.dumps({
        "architecture": "amd64", "os": "linux", "config": {"Entrypoint": [entry]},
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(content).hexdigest()]},
    }).encode()
    named = hashlib.sha256(config).hexdigest() + ".json"
    manifest = json.dumps([{"Config": named, "RepoTags": [name], "Layers": ["layer.tar"]}]).encode()
    with tarfile.open(target, "w") as tar:
        for path, part in ((named, config), ("layer.tar", content), ("manifest.json", manifest)):
            info = tarfile.TarInfo(path)
            info.size = len(part)
            tar.addfile(info, io.BytesIO(part))


main()
