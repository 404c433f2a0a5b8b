"""Serves the pods and networks of a folder (objects.h) to a real Multus, as far as it asks an API server for them. What it
writes, the pod's status and events, is taken and forgotten:  api_server.py FOLDER ADDRESS:PORT
"""

import http.server
import json
import pathlib
import sys

ROOT = pathlib.Path(sys.argv[1])
MISSING = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}
EVENT = {"kind": "Event", "apiVersion": "v1", "metadata": {"name": "event"}}


class Objects(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer_with(self.path)

    def do_PUT(self):
        self.take_body()
        self.answer_with(self.path.removesuffix("/status"))

    do_PATCH = do_PUT

    def do_POST(self):
        self.take_body()
        self.answer(201, json.dumps(EVENT).encode())

    def take_body(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def answer_with(self, path):
        file = ROOT / path.split("?")[0].lstrip("/")
        if file.is_file():
            self.answer(200, file.read_bytes())
        else:
            self.answer(404, json.dumps(MISSING).encode())

    def answer(self, code, body):
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


address, port = sys.argv[2].rsplit(":", 1)
http.server.ThreadingHTTPServer((address, int(port)), Objects).serve_forever()
