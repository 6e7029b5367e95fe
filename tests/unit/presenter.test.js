import assert from "node:assert/strict";
import { test } from "node:test";

import { refreshOf } from "../../frontend/frames.js";
import { phaseAt, planPhases, present } from "../../frontend/presenter.js";

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

/** A display whose callbacks come at the times given. */
function display(times) {
  let i = 0;
  return async (onFrame) => {
    while (!onFrame(times[i++]));
  };
}

const regular = (count, frame = HZ_60) => Array.from({ length: count }, (_, i) => i * frame);
const phasesOf = (...ms) => ms.map((each, i) => ({ name: `${i}`, ms: each, draw() {} }));

test("on a regular display every phase is up for its planned refreshes", async () => {
  for (const rate of RATES) {
    const frame = 1000 / rate;
    const shown = await present(phasesOf(500, 333, 30, 30), frame, display(regular(1000, frame)), () => {});

    assert.ok(shown.every((phase) => phase.achieved === phase.planned));
  }
});

test("a late frame lengthens its phase, is seen, and does not shift the ones after", async () => {
  const times = regular(200);
  const gate = 7;
  times.splice(gate + 4, 3); // three callbacks are lost around the end of the first phase (6 refreshes)
  const shown = await present(phasesOf(100, 100, 100), HZ_60, display(times), () => {});

  assert.deepEqual(shown.map((phase) => phase.planned), [6, 6, 6]);
  assert.deepEqual(shown.map((phase) => phase.achieved), [7, 5, 6]);
});

test("a phase that was skipped has no refreshes", async () => {
  const times = regular(200);
  times.splice(7 + 2, 6);
  const shown = await present(phasesOf(33.4, 33.4, 200), HZ_60, display(times), () => {});

  assert.equal(shown[1].achieved, 0);
});

test("onset waits for steady callbacks after an idle spell", async () => {
  const times = [0, 90, 95, 110, ...regular(100).map((at) => at + 130)];
  let first = NaN;
  const phases = phasesOf(100, 100);
  const seen = display(times);
  await present(phases, HZ_60, (onFrame) => seen((at) => onFrame((first = at))), () => {});

  assert.ok(first > 130 + 6 * HZ_60);
});

test("the phase of a refresh is found at and between edges", () => {
  const edges = [0, 2, 5];

  assert.deepEqual([0, 1, 2, 4, 5, 9].map((refresh) => phaseAt(edges, refresh)), [0, 0, 1, 1, 2, 2]);
});

test("the refresh rate is the median's, whatever a few late frames say", () => {
  const times = regular(61, 1000 / 144).map((at, i) => at + (i % 20 === 0 ? 3 : 0));

  const { refresh_hz } = refreshOf(times);

  assert.ok(Math.abs(refresh_hz - 144) < 0.5);
});
