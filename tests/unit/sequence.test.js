import assert from "node:assert/strict";
import { test } from "node:test";

import { refreshOf } from "../../frontend/task/frames.js";
import { makeWitness } from "../../frontend/task/second_witness.js";
import {
  isAsPlanned,
  testimony,
  timingOfCallbacks,
  timingOfPresentations,
} from "../../frontend/task/planner.js";
import { runSequence } from "../../frontend/task/sequence.js";
import { randomFrom } from "./display.js";

const HZ_60 = 1000 / 60;
const RATES = [60, 75, 90, 120, 144, 240];

/** A display whose callbacks come at the times given, `late` ms after the start of their refresh. */
function display(times, late = () => 0) {
  let i = 0;
  return async (onFrame) => {
    for (;;) {
      const at = times[i];
      if (onFrame(at, at + late(i++))) return;
    }
  };
}

const regular = (count, frame = HZ_60) => Array.from({ length: count }, (_, i) => i * frame);
const GATE = 7; // callbacks until six gaps of one refresh were seen

async function shown(durations, frame, everyFrame) {
  const drawn = [];
  const sequence = await runSequence(durations, 0, frame, everyFrame, (phase) => void drawn.push(phase));
  return {
    ...timingOfCallbacks(sequence.edges, sequence.drawn, frame, "callback"),
    drawn,
    frame_ms: sequence.frame_ms,
  };
}

/** When the first phase was drawn. */
async function onset(everyFrame) {
  let now_at = NaN;
  let drawn_at = NaN;
  const watched = (onFrame) =>
    everyFrame((at, now) => {
      now_at = at;
      return onFrame(at, now);
    });
  await runSequence([100], 0, HZ_60, watched, (phase) => {
    if (phase === 0) drawn_at = now_at;
  });
  return drawn_at;
}

test("on a regular display every phase is up for its planned refreshes, and is drawn once", async () => {
  for (const rate of RATES) {
    const frame = 1000 / rate;
    const timing = await shown([500, 333, 30, 30], frame, display(regular(1000, frame)));

    assert.ok(isAsPlanned(timing, frame));
    assert.deepEqual(timing.drawn, [0, 1, 2, 3, 4]);
    assert.ok(Math.abs(timing.frame_ms - frame) < 1e-9);
  }
});

test("a late frame lengthens its phase, is seen, and does not shift the ones after", async () => {
  const times = regular(200);
  // three refreshes without a callback, around the end of the first phase (6 refreshes)
  times.splice(GATE + 4, 3);
  const timing = await shown([100, 100, 100], HZ_60, display(times));

  assert.deepEqual(timing.planned_frames, [6, 6, 6]);
  assert.deepEqual(timing.achieved_frames, [7, 5, 6]);
  assert.equal(isAsPlanned(timing, HZ_60), false);
});

test("a callback that runs a refresh late draws what is due by then", async () => {
  const late = (i) => (i === GATE + 5 ? HZ_60 * 1.3 : 0.2);
  const timing = await shown([100, 100], HZ_60, display(regular(200), late));

  assert.deepEqual(timing.drawn, [0, 1, 2]);
  // the callback for the fifth refresh of the first phase drew the second
  assert.ok(timing.phase_ms[0] < 6.4 * HZ_60);
  assert.ok(Math.abs(timing.lateness_ms - HZ_60 * 1.3) < 1e-6);
});

test("onset waits until callbacks are on time", async () => {
  const late = (i) => (i < 20 ? HZ_60 * 0.7 : 0);

  assert.ok((await onset(display(regular(200), late))) >= 26 * HZ_60 - 1e-6);
});

test("presentation times are judged by the refreshes between them", () => {
  const edges = [0, 6, 8, 10];
  const times = [1000, 1000 + 7 * HZ_60 + 0.4, 1000 + 8 * HZ_60 - 0.3, 1000 + 10 * HZ_60 + 3];
  const timing = timingOfPresentations(edges, times, HZ_60, 0.5);

  assert.deepEqual([timing.achieved_frames, timing.evidence], [[7, 1, 2], "element"]);
});

const EDGES = [0, 6, 12, 14, 15, 17];
const PICTURE = 1;
const seenAt = (refreshes) => refreshes.map((refresh) => (refresh === null ? null : 1000 + refresh * HZ_60));

test("a second witness is heard from the picture on, and of what it saw", () => {
  for (const [refreshes, isWhole, isContrary] of [
    [[0, 6, 12, 14, 15, 17], true, false],
    [[1, 7, 13, 15, 16, 18], true, false], // all a refresh later
    [[0, 6.2, 12, 14.2, 15, 17], true, false],
    [[0, 6, 12.2, 14.35, 15, 17], true, true], // a third of a refresh late in all
    [[null, 6, 12, 14, 15, 17], true, false], // of the countdown nothing is asked
    [[-1, 6, 12, 14, 15, 17], true, false],
    [[0, 6, 13, 14, 15, 17], true, true],
    [[0, 6, 12, 14, 15, 18], true, true],
    [[0, 6, 12, 14.5, 15, 17], true, true], // it tells neither number of refreshes
    [[0, 6, 12, null, 15, 17], false, false],
    [[0, 6, 13, null, 15, 17], false, true],
    [[0, 6, null, null, 16, 17], false, true],
    [[0, null, null, null, null, 17], false, false],
    [[null, null, null, null, null, null], false, false],
  ]) {
    assert.deepEqual(
      testimony(EDGES, seenAt(refreshes), HZ_60, PICTURE, "worker_element"),
      { isWhole, isContrary },
      `${refreshes}`,
    );
  }
});

test("refreshes that a busy page misses do not make the display look slower", () => {
  const times = regular(200).filter((_, i) => i % 3 !== 1 && i % 7 !== 2);

  const refresh = refreshOf(times);

  assert.ok(Math.abs(refresh.refresh_hz - 60) < 0.1);
  assert.equal(refresh.dropped_frames, Math.round(times.at(-1) / HZ_60) - (times.length - 1));
});

test("first frames that come late after an idle period do not make the display look faster", () => {
  const delays_ms = [8, 6, 3];
  const times = regular(61).map((at, i) => at + (delays_ms[i] ?? 0));

  assert.ok(Math.abs(refreshOf(times).frame_ms / (1000 / 60) - 1) < 1e-5);
});

test("a display without a grid of refreshes is told from a busy page", () => {
  for (const stretch of [0.3, 0.5, 0.8]) {
    const random = randomFrom(7);
    let at = 0;
    const times = Array.from({ length: 121 }, () => (at += 7 * (1 + stretch * random())));

    assert.equal(refreshOf(times).is_variable, true, `stretched by up to ${stretch}`);
  }
});

test("a clock in steps that hide the refreshes is called one, whatever its step, and never gives NaN", () => {
  for (const rate of RATES) {
    for (const step of [10, 20, 50, 100]) {
      const frame = 1000 / rate;
      const times = regular(121, frame).map((at) => Math.floor((at + 3.1) / step) * step);
      const refresh = refreshOf(times);

      assert.ok(Number.isFinite(refresh.frame_ms), `${rate} Hz in ${step} ms`);
      assert.equal(refresh.is_clock_coarse, true, `${rate} Hz in ${step} ms`);
    }
  }
});

test("an exact clock, one of 1 ms and a variable display are no coarse clock", () => {
  const random = randomFrom(7);
  let at = 0;
  const variable = Array.from({ length: 121 }, () => (at += 7 + 13 * random()));
  for (const times of [...RATES.map((rate) => regular(121, 1000 / rate)), variable]) {
    assert.equal(refreshOf(times).is_clock_coarse, false);
    assert.equal(refreshOf(times).is_busy, false);
  }
  assert.equal(refreshOf(regular(121).map(Math.floor)).is_clock_coarse, false);
  assert.equal(refreshOf(variable).is_variable, true);
});

test("frames that come unevenly and later than any display shows them are a busy computer's", () => {
  const random = randomFrom(8);
  let at = 0;
  const refresh = refreshOf(Array.from({ length: 121 }, () => (at += 20 + 60 * random())));

  assert.equal(refresh.is_variable, true);
  assert.equal(refresh.is_busy, true);
});

test("a sequence ends also where the clock stands still or the refresh is unknown", async () => {
  const still = regular(2000).map(() => 100);
  for (const frame of [HZ_60, NaN]) {
    const { drawn } = await shown([100, 100], frame, display(still));
    assert.equal(drawn.at(-1), 2);
  }
});

test("a witness of a clip that was stopped does not wait for the clip's end", async (t) => {
  let frames = 0;
  t.after(() => delete globalThis.requestAnimationFrame);
  globalThis.requestAnimationFrame = (tick) => {
    frames += 1;
    setImmediate(tick, frames * HZ_60);
  };
  const probes = { reveal() {}, presentations: async () => null };
  const witness = await makeWitness(() => probes, [100, 10000], 1, HZ_60);

  witness.follow(0);
  assert.deepEqual(await witness.presentations(true), [null, null, null]);

  assert.ok(frames < 5, `${frames} frames`);
});
