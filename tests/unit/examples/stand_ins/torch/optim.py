"""Optimisers that only check the order of calls."""

HAS_GRADIENTS = [False]


class Adam:
    def __init__(self, params, lr=1e-3):
        assert list(params), "optimizer got an empty parameter list"
        self.lr = lr

    def zero_grad(self, set_to_none=True):
        HAS_GRADIENTS[0] = False

    def step(self):
        assert HAS_GRADIENTS[0], "step before backward"
