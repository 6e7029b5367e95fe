"""As much of lightning.pytorch 2.6 as a callback sees."""


class LightningModule:
    pass


class Callback:
    def on_train_start(self, trainer, pl_module):
        pass

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        pass

    def on_train_end(self, trainer, pl_module):
        pass


class Trainer:
    """Runs batches; every `accumulate_grad_batches` of them make one step of each optimiser, as really."""

    def __init__(
        self,
        *,
        callbacks=(),
        logger=(),
        accumulate_grad_batches=1,
        is_global_zero=True,
        optimisers=1,
        global_step=0,
    ):
        self.callbacks, self.loggers = list(callbacks), list(logger)
        self.is_global_zero, self._each = is_global_zero, accumulate_grad_batches
        self._optimisers, self.global_step = optimisers, global_step

    def fit(self, model, batches):
        first = self.global_step
        for callback in self.callbacks:
            callback.on_train_start(self, model)
        for index, batch in enumerate(batches):
            self.global_step = first + self._optimisers * ((index + 1) // self._each)
            for callback in self.callbacks:
                callback.on_train_batch_end(self, model, None, batch, index)
        for callback in self.callbacks:
            callback.on_train_end(self, model)
