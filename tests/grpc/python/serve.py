"""A gRPC server with a known truth, on grpcio: it fails every nth call, and counts its calls and the messages of streams.

Options are -name=value, as for the servers in Go, Node.js and Rust beside it; times are in milliseconds.
"""

import collections
import concurrent.futures
import json
import pathlib
import signal
import sys
import threading
import time

import grpc
from grpc_reflection.v1alpha import reflection

options = dict(word.removeprefix("-").split("=", 1) for word in sys.argv[1:])
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
protos, services = grpc.protos_and_services("truth.proto")


def milliseconds(name: str) -> int:
    return int(options.get(name, "0ms").removesuffix("ms"))


class Books:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.calls = self.received = self.sent = self.open = self.most_open = 0
        self.counts: collections.Counter[str] = collections.Counter()

    def enter(self, context) -> int:
        """The number of a call. That of a preflight is -1, and it counts nowhere."""
        if any(key == "truetail-preflight" for key, _ in context.invocation_metadata()):
            return -1
        with self.lock:
            self.calls += 1
            self.open += 1
            self.most_open = max(self.most_open, self.open)
            return self.calls

    def leave(self, number: int, context) -> None:
        every = int(options.get("fail-every", "0"))
        fails = every > 0 and number > 0 and number % every == 0
        if number > 0:
            with self.lock:
                self.open -= 1
                self.counts["UNAVAILABLE" if fails else "OK"] += 1
        if fails:
            context.abort(grpc.StatusCode.UNAVAILABLE, "no room, 100% full")

    def count(self, number: int, what: str) -> None:
        if number > 0:
            with self.lock:
                setattr(self, what, getattr(self, what) + 1)


# Threads that are started from here on leave the signal to the end of this file.
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
books = Books()


def reply(name: str):
    return protos.HelloReply(message=f"hello {name}")


class Greeter(services.GreeterServicer):
    def SayHello(self, request, context):
        number = books.enter(context)
        time.sleep(milliseconds("gap") / 1000)
        books.leave(number, context)
        return reply(request.name)

    def SayMany(self, request, context):
        number = books.enter(context)
        for _ in range(request.count):
            books.count(number, "sent")
            yield reply(request.name)
            time.sleep(milliseconds("gap") / 1000)
        books.leave(number, context)

    def Collect(self, requests, context):
        number = books.enter(context)
        names = 0
        for names, _ in enumerate(requests, 1):
            books.count(number, "received")
        books.leave(number, context)
        books.count(number, "sent")
        return reply(str(names))

    def Chat(self, requests, context):
        number = books.enter(context)
        for request in requests:
            books.count(number, "received")
            books.count(number, "sent")
            yield reply(request.name)
        books.leave(number, context)


settings = [("grpc.so_reuseport", 0)]
if "max-streams" in options:
    settings.append(("grpc.max_concurrent_streams", int(options["max-streams"])))
if "max-age" in options:
    settings += [("grpc.max_connection_age_ms", milliseconds("max-age")), ("grpc.max_connection_age_grace_ms", 5000)]
if "keepalive" in options:
    settings += [("grpc.keepalive_time_ms", milliseconds("keepalive")), ("grpc.keepalive_timeout_ms", 500)]
compression = grpc.Compression.Gzip if "gzip" in options else None
server = grpc.server(concurrent.futures.ThreadPoolExecutor(64), options=settings, compression=compression)
services.add_GreeterServicer_to_server(Greeter(), server)
if options.get("reflection") != "false":
    reflection.enable_server_reflection(("truth.Greeter", reflection.SERVICE_NAME), server)
if "cert" in options:
    read = {name: pathlib.Path(options[name]).read_bytes() for name in ("key", "cert", "client-ca") if name in options}
    credentials = grpc.ssl_server_credentials(
        [(read["key"], read["cert"])], read.get("client-ca"), require_client_auth="client-ca" in read
    )
    port = server.add_secure_port("127.0.0.1:0", credentials)
else:
    port = server.add_insecure_port("127.0.0.1:0")
server.start()
print(f"127.0.0.1:{port}", flush=True)
signal.sigwait({signal.SIGTERM})
server.stop(0).wait()
counted = {name: getattr(books, name) for name in ("calls", "counts", "received", "sent", "most_open")}
print(json.dumps(counted), flush=True)
