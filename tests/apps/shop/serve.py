"""The shop: `python serve.py FOLDER [PROCESSES]` prepares a database in an empty folder and serves it on a free port of loopback.

The first line on standard output is `http=http://127.0.0.1:PORT`. The folder gets `users.csv`, with name and password of each user,
and `access.log`, a line a request that was answered: method, path, status, port of the client. SIGTERM ends it after it has answered.
"""

import os
import sys
from pathlib import Path

from gunicorn.app.base import BaseApplication

USERS = 100
ITEMS = [("teapot", 1850), ("cup", 420), ("saucer", 300), ("spoon", 175)]
THREADS = 8


class Server(BaseApplication):
    """gunicorn with the shop in it."""

    def __init__(self, folder, processes):
        self.settings = {
            "bind": "127.0.0.1:0",
            "workers": processes,
            "threads": THREADS,
            # A connection that is idle for less is not closed under a request that is on its way.
            "keepalive": 600,
            "accesslog": str(folder / "access.log"),
            "access_log_format": "%(m)s %(U)s %(s)s %({REMOTE_PORT}e)s",
            "errorlog": str(folder / "error.log"),
            # One in the home folder, for a program that nobody calls here.
            "control_socket_disable": True,
            "when_ready": say_origin,
        }
        super().__init__()

    def load_config(self):
        for name, value in self.settings.items():
            self.cfg.set(name, value)

    def load(self):
        from django.core.wsgi import get_wsgi_application

        return get_wsgi_application()


def say_origin(server):
    host, port = server.LISTENERS[0].sock.getsockname()
    print(f"http=http://{host}:{port}", flush=True)


def prepare(folder):
    """Tables, items and users; the users also as rows of data."""
    import django
    from django.core.management import call_command
    from django.db import connection

    django.setup()
    call_command("migrate", run_syncdb=True, verbosity=0)
    from django.contrib.auth.models import User
    from django.contrib.auth.hashers import make_password

    from shop.models import Item

    Item.objects.bulk_create(Item(name=name, price_cents=price) for name, price in ITEMS)
    users = [(f"user{number:03}", f"pass word&{number:03}") for number in range(USERS)]
    User.objects.bulk_create(User(username=name, password=make_password(password)) for name, password in users)
    rows = "".join(f"{name},{password}\n" for name, password in users)
    (folder / "users.csv").write_text(f"user,password\n{rows}")
    # Its processes open their own.
    connection.close()


def main():
    folder = Path(sys.argv[1]).resolve()
    processes = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    os.environ["SHOP_FOLDER"] = str(folder)
    os.environ["DJANGO_SETTINGS_MODULE"] = "shop.settings"
    prepare(folder)
    Server(folder, processes).run()


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    main()
