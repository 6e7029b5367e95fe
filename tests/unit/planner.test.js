import assert from "node:assert/strict";
import { test } from "node:test";

import { refreshOf } from "../../frontend/task/frames.js";
import { isAsPlanned, phaseAt, planPhases, timingOfCallbacks } from "../../frontend/task/planner.js";
import { runSequence } from "../../frontend/task/sequence.js";
import { makeDisplay, randomFrom } from "./display.js";

const HZ_60 = 1000 / 60;
const RATES = [60, 75, 90, 120, 144, 240];
const RUNS = 300; // of each rate
const COUNTDOWN_MS = [500, 500, 500];
const PICTURE = COUNTDOWN_MS.length;
const GATE_FRAMES = 7;

const times = (count, make) => Array.from({ length: count }, (_, i) => make(i));
const differences = (edges) => edges.slice(1).map((edge, i) => edge - edges[i]);
const sum = (values) => values.reduce((total, value) => total + value, 0);

/** Phases of any lengths, some of them shorter than a refresh. */
function anyPhases(random) {
  return times(
    1 + Math.floor(12 * random()),
    () => (random() < 0.2 ? 20 * random() : 1000 * random()) + 0.01,
  );
}

/** Countdown, a picture of one refresh to a second, and up to eight masks. */
function anyTrial(random, frame_ms) {
  const exposure_ms = Math.max(frame_ms, 1000 * random() ** 2);
  return [...COUNTDOWN_MS, exposure_ms, ...times(Math.floor(9 * random()), () => 30)];
}

/**
 * A trial on a simulated display: what was planned, what the page believes was shown, and what was.
 */
async function play(seed, hz, habits, durations_ms) {
  const random = randomFrom(seed);
  const display = makeDisplay(hz, random, habits);
  const phases_ms = durations_ms ?? anyTrial(random, display.frame_ms);
  const draw = (phase) => display.draw(`${phase}`);
  const { edges, drawn } = await runSequence(phases_ms, PICTURE, display.frame_ms, display.everyFrame, draw);
  const shown = display.shown();
  return {
    edges,
    frame_ms: display.frame_ms,
    planned: differences(edges),
    timing: timingOfCallbacks(edges, drawn, display.frame_ms, "callback"),
    shown,
    truth: phases_ms.map((_, i) => shown.find(({ name }) => name === `${i}`)?.count ?? 0),
  };
}

/** Play trials by the thousand, and give each, with what tells which one it was, to `check`. */
async function playMany(habits, check) {
  for (const hz of RATES) {
    for (let seed = 1; seed <= RUNS; seed += 1)
      check(await play(seed, hz, habits), `seed ${seed} at ${hz} Hz`);
  }
}

function assertInOrder(trial, where) {
  const order = trial.shown.map(({ name }) => Number(name));
  assert.deepEqual(
    order,
    [...new Set(order)].sort((a, b) => a - b),
    where,
  );
  assert.equal(order.at(-1), trial.planned.length, where);
}

test("four masks of 30 ms at 60 Hz are 2, 2, 1, 2 refreshes: the edges nearest to 30, 60, 90, 120 ms", () => {
  assert.deepEqual(differences(planPhases([30, 30, 30, 30], HZ_60)), [2, 2, 1, 2]);
});

test("no phase is shorter than one refresh, and what it took is given back by those after it", () => {
  assert.deepEqual(planPhases([1, 1, 1], HZ_60), [0, 1, 2, 3]);
  assert.deepEqual(planPhases([1, 1, 1, 97], HZ_60), [0, 1, 2, 3, 6]);
});

test("what the countdown rounds off does not change the picture's refreshes", () => {
  // 25 ms are 1.5 refreshes: three of them 4.5, and 100 ms after that would end at 10.5
  assert.deepEqual(planPhases([25, 25, 25, 100], HZ_60, 3), [0, 1, 3, 4, 10]);
  for (const hz of RATES) {
    for (let exposure_ms = 10; exposure_ms <= 1000; exposure_ms += 1) {
      const alone = planPhases([exposure_ms, 30, 30], 1000 / hz);
      const counted = planPhases([437, 437, exposure_ms, 30, 30], 1000 / hz, 2);
      assert.deepEqual(differences(counted).slice(2), differences(alone));
    }
  }
});

test("each edge is the refresh nearest to its time, or one after the edge before it", () => {
  for (let seed = 1; seed <= 5000; seed += 1) {
    const random = randomFrom(seed);
    const frame_ms = 1000 / (30 + 330 * random());
    const phases_ms = anyPhases(random);
    const edges = planPhases(phases_ms, frame_ms);
    let end_ms = 0;
    for (const [i, ms] of phases_ms.entries()) {
      end_ms += ms;
      const off = edges[i + 1] * frame_ms - end_ms;
      const isForced = edges[i + 1] === edges[i] + 1 && off > 0;
      assert.ok(edges[i + 1] > edges[i], `seed ${seed}`);
      assert.ok(Math.abs(off) <= frame_ms / 2 + 1e-6 || isForced, `seed ${seed}: ${off} ms at phase ${i}`);
    }
  }
});

test("the refreshes add up to those nearest to the whole time, where no phase is under one", () => {
  for (let seed = 1; seed <= 5000; seed += 1) {
    const random = randomFrom(seed);
    const frame_ms = 1000 / (30 + 330 * random());
    const phases_ms = anyPhases(random).map((ms) => ms + frame_ms);

    const total = sum(differences(planPhases(phases_ms, frame_ms)));

    assert.equal(total, Math.round(sum(phases_ms) / frame_ms), `seed ${seed}`);
  }
});

test("a refresh belongs to the phase between whose edges it is", () => {
  for (let seed = 1; seed <= 1000; seed += 1) {
    const edges = planPhases(anyPhases(randomFrom(seed)), HZ_60);
    const last = edges[edges.length - 1];
    const found = times(last + 3, (refresh) => phaseAt(edges, refresh));

    const wanted = differences(edges).flatMap((count, phase) => times(count, () => phase));
    assert.deepEqual(found, [...wanted, ...times(3, () => edges.length - 1)], `seed ${seed}`);
  }
});

test("on an undisturbed display every phase is up for exactly its planned refreshes", async () => {
  await playMany({}, (trial, where) => {
    assert.deepEqual(trial.truth, trial.planned, where);
    assert.deepEqual(trial.timing.achieved_frames, trial.planned, where);
    for (const [i, ms] of trial.timing.phase_ms.entries())
      assert.ok(Math.abs(ms - trial.shown[i].ms) < 1e-6, where);
  });
});

test("a callback that runs a little late in its refresh shifts nothing and raises no flag", async () => {
  await playMany({ delays: 0.5, delay: 0.39, calm: GATE_FRAMES + 1 }, (trial, where) => {
    assert.deepEqual(trial.truth, trial.planned, where);
    assert.ok(isAsPlanned(trial.timing, trial.frame_ms), where);
  });
});

test("a time stamp late by less than half a refresh shifts nothing", async () => {
  await playMany({ lates: 0.5, late: 0.49, calm: GATE_FRAMES + 1 }, (trial, where) => {
    assert.deepEqual(trial.truth, trial.planned, where);
  });
});

test("a callback late by half a refresh leaves in doubt what was shown, and is flagged", async () => {
  const timing = { planned_frames: [6, 2], phase_ms: [6.45 * HZ_60, 1.55 * HZ_60], achieved_frames: [6, 2] };

  assert.equal(isAsPlanned(timing, HZ_60), false);
});

test("a number of the countdown may be a refresh off, the picture and its masks may not", () => {
  const planned_frames = [30, 30, 6, 2];
  for (const [refreshes, isGood] of [
    [[31.1, 28.9, 6, 2], true],
    [[34, 30, 6, 2], false],
    [[0, 60, 6, 2], false], // one that nobody saw
    [[30, 30, 6.5, 2], false],
    [[30, 30, 6, 1], false],
  ]) {
    const phase_ms = refreshes.map((count) => count * HZ_60);
    const timing = {
      planned_frames,
      phase_ms,
      achieved_frames: phase_ms.map((ms) => Math.round(ms / HZ_60)),
    };

    assert.equal(isAsPlanned(timing, HZ_60, 2), isGood, `${refreshes}`);
  }
});

for (const [what, habits] of Object.entries({
  "dropped refreshes": { drops: 0.02 },
  "many dropped refreshes": { drops: 0.2 },
  "callbacks that run up to three refreshes late": { delays: 0.1, delay: 3 },
  "dropped refreshes among late callbacks": { drops: 0.05, delays: 0.1, delay: 3 },
  "dropped refreshes among late time stamps": { drops: 0.05, lates: 0.2, late: 0.24 },
})) {
  test(`of ${what} none goes unflagged, and no phase comes out of order`, async () => {
    let wrong = 0;
    await playMany(habits, (trial, where) => {
      assertInOrder(trial, where);
      const isWrong = trial.truth.some((frames, i) => frames !== trial.planned[i]);
      assert.ok(!isWrong || !isAsPlanned(trial.timing, trial.frame_ms), where);
      wrong += isWrong ? 1 : 0;
    });

    assert.ok(wrong > RUNS / 10, "the display was hardly disturbed");
  });
}

test("after a dropped refresh the later edges are where they were planned", async () => {
  let moved = 0;
  await playMany({ drops: 0.02, calm: GATE_FRAMES + 1 }, (trial, where) => {
    const [first] = trial.shown;
    for (const { name, refresh } of trial.shown) {
      const late = refresh - first.refresh - trial.edges[Number(name)];
      assert.ok(late >= 0, where);
      moved += late > 0 ? 1 : 0;
      // five callbacks in a row that do not come: about once in 3e8
      assert.ok(late < 5, where);
    }
  });

  assert.ok(moved > 0);
});

test("a phase of which no refresh had a callback was never shown", async () => {
  const at = times(400, (i) => i * HZ_60);
  at.splice(GATE_FRAMES + 2, 6);
  let i = 0;
  const everyFrame = async (onFrame) => {
    while (!onFrame(at[i], at[i++]));
  };

  const { edges, drawn } = await runSequence([33.4, 33.4, 200], 0, HZ_60, everyFrame, () => {});

  assert.equal(drawn[1], null);
  assert.equal(timingOfCallbacks(edges, drawn, HZ_60, "callback").achieved_frames[1], 0);
});

test("onset waits for steady callbacks after an idle spell", async () => {
  const at = [0, 90, 95, 110, ...times(100, (i) => 135 + i * HZ_60)];
  let i = 0;
  const everyFrame = async (onFrame) => {
    while (!onFrame(at[i], at[i++]));
  };

  const { drawn } = await runSequence([100, 100], 0, HZ_60, everyFrame, () => {});

  assert.equal(drawn[0].at, 135 + 7 * HZ_60); // six gaps, and the refresh after
});

test("at a variable rate phases come in order, and each edge within a refresh of its time", async () => {
  const stretch = 0.5;
  await playMany({ stretch }, (trial, where) => {
    assertInOrder(trial, where);
    let at_ms = 0;
    for (const { name, ms } of trial.shown) {
      const off = at_ms - trial.edges[Number(name)] * trial.frame_ms;
      assert.ok(off >= -trial.frame_ms / 2 - 1e-6 && off <= (stretch + 0.5) * trial.frame_ms + 1e-6, where);
      at_ms += ms;
    }
  });
});

test("the refresh rate is that of most frames, whatever a few late ones say", () => {
  const at = times(61, (i) => (i * 1000) / 144 + (i % 20 === 0 ? 3 : 0));

  assert.ok(Math.abs(refreshOf(at).refresh_hz - 144) < 0.5);
});

test("a refresh is measured well enough to count a trial's, with coarse clocks and drops", async () => {
  for (const [coarse_ms, late] of [
    [0, 0.45],
    [0.1, 0.4],
    [1, 0.24],
  ]) {
    for (const hz of RATES) {
      for (let seed = 1; seed <= 100; seed += 1) {
        const habits = { coarse_ms, drops: 0.02, lates: 0.1, late };
        const display = makeDisplay(hz, randomFrom(seed), habits);
        /** @type {number[]} */
        const stamps = [];
        await display.everyFrame((at) => stamps.push(at) > 120);

        const { frame_ms } = refreshOf(stamps);

        // Over a second and a half of countdown, one refresh must not become half of one more or less.
        const refreshes = 1500 / display.frame_ms;
        const drift = (refreshes * Math.abs(frame_ms - display.frame_ms)) / display.frame_ms;
        assert.ok(drift < 0.5, `seed ${seed} at ${hz} Hz, clock of ${coarse_ms} ms: ${drift} refreshes`);
      }
    }
  }
});
