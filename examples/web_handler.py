"""A web service that chooses the colour of a button and learns from clicks: python web_handler.py FILE PORT.

GET /choose?visit=NAME returns a decision; POST /choose with its id and the reward reports the outcome. Both
are idempotent. A restarted service continues where it stopped, and several may share one file.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import lowregret as lr

STATUS = {lr.UnknownDecisionError: 404, lr.ConflictError: 409, lr.StoreError: 503, lr.InputError: 400}


class Handler(BaseHTTPRequestHandler):
    """Asks and tells; threads may share the agent."""

    timeout = 10  # seconds, for a client that announces a body and sends nothing
    most = 10_000  # bytes of a body

    def do_GET(self):
        self.do_POST()

    def do_POST(self):
        address = urlsplit(self.path)
        try:
            if address.path != "/choose":  # a browser also asks for /favicon.ico
                status, body = 404, {"error": "ask for /choose"}
            elif self.command == "GET":
                choice = agent.ask(request=parse_qs(address.query).get("visit", [None])[0])
                status, body = 200, {"id": choice.id, "arm": choice.arm}
            else:
                length = int(self.headers["Content-Length"])
                if not 0 <= length <= self.most:
                    raise ValueError(f"a body has 0 to {self.most} bytes, not {length}")
                sent = json.loads(self.rfile.read(length))
                status, body = 200, {"new": agent.tell(sent["id"], sent["reward"])}
        except lr.LowRegretError as error:
            status, body = STATUS[type(error)], {"error": str(error)}
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            status, body = 400, {"error": f"send an id and a reward: {error}"}
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())


class Server(ThreadingHTTPServer):
    """A thread for each client."""

    request_queue_size = 128  # clients that may wait to be accepted; 5 by default


if __name__ == "__main__":
    agent = lr.open_agent(sys.argv[1], lr.EUCBV(), ["A", "B", "C"], seed=1, name="button").compile()
    server = Server(("127.0.0.1", int(sys.argv[2])), Handler)
    print(f"http://127.0.0.1:{server.server_port}/choose", flush=True)
    server.serve_forever()
