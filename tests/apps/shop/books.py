"""What the shop itself has counted: `python3 books.py FOLDER` prints it as JSON.

`requests` is from its access log, by `METHOD PATH STATUS`; the rest is from its database. Each order has the session that it was made in.
"""

import json
import sqlite3
import sys
from collections import Counter
from pathlib import Path


def books(folder):
    lines = (Path(folder) / "access.log").read_text().splitlines()
    requests = Counter(line.rpartition(" ")[0] for line in lines)
    database = sqlite3.connect(Path(folder) / "shop.sqlite3")

    def number(query):
        return database.execute(query).fetchone()[0]

    by_user = database.execute("SELECT name, count(*) FROM orders JOIN users ON users.id = user GROUP BY name")
    return {
        "requests": dict(sorted(requests.items())),
        "orders": number("SELECT count(*) FROM orders"),
        "sessions_that_ordered": number("SELECT count(DISTINCT session) FROM orders"),
        "sessions_left": number("SELECT count(*) FROM sessions"),
        "orders_by_user": dict(by_user.fetchall()),
    }


if __name__ == "__main__":
    print(json.dumps(books(sys.argv[1])))
