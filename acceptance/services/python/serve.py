"""A service in Python: /items asks PostgreSQL, /plain waits for 20 ms, /metrics is prometheus_client's.

With the header `x-stall: handler`, every 20th answer of /items waits for 150 ms in the handler. For spans, start it by
`opentelemetry-instrument python3 serve.py`.
"""

import itertools
import os
import time

import flask
import prometheus_client
import waitress
from psycopg2.pool import ThreadedConnectionPool

THREADS = 100
BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]
app = flask.Flask("items")
seconds = prometheus_client.Histogram("http_request_duration_seconds", "Time of a request", ["path"], buckets=BUCKETS)
pool = ThreadedConnectionPool(THREADS, THREADS, os.environ["DATABASE"]) if "DATABASE" in os.environ else None
asked = itertools.count(1)


@app.get("/items")
def items():
    with seconds.labels("/items").time():
        number = next(asked)
        if flask.request.headers.get("x-stall") == "handler" and number % 20 == 0:
            time.sleep(0.15)
        connection = pool.getconn()
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT name FROM items WHERE id = %s", (1 + number % 10,))
                return cursor.fetchone()[0]
        finally:
            connection.commit()
            pool.putconn(connection)


@app.get("/plain")
def plain():
    with seconds.labels("/plain").time():
        time.sleep(0.02)
        return "plain"


@app.get("/metrics")
def metrics():
    return flask.Response(prometheus_client.generate_latest(), content_type=prometheus_client.CONTENT_TYPE_LATEST)


if __name__ == "__main__":
    # By default waitress accepts no more than 100 connections, and a stop of a second opens as many.
    server = waitress.create_server(app, host="127.0.0.1", port=int(os.environ.get("PORT", 0)), threads=THREADS, connection_limit=1000)
    print(f"http://127.0.0.1:{server.effective_port}", flush=True)
    server.run()
