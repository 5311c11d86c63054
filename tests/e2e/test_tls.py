"""TLS on either listener."""

import json
import socket
import ssl
import subprocess

import httpx
import pytest
import websockets.sync.client

from server import DidNotStart
from tasks import note


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    place = tmp_path_factory.mktemp("tls")
    cert, key = place / "cert.pem", place / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-keyout", key, "-out", cert, "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"], check=True, capture_output=True)
    return cert, key


def config_of(certificate, ports=("public", "internal")):
    cert, key = certificate
    return "".join(f"{port}:\n  tls:\n    cert: {cert}\n    key: {key}\n" for port in ports)


def test_everything_over_tls(make_server, certificate):
    server = make_server(config=config_of(certificate)).start()
    assert server.public.startswith("https://") and server.internal.startswith("https://")
    context = ssl.create_default_context(cafile=certificate[0])
    with httpx.Client(verify=context, headers=server.headers(), trust_env=False) as client:
        task = client.post(f"{server.public}/api/v1/tasks", json={"prompt": "secret work"}).json()["id"]
        for i in range(20):
            answer = client.post(f"{server.internal}/api/v1/tasks/{task}/events", json=note(f"{i} " + "x" * 30_000))
            assert answer.status_code == 200
        url = f"wss{server.public.removeprefix('https')}/api/v1/tasks/{task}/events"
        with websockets.sync.client.connect(url, ssl=context, additional_headers=server.headers(), max_size=None) as feed:
            seen = []
            while len(seen) < 20:
                message = json.loads(feed.recv(15))
                if message["type"] == "task_event":
                    seen.append(message["data"]["sequence"])
            assert seen == list(range(1, 21))
        with client.stream("GET", f"{server.public}/api/v1/tasks/{task}/events?tail=1",
                           headers={"Accept": "text/event-stream"}) as answer:
            assert answer.status_code == 200
            assert b"id:" in next(answer.iter_raw())
    assert server.stop() == 0


def test_plain_http_on_a_tls_port(make_server, certificate):
    server = make_server(config=config_of(certificate, ("public",))).start()
    host, port = server.public.removeprefix("https://").split(":")
    with socket.create_connection((host, int(port)), timeout=15) as plain:
        plain.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        try:
            answer = plain.recv(4096)
        except ConnectionResetError:  # it closes with our bytes unread
            answer = b""
        assert answer == b"", "nothing is said in the clear"
    with httpx.Client(verify=ssl.create_default_context(cafile=certificate[0]), trust_env=False) as client:
        assert client.get(server.public + "/healthz").status_code == 200


TLS_1_2 = b"\x03\x03"
HANDSHAKE, ALERT, SERVER_HELLO = 0x16, 0x15, 2
FATAL, HANDSHAKE_FAILURE, PROTOCOL_VERSION = 2, 40, 70


def vector(size, content):
    return len(content).to_bytes(size, "big") + content


def client_hello(version):
    """The hello of a client that supports nothing newer. OpenSSL itself would refuse to be that old before sending."""
    suites = b"\xc0\x2b\xc0\x2c\xc0\x09\xc0\x0a\x00\x2f\x00\x35"  # ECDHE-ECDSA with GCM and CBC, RSA with CBC
    extensions = (b"\x00\x0a" + vector(2, vector(2, b"\x00\x17"))  # the curve P-256
                  + b"\x00\x0b" + vector(2, vector(1, b"\x00"))  # as plain points
                  + b"\x00\x0d" + vector(2, vector(2, b"\x04\x03\x02\x03")))  # signed by ECDSA, SHA-256 or SHA-1
    body = version + bytes(32) + vector(1, b"") + vector(2, suites) + vector(1, b"\x00") + vector(2, extensions)
    return bytes([HANDSHAKE]) + b"\x03\x01" + vector(2, b"\x01" + vector(3, body))


def first_record(server, hello):
    host, port = server.public.removeprefix("https://").split(":")
    with socket.create_connection((host, int(port)), timeout=15) as raw:
        raw.sendall(hello)
        answer = b""
        while chunk := raw.recv(65536):
            answer += chunk
            if len(answer) >= 5 and len(answer) >= 5 + int.from_bytes(answer[3:5], "big"):
                break
    return answer[0], answer[5:]


@pytest.mark.parametrize("version,alert", [(b"\x03\x00", HANDSHAKE_FAILURE), (b"\x03\x01", PROTOCOL_VERSION), (b"\x03\x02", PROTOCOL_VERSION)],
                         ids=["SSL 3", "TLS 1.0", "TLS 1.1"])
def test_old_tls_is_refused_by_the_server(make_server, certificate, version, alert):
    server = make_server(config=config_of(certificate, ("public",))).start()
    kind, content = first_record(server, client_hello(TLS_1_2))
    assert (kind, content[0]) == (HANDSHAKE, SERVER_HELLO), "the same hello of TLS 1.2 is taken"
    assert first_record(server, client_hello(version)) == (ALERT, bytes([FATAL, alert]))


def test_no_cbc_suites_in_tls_1_2(make_server, certificate):
    server = make_server(config=config_of(certificate, ("public",))).start()
    host, port = server.public.removeprefix("https://").split(":")

    def suite(ciphers):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.set_ciphers(ciphers)
        with socket.create_connection((host, int(port)), timeout=15) as raw, context.wrap_socket(raw) as secure:
            return secure.cipher()[0]

    assert "GCM" in suite("ALL")
    for old in ("ECDHE-ECDSA-AES128-SHA", "ECDHE-ECDSA-AES256-SHA384", "ECDHE-ECDSA-AES128-SHA256"):
        with pytest.raises(ssl.SSLError) as refused:
            suite(old + ":@SECLEVEL=0")
        assert refused.value.reason == "SSLV3_ALERT_HANDSHAKE_FAILURE", "the server's word, not our own"


def test_browsers_are_told_to_stay_with_tls_where_the_name_is_ours(make_server, certificate):
    server = make_server(config=config_of(certificate, ("public",)) + "  hosts: [tower.example]\n").start()
    with httpx.Client(verify=ssl.create_default_context(cafile=certificate[0]), trust_env=False) as client:
        own = client.get(server.public + "/", headers={"Host": "tower.example"})
        assert own.status_code == 200 and own.headers["strict-transport-security"] == "max-age=31536000"
        # The header would apply to every port of this machine.
        for host in ("localhost", "127.0.0.1:8443"):
            assert "strict-transport-security" not in client.get(server.public + "/", headers={"Host": host}).headers


def test_the_session_cookie_over_tls(make_server, certificate):
    server = make_server(config=config_of(certificate, ("public",))).start()
    context = ssl.create_default_context(cafile=certificate[0])
    with httpx.Client(verify=context, base_url=server.public, trust_env=False) as client:
        link = client.post("/api/v1/login-links", headers=server.headers()).json()
        assert link["url"] == server.public + link["path"], "a certificate knows its own names"
        answer = client.get(link["path"], headers={"Sec-Fetch-Mode": "navigate"})
        assert answer.status_code == 303
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith("__Host-shepherd_session=shs_") and "; Secure" in cookie and "; Path=/" in cookie
        assert "domain" not in cookie.lower()
        assert client.get("/api/v1/whoami", headers={"Cookie": cookie.split(";")[0]}).status_code == 200
        plain = cookie.split(";")[0].removeprefix("__Host-")
        client.cookies.clear()
        assert client.get("/api/v1/whoami", headers={"Cookie": plain}).status_code == 401


def test_bad_certificate_files(make_server, certificate, tmp_path):
    (tmp_path / "junk.pem").write_text("junk")
    for name, cert, key in (("a", tmp_path / "none.pem", certificate[1]), ("b", tmp_path / "junk.pem", certificate[1])):
        server = make_server(name=name, config=config_of((cert, key), ("public",)))
        with pytest.raises(DidNotStart) as refused:
            server.start()
        assert refused.value.code > 0 and cert.name in refused.value.text
