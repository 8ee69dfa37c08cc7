"""Orders to an endpoint at a steady rate, measured as its users feel it. Against your own: python order_endpoint.py HOST:PORT"""

import http.client
import sys
from contextlib import nullcontext

import truetail


def main() -> None:
    with nullcontext() if sys.argv[1:] else truetail.serve(baseline="200us") as server:
        orders = http.client.HTTPConnection(sys.argv[1] if server is None else f"{server.host}:{server.port}", timeout=5)

        def send_order() -> None:
            orders.request("POST", "/api/orders", '{"side": "BUY", "qty": 1.0, "price": 43000.0}')
            orders.getresponse().read()

        result = truetail.bench(send_order, rate=1000, duration="10s", warmup="2s", progress=True)
    print(result.table())


if __name__ == "__main__":
    main()
