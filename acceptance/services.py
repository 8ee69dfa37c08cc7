"""The services of spans.py and scrapes.py: Node.js, Python and Go, with what they need, in a folder that is kept between calls."""

import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCES = HERE / "services"
BINARY = os.environ.get("TRUETAIL", str(HERE.parent / "target/release/truetail"))
CACHE = Path(os.environ.get("TRUETAIL_TOOLS") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "truetail/tools")
HOME = CACHE / "services"
NAMES = ["node", "python", "go"]


def need(program, package):
    return shutil.which(program) or sys.exit(f"{program} is missing; Debian's package is {package}")


def installed(name, lists, install):
    """The folder of a service. Installs it unless the same lists of packages are installed already."""
    home = HOME / name
    wanted = "".join((SOURCES / name / each).read_text() for each in lists)
    if not (home / "installed").exists() or (home / "installed").read_text() != wanted:
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        install(home)
        (home / "installed").write_text(wanted)
    return home


def run(*words, **options):
    subprocess.run([str(word) for word in words], check=True, **options)


def node(spans):
    def install(home):
        shutil.copy(SOURCES / "node/package.json", home)
        run(need("npm", "nodejs"), "install", "--silent", "--no-audit", "--no-fund", "--prefix", home)
    home = installed("node", ["package.json"], install)
    for source in ("serve.cjs", "tracing.cjs"):
        shutil.copy(SOURCES / "node" / source, home)
    return [need("node", "nodejs"), *(["--require", home / "tracing.cjs"] if spans else []), home / "serve.cjs"]


def python(spans):
    def install(home):
        run(sys.executable, "-m", "venv", home / "venv")
        run(home / "venv/bin/pip", "install", "--quiet", "-r", SOURCES / "python/requirements.txt")
    bin_ = installed("python", ["requirements.txt"], install) / "venv/bin"
    return [*([bin_ / "opentelemetry-instrument"] if spans else []), bin_ / "python3", SOURCES / "python/serve.py"]


def go(_):
    build = lambda home: run(need("go", "golang"), "build", "-o", home / "serve", ".", cwd=SOURCES / "go")
    return [installed("go", ["main.go", "go.mod"], build) / "serve"]


COMMANDS = {"node": node, "python": python, "go": go}


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextmanager
def started(words, **options):
    process = subprocess.Popen([str(word) for word in words], **options)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextmanager
def service(name, database=None, otlp=None):
    """A service that listens: its address and its process."""
    environment = dict(os.environ, PYTHONUNBUFFERED="1")
    if database:
        environment["DATABASE"] = database
    if otlp:
        environment |= {
            "OTEL_SERVICE_NAME": name,
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{otlp}",
            "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
            "OTEL_TRACES_EXPORTER": "otlp",
            "OTEL_METRICS_EXPORTER": "none",
            "OTEL_LOGS_EXPORTER": "none",
            "OTEL_BSP_SCHEDULE_DELAY": "500",
        }
    with started(COMMANDS[name](bool(otlp)), env=environment, stdout=subprocess.PIPE, text=True) as process:
        line = process.stdout.readline().strip()
        if not line.startswith("http://"):
            sys.exit(f"the service in {name} does not start: {line}")
        yield line, process


def wait_for(port, process, what):
    deadline = time.monotonic() + 20
    while True:
        if process.poll() is not None or time.monotonic() > deadline:
            sys.exit(f"{what} does not start")
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)


def machine():
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return f"{os.cpu_count()} processors, load average {load}"
