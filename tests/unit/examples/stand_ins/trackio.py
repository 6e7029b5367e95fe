"""As much of trackio 0.43 as the examples use."""

ROWS = []
_started = False


def init(project, name=None, *, resume="never"):
    global _started
    assert resume in ("must", "allow", "never")
    _started = True


def log(metrics, step=None):
    assert _started, "Call trackio.init() before trackio.log()."
    ROWS.append((step, dict(metrics)))
