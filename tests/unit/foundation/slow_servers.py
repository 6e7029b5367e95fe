"""Servers on loopback that speak as a test says, for instance one byte at a time."""

import socket
import threading
import time
from contextlib import contextmanager


@contextmanager
def server(speak, tls=None):
    """Serve one connection after another on loopback by `speak(connection)`, and yield the URL."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def run():
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                try:
                    with tls.wrap_socket(connection, server_side=True) if tls else connection as speaking:
                        speaking.recv(65536)
                        speak(speaking)
                except OSError:
                    continue

        threading.Thread(target=run, daemon=True).start()
        yield f"{'https' if tls else 'http'}://localhost:{listening.getsockname()[1]}/keys?a=b"
        listening.shutdown(socket.SHUT_RDWR)


def drip(text):
    def speak(connection):
        for letter in text:
            connection.sendall(bytes([letter]))
            time.sleep(0.2)

    return speak
