"""A web service that chooses the colour of a button and learns from clicks: python web_handler.py FILE PORT.

GET /choose?visit=NAME gives a decision, and POST /choose with its id and reward says what came of it. Both
may be repeated without harm; after a restart it goes on where it was, and several may share one file.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import lowregret as lr


class Handler(BaseHTTPRequestHandler):
    """Asks and tells; the agent lets threads wait for one another."""

    timeout = 10  # seconds, for one who says that more is to come and sends nothing

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
                told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, body = 200, {"new": agent.tell(told["id"], told["reward"])}
        except lr.StoreError as error:  # the disk is full, say
            status, body = 503, {"error": str(error)}
        except (lr.LowRegretError, KeyError, TypeError, ValueError) as error:
            status, body = 400, {"error": str(error)}
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())


if __name__ == "__main__":
    agent = lr.open_agent(sys.argv[1], lr.EUCBV(), ["red", "green", "blue"], seed=1)
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler)
    print(f"http://127.0.0.1:{server.server_port}/choose", flush=True)
    server.serve_forever()
