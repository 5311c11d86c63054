"""Git repositories over HTTPS: git's own http-backend behind a TLS server on loopback that requires a token.

As with a forge, the user name is `x-access-token` and the password is the token.
"""

import base64
import os
import ssl
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


def git(*words, cwd):
    author = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    return subprocess.run(["git", *author, *words], cwd=cwd, check=True, capture_output=True, text=True).stdout.strip()


def certificate_in(place):
    """Creates a self-signed certificate for loopback; returns its file and its key file."""
    cert, key = place / "cert.pem", place / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-keyout", key, "-out", cert, "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"], check=True, capture_output=True)
    return cert, key


class GitServer:
    """Serves `place`/app.git to clients that have the token. `requests` has the requests and the status of each
    answer. While `gate` is not set, no request is answered."""

    def __init__(self, place, token):
        place.mkdir()
        self.place, self.token, self.requests = place, token, []
        self.gate = threading.Event()
        self.gate.set()
        source = place / "source"
        source.mkdir()
        git("init", "-q", "-b", "trunk", cwd=source)
        (source / "hello.txt").write_text("hello over https\n")
        git("add", ".", cwd=source)
        git("commit", "-q", "-m", "first", cwd=source)
        git("clone", "-q", "--bare", str(source), str(place / "app.git"), cwd=place)
        git("config", "http.receivepack", "true", cwd=place / "app.git")
        self.certificate, key = certificate_in(place)
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.http.daemon_threads = True
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, key)
        self.http.socket = context.wrap_socket(self.http.socket, server_side=True)
        self.url = f"https://127.0.0.1:{self.http.server_port}/app.git"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def stop(self):
        self.gate.set()
        self.http.shutdown()
        self.http.server_close()

    def _handler(self):
        backend = Path(subprocess.run(["git", "--exec-path"], capture_output=True, text=True, check=True).stdout.strip())
        wanted = "Basic " + base64.b64encode(f"x-access-token:{self.token}".encode()).decode()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def answer(self, status, headers, body):
                server.requests.append((self.command, self.path, status))
                self.send_response(status)
                for name, value in headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def body(self):
                if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
                    return self.rfile.read(int(self.headers.get("Content-Length", 0)))
                parts = []
                while size := int(self.rfile.readline().split(b";")[0], 16):
                    parts.append(self.rfile.read(size))
                    self.rfile.readline()
                self.rfile.readline()
                return b"".join(parts)

            def do_GET(self):
                body = self.body()
                server.gate.wait()
                if self.headers.get("Authorization") != wanted:
                    return self.answer(401, [("WWW-Authenticate", 'Basic realm="repositories"')], b"who are you?\n")
                path, _, query = self.path.partition("?")
                ran = subprocess.run(
                    [backend / "git-http-backend"], input=body, capture_output=True, check=True,
                    env={"PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": str(server.place), "GIT_HTTP_EXPORT_ALL": "1",
                         "PATH_INFO": path, "QUERY_STRING": query, "REQUEST_METHOD": self.command,
                         "CONTENT_TYPE": self.headers.get("Content-Type", ""), "REMOTE_USER": "runner",
                         "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                         "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", "")}).stdout
                head, _, rest = ran.partition(b"\r\n\r\n")
                headers = [tuple(line.split(": ", 1)) for line in head.decode().split("\r\n")]
                status = next((int(value.split()[0]) for name, value in headers if name == "Status"), 200)
                return self.answer(status, [each for each in headers if each[0] != "Status"], rest)

            do_POST = do_GET

        return Handler
