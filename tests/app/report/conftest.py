"""A real browser without further packages: chromium, headless, spoken to over a pipe in its DevTools protocol."""

import json
import os
import select
import shutil
import subprocess
import time

import pytest

PATIENCE = 60.0  # seconds, for a machine that is busy with other things


class Browser:
    """One tab of chromium, what its pages asked of the network, and what they complained about."""

    def __init__(self, program, profile):
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        switches = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
        switches += ["--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"]
        self._process = subprocess.Popen(
            # The browser reads commands from descriptor 3 and answers on 4; sh knows none above 9.
            ["bash", "-c", f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}', program, *switches],
            pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._number, self._unread, self._session = 0, b"", None
        self.requests, self.complaints, self._loaded = [], [], False

    def start(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method, **params):
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while (answer := self._receive()).get("id") != self._number:
            pass
        assert "error" not in answer, answer
        return answer["result"]

    def _receive(self):
        deadline = time.monotonic() + PATIENCE
        while b"\0" not in self._unread:
            ready, _, _ = select.select([self._in], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, "the browser does not answer"
            heard = os.read(self._in, 1 << 16)
            assert heard, "the browser has ended"
            self._unread += heard
        text, self._unread = self._unread.split(b"\0", 1)
        message = json.loads(text)
        method, params = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Page.loadEventFired":
            self._loaded = True
        elif method in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"):
            self.complaints.append(params)
        return message

    def open(self, path, width=1200, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self._loaded, self.requests[:], self.complaints[:] = False, [], []
        self.call("Page.navigate", url=path.as_uri())
        while not self._loaded:
            self._receive()
        return self

    def ask(self, expression):
        """The value of a JavaScript expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def texts(self, selector):
        return self.ask(f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.textContent)")

    def click(self, selector):
        self.ask(f"document.querySelector({json.dumps(selector)}).click()")

    def close(self):
        self._session = None
        os.close(self._out)  # the browser ends with its pipe
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._in)


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        missing = "no chromium: the page is not tried in a browser (apt-get install chromium)"
        # Only a person may do without; CI has tried to install it.
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(missing)
    one = Browser(program, tmp_path_factory.mktemp("profile"))
    try:
        one.start()
        yield one
    finally:
        one.close()
