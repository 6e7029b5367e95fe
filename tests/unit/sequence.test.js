import assert from "node:assert/strict";
import { test } from "node:test";

import { refreshOf } from "../../frontend/frames.js";
import { isAsPlanned, phaseAt, planPhases, timingOfCallbacks, timingOfPresentations } from "../../frontend/planner.js";
import { runSequence } from "../../frontend/sequence.js";

const HZ_60 = 1000 / 60;
const RATES = [60, 75, 90, 120, 144, 240];

test("four masks of 30 ms at 60 Hz are 2, 2, 1, 2 refreshes: the edges nearest to 30, 60, 90, 120 ms", () => {
  const edges = planPhases([30, 30, 30, 30], HZ_60);

  assert.deepEqual(edges.slice(1).map((edge, i) => edge - edges[i]), [2, 2, 1, 2]);
});

test("every edge is within half a refresh of its time, at every rate and exposure", () => {
  for (const rate of RATES) {
    for (let exposure = 100; exposure <= 1000; exposure += 10) {
      const frame = 1000 / rate;
      const edges = planPhases([500, 500, 500, exposure, 30, 30, 30, 30], frame);
      const times = [500, 1000, 1500, 1500 + exposure];
      times.forEach((ms, i) => assert.ok(Math.abs(edges[i + 1] * frame - ms) <= frame / 2 + 1e-6));
    }
  }
});

test("no phase is shorter than one refresh", () => {
  assert.deepEqual(planPhases([1, 1, 1], HZ_60), [0, 1, 2, 3]);
});

test("the picture is planned from its own onset, whatever the countdown rounds off", () => {
  const frame = 1000 / 59.94;
  const edges = planPhases([500, 500, 500, 26, 30], frame, 3);

  assert.equal(edges[4] - edges[3], 2); // 1.56 refreshes; from the countdown's 1500 ms on it would be 1
});

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

async function shown(durations, frame, everyFrame, anchor = 0) {
  const drawn = [];
  const sequence = await runSequence(durations, anchor, frame, everyFrame, (phase) => drawn.push(phase));
  return { ...timingOfCallbacks(sequence.edges, sequence.drawn, frame, "callback"), drawn, frame_ms: sequence.frame_ms };
}

test("on a regular display every phase is up for its planned refreshes, and is drawn once", async () => {
  for (const rate of RATES) {
    const frame = 1000 / rate;
    const timing = await shown([500, 333, 30, 30], frame, display(regular(1000, frame)));

    assert.ok(isAsPlanned(timing));
    assert.deepEqual(timing.drawn, [0, 1, 2, 3, 4]);
    assert.ok(Math.abs(timing.frame_ms - frame) < 1e-9);
  }
});

test("a late frame lengthens its phase, is seen, and does not shift the ones after", async () => {
  const times = regular(200);
  times.splice(GATE + 4, 3); // three refreshes without a callback, around the end of the first phase (6 refreshes)
  const timing = await shown([100, 100, 100], HZ_60, display(times));

  assert.deepEqual(timing.planned_frames, [6, 6, 6]);
  assert.deepEqual(timing.achieved_frames, [7, 5, 6]);
  assert.equal(isAsPlanned(timing), false);
});

test("a callback that runs a refresh late draws what is due by then", async () => {
  const late = (i) => (i === GATE + 5 ? HZ_60 * 1.3 : 0.2);
  const timing = await shown([100, 100], HZ_60, display(regular(200), late));

  assert.deepEqual(timing.drawn, [0, 1, 2]);
  assert.deepEqual(timing.achieved_frames, [6, 6]); // the fifth callback of the first phase is in the second's refresh
  assert.ok(Math.abs(timing.lateness_ms - HZ_60 * 1.3) < 1e-6);
});

test("a phase that was skipped has no refreshes", async () => {
  const times = regular(200);
  times.splice(GATE + 2, 6);
  const timing = await shown([33.4, 33.4, 200], HZ_60, display(times));

  assert.equal(timing.achieved_frames[1], 0);
});

/** When the first phase was drawn. */
async function onset(everyFrame) {
  let now_at = NaN;
  let drawn_at = NaN;
  const watched = (onFrame) => everyFrame((at, now) => onFrame((now_at = at), now));
  await runSequence([100], 0, HZ_60, watched, (phase) => {
    if (phase === 0) drawn_at = now_at;
  });
  return drawn_at;
}

test("onset waits for steady callbacks after an idle spell", async () => {
  const times = [0, 90, 95, 105, ...regular(100).map((at) => at + 130)];

  assert.ok((await onset(display(times))) > 130 + 6 * HZ_60);
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

test("the phase of a refresh is found at and between edges", () => {
  const edges = [0, 2, 5];

  assert.deepEqual([0, 1, 2, 4, 5, 9].map((refresh) => phaseAt(edges, refresh)), [0, 0, 1, 1, 2, 2]);
});

test("the refresh is found whatever a few late frames say", () => {
  const times = regular(61, 1000 / 144).map((at, i) => at + (i % 20 === 7 ? 3 : 0));

  const refresh = refreshOf(times);

  assert.ok(Math.abs(refresh.refresh_hz - 144) < 0.5);
  assert.equal(refresh.is_variable, false);
});

test("refreshes that a busy page misses do not make the display look slower", () => {
  const times = regular(200).filter((_, i) => i % 3 !== 1 && i % 7 !== 2);

  const refresh = refreshOf(times);

  assert.ok(Math.abs(refresh.refresh_hz - 60) < 0.1);
  assert.equal(refresh.dropped_frames, Math.round(times.at(-1) / HZ_60) - (times.length - 1));
});

test("a display without a grid of refreshes is told from a busy page", () => {
  let at = 0;
  const times = Array.from({ length: 121 }, (_, i) => (at += 8 + ((i * 37) % 11)));

  assert.equal(refreshOf(times).is_variable, true);
});
