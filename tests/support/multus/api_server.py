"""Serves the pods and networks of a folder (objects.h) to a real Multus, as far as it asks an API server for them: GET, LIST
and WATCH. Of what it writes a pod's network-status is kept, in the pod's file; events are taken and forgotten.

    api_server.py FOLDER ADDRESS:PORT [CERTIFICATE KEY]

GET /synced answers when whoever watches has been told of all that was in the folder when it was asked.
"""

import http.server
import itertools
import json
import pathlib
import ssl
import sys
import time

ROOT = pathlib.Path(sys.argv[1])
MISSING = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}
EVENT = {"kind": "Event", "apiVersion": "v1", "metadata": {"name": "event"}}
STATUS = "k8s.v1.cni.cncf.io/network-status"
# The resources that are listed and watched: the folder of each in a namespace, and its kind.
LISTS = {
    "api/v1/pods": ("api/v1/namespaces/*/pods/*", "v1", "Pod"),
    "apis/k8s.cni.cncf.io/v1/network-attachment-definitions": (
        "apis/k8s.cni.cncf.io/v1/namespaces/*/network-attachment-definitions/*",
        "k8s.cni.cncf.io/v1",
        "NetworkAttachmentDefinition",
    ),
}
rounds = {}  # of each watch: how often it has sent everything
numbers = itertools.count()


def fields(message):
    """The members of a protobuf message that have a length: (number, bytes)."""
    place = 0

    def varint():
        nonlocal place
        value = shift = 0
        while True:
            byte = message[place]
            place += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while place < len(message):
        tag = varint()
        if tag & 7 == 2:
            length = varint()
            yield tag >> 3, message[place : place + length]
            place += length
        else:
            varint()  # a pod has no fixed numbers


def annotation(body, key):
    """An annotation of a pod as a client writes it: in JSON, or as k8s.io/apimachinery's runtime.Unknown in protobuf."""
    if not body.startswith(b"k8s\0"):
        return json.loads(body).get("metadata", {}).get("annotations", {}).get(key)
    pod = dict(fields(body[4:]))[2]
    entries = [dict(fields(entry)) for number, entry in fields(dict(fields(pod))[1]) if number == 12]
    return {entry[1]: entry[2] for entry in entries}.get(key.encode(), b"").decode() or None


def listed(path):
    """The objects of a list by their files, each with a version."""
    found = {}
    for file in ROOT.glob(LISTS[path][0]):
        try:
            value = json.loads(file.read_text())
            value["metadata"]["resourceVersion"] = str(file.stat().st_mtime_ns)
            found[file] = value
        except (OSError, ValueError):
            pass  # being written, or removed
    return found


class Objects(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        path = self.path.split("?")[0].strip("/")
        if path == "synced":
            self.wait_for_watchers()
        elif path in LISTS and "watch=" in self.path:
            self.watch(path)
        elif path in LISTS:
            items, version, kind = list(listed(path).values()), *LISTS[path][1:]
            answer = {"kind": kind + "List", "apiVersion": version, "items": items}
            self.answer(200, json.dumps(answer | {"metadata": {"resourceVersion": str(time.time_ns())}}).encode())
        else:
            self.answer_with(path)

    def do_PUT(self):
        path, body = self.path.split("?")[0].strip("/").removesuffix("/status"), self.take_body()
        file = ROOT / path
        if file.is_file():
            pod = json.loads(file.read_text())
            pod["metadata"].setdefault("annotations", {})[STATUS] = annotation(body, STATUS)
            file.write_text(json.dumps(pod))
        self.answer_with(path)

    do_PATCH = do_PUT

    def do_POST(self):
        self.take_body()
        self.answer(201, json.dumps(EVENT).encode())

    def take_body(self):
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def watch(self, path):
        number, told = next(numbers), {}
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        try:
            while True:
                now = listed(path)
                for file in told.keys() - now.keys():
                    self.tell("DELETED", told[file])
                for file, value in now.items():
                    if told.get(file) != value:
                        self.tell("MODIFIED" if file in told else "ADDED", value)
                if number not in rounds and "sendInitialEvents=true" in self.path:
                    self.tell_of_the_beginning(path)
                told, rounds[number] = now, rounds.get(number, 0) + 1
                time.sleep(0.05)
        except OSError:
            rounds.pop(number, None)

    def tell(self, kind, value):
        self.wfile.write(json.dumps({"type": kind, "object": value}).encode() + b"\n")

    def tell_of_the_beginning(self, path):
        mark = {"resourceVersion": str(time.time_ns()), "annotations": {"k8s.io/initial-events-end": "true"}}
        self.tell("BOOKMARK", {"apiVersion": LISTS[path][1], "kind": LISTS[path][2], "metadata": mark})

    def wait_for_watchers(self):
        before = dict(rounds)
        # A round that was under way may have looked too early: the second one has not.
        while any(number in rounds and rounds[number] < count + 2 for number, count in before.items()):
            time.sleep(0.01)
        self.answer(200, b"{}")

    def answer_with(self, path):
        file = ROOT / path
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
server = http.server.ThreadingHTTPServer((address, int(port)), Objects)
if len(sys.argv) > 3:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[3], sys.argv[4])
    server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
