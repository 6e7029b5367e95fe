"""As much of lightning.pytorch 2.6 as a callback sees."""


class LightningModule:
    pass


class Callback:
    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        pass

    def on_train_end(self, trainer, pl_module):
        pass


class Trainer:
    """Runs batches; every `accumulate_grad_batches` of them make one optimiser step, as really."""

    def __init__(self, *, callbacks=(), logger=(), accumulate_grad_batches=1, is_global_zero=True):
        self.callbacks, self.loggers = list(callbacks), list(logger)
        self.is_global_zero, self._each, self.global_step = is_global_zero, accumulate_grad_batches, 0

    def fit(self, model, batches):
        for index, batch in enumerate(batches):
            self.global_step = (index + 1) // self._each
            for callback in self.callbacks:
                callback.on_train_batch_end(self, model, None, batch, index)
        for callback in self.callbacks:
            callback.on_train_end(self, model)
