"""A server that can be stopped, and what can go wrong between it and a browser."""

import threading
import time

from backend.web.server import listen, make_server


class Between:
    """What stands between browser and application: it may keep replies back, or break them off."""

    def __init__(self, app):
        self.app, self.delay_s, self.cuts = app, 0, 0

    def __call__(self, environ, start_response):
        is_answer = environ["PATH_INFO"].endswith("/answers")
        reply = self.app(environ, start_response)
        if is_answer and self.delay_s:
            time.sleep(self.delay_s)
        if is_answer and self.cuts:
            self.cuts -= 1
            return self.cut_off(b"".join(reply))
        return reply

    @staticmethod
    def cut_off(body):
        yield body[: len(body) // 2]
        raise ConnectionResetError


class Machine:
    """The server, which can be stopped and started again at its address."""

    def __init__(self, app):
        self.app, self.port = app, 0
        self.start()

    def start(self):
        self.server = make_server(self.app, listen("127.0.0.1", self.port))
        self.port = self.server.effective_port
        self.thread = threading.Thread(target=self.server.run, daemon=True)
        self.thread.start()

    def stop(self):
        self.server.close()
        for channel in list(self.server.active_channels.values()):
            channel.will_close = True
        self.thread.join(timeout=60)
        self.server.task_dispatcher.shutdown()
