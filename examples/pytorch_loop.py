"""A training loop that has people judge its samples every few steps, and logs their scores as they arrive.

The generator is a toy; put yours in its place. What matters stands in `train`: samples are submitted and the
loop goes on, and scores of earlier steps are logged at these steps whenever they are there.

    export OPENHYPE_URL=https://study.example.org OPENHYPE_TOKEN_FILE=~/.openhype-token
    python pytorch_loop.py --study faces --run gan --log wandb

Started again after a crash, it submits nothing twice, and logs what has arrived meanwhile.
"""

import argparse

import numpy as np
import torch
from late_scores import LateScores
from tracking import Log, logger

import openhype

SIZE, LATENT = 64, 16


def train(scores: LateScores, log: Log, steps: int, every: int, samples: int) -> None:
    """Train for `steps` steps; submit samples every `every` steps, and log each score at its step."""
    generator = torch.nn.Sequential(torch.nn.Linear(LATENT, 3 * SIZE * SIZE), torch.nn.Sigmoid())
    optimiser = torch.optim.Adam(generator.parameters(), lr=1e-3)
    target = torch.rand(3 * SIZE * SIZE)
    for step in range(1, steps + 1):
        made = generator(torch.randn(32, LATENT))
        loss = torch.nn.functional.mse_loss(made, target.expand(32, -1))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if step % every == 0:
            scores.add(step, pictures(generator, samples, seed=step))
        for at, result in scores.arrived():
            log(at, result)


def pictures(generator: torch.nn.Module, count: int, seed: int) -> np.ndarray:
    """Return samples as uint8, count x height x width x 3; the same ones for the same seed."""
    noise = torch.randn(count, LATENT, generator=torch.Generator().manual_seed(seed))
    with torch.no_grad():
        made = generator(noise).reshape(count, 3, SIZE, SIZE)
    return (255 * made).round().byte().permute(0, 2, 3, 1).cpu().numpy()


def main() -> None:
    """Train, then wait for the scores that are still to come."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--study", required=True)
    parser.add_argument("--run", default="gan")
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--every", type=int, default=1000)
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--folder", default="samples")
    parser.add_argument("--log", choices=["wandb", "trackio", "print"], default="print")
    parser.add_argument("--look-every", type=float, default=30, metavar="SECONDS")
    parser.add_argument("--wait", type=float, default=86_400, metavar="SECONDS", help="for late scores")
    parser.add_argument("--rehearse", action="store_true", help="log scores of simulated evaluators")
    given = parser.parse_args()

    torch.manual_seed(1)
    # without patience: the loop does not wait for a server that is away, and submits later
    client = openhype.Client(patience=0, timeout=15, simulated=given.rehearse)
    scores = LateScores(client, given.study, given.run, given.folder, given.look_every)
    log = logger(given.log, "openhype", given.run)
    train(scores, log, given.steps, given.every, given.samples)
    for at, result in scores.wait(given.wait):
        log(at, result)


if __name__ == "__main__":
    main()
