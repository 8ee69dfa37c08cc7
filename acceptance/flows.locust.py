"""The flow of scenarios/07-login-that-stalls/shop.hurl as a user of Locust, for acceptance/flows.py.

Locust has no arrivals, only users: here USERS of them, each with a session every USERS / RATE seconds. Locust starts the users of a
second together; the first sessions of these come APART seconds after each other.
"""

import json
import os
import time
from pathlib import Path

from locust import FastHttpUser, constant_throughput, events, task

RATE = 50
USERS = int(os.environ["USERS"])
APART = float(os.environ["APART"])
THINK_MS = 1500


class Shopper(FastHttpUser):
    host = os.environ["HOST"]
    wait_time = constant_throughput(RATE / USERS)
    first, made = None, 0

    def __init__(self, environment):
        # Locust makes one user after the other; each waits here until it is due.
        Shopper.first = Shopper.first or time.perf_counter()
        time.sleep(max(0, Shopper.first + Shopper.made * APART - time.perf_counter()))
        Shopper.made += 1
        super().__init__(environment)

    @task
    def session(self):
        """A session as a user measures it, from when it begins, less the planned think time."""
        began = time.perf_counter()
        login = self.client.post("/login", data={"user": "ann"})
        if login.status_code != 200:
            return
        headers = {"Authorization": f"Bearer {login.text}"}
        time.sleep(0.5)
        self.client.get("/items", headers=headers)
        time.sleep(1)
        self.client.post("/orders", json={"item": 7}, headers=headers)
        took_ms = (time.perf_counter() - began) * 1000 - THINK_MS
        self.environment.events.request.fire(request_type="SESSION", name="session", response_time=took_ms, response_length=0)


@events.quitting.add_listener
def write_summary(environment, **_):
    """Locust's own figures of the sessions, for flows.py. The maximum is the exact one that its table shows."""
    sessions = environment.stats.get("session", "SESSION")
    quantiles = [sessions.get_response_time_percentile(q) for q in [0.5, 0.9, 0.99]] + [sessions.max_response_time]
    Path(os.environ["SUMMARY"]).write_text(json.dumps({"quantiles": quantiles, "sessions": sessions.num_requests}))
