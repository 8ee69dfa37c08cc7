"""Hurl's own test server, which writes down what it was asked: for acceptance/hurl_files.py, in Hurl's folder integration/hurl.

For each line on standard input, the name of a file, the server starts afresh on port 8000, as Hurl's files expect, and logs each request
to that file as a line of JSON; `ready` on standard output says so. What is posted to /__captured is logged too, and answered here.
"""

import json
import os
import re
import signal
import socket
import sys
from io import BytesIO
from urllib.parse import unquote

from werkzeug.serving import WSGIRequestHandler, make_server

# What a client says of itself, or of its connection.
OWN = {"host", "user-agent", "accept-encoding", "connection", "content-length"}


class QuietHandler(WSGIRequestHandler):
    def log(self, *_):
        pass


def logging(app, log):
    def answer(environ, start_response):
        length = environ.get("CONTENT_LENGTH") or "0"
        if length.isdecimal() and int(length) < 1 << 20:
            body = environ["wsgi.input"].read(int(length))
            environ["wsgi.input"] = BytesIO(body)
        else:
            body = f"{length} bytes".encode()
        # Some answers of Hurl's server depend on who asks.
        environ["HTTP_USER_AGENT"] = re.sub(r"^truetail/", "hurl/", environ.get("HTTP_USER_AGENT", ""))
        headers = {key[5:].replace("_", "-").lower(): value for key, value in environ.items() if key.startswith("HTTP_")}
        headers["content-type"] = environ.get("CONTENT_TYPE", "")
        boundary = headers["content-type"].partition("boundary=")[2]
        if boundary:
            body = body.replace(boundary.encode(), b"BOUNDARY")
            headers["content-type"] = headers["content-type"].replace(boundary, "BOUNDARY")
        kept = {key: value for key, value in sorted(headers.items()) if key not in OWN}
        # Hurl sends { and the like as they are, truetail encodes them.
        line = [environ["REQUEST_METHOD"], unquote(environ.get("RAW_URI", "")), kept, body.decode("latin-1")]
        print(json.dumps(line), file=log, flush=True)
        if environ["PATH_INFO"] == "/__captured":
            start_response("200 OK", [])
            return [b""]
        return app(environ, start_response)

    return answer


def serve(app, listener, path):
    with open(path, "w") as log:
        make_server("127.0.0.1", 8000, logging(app, log), True, request_handler=QuietHandler, fd=listener.fileno()).serve_forever()


def main():
    sys.path.insert(0, "")
    from app import app, load_tests

    said, sys.stdout = sys.stdout, sys.stderr
    load_tests()
    listener = socket.create_server(("127.0.0.1", 8000), backlog=128)
    child = None
    for line in sys.stdin:
        if child:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        child = os.fork()
        if not child:
            serve(app, listener, line.strip())
        print("ready", file=said, flush=True)
    os.kill(child, signal.SIGKILL)


if __name__ == "__main__":
    main()
