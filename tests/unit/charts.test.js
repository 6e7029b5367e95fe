import assert from "node:assert/strict";
import { test } from "node:test";

import { apart, courseOf, labels, laidOut, namedLines, range, ticks } from "../../frontend/console/charts.js";
import { inWords, interval, scored } from "../../frontend/console/study_format.js";

test("parts lie side by side on the whole that is wanted", () => {
  assert.deepEqual(laidOut([5, 2, 0], 10), [
    { from: 0, to: 0.5 },
    { from: 0.5, to: 0.7 },
    { from: 0.7, to: 0.7 },
  ]);
});

test("more sessions than wanted still fit the bar", () => {
  assert.equal(laidOut([12, 3, 5], 10)[2].to, 1);
});

test("nothing is a bar of nothing", () => {
  assert.deepEqual(laidOut([0, 0, 0], 0), [
    { from: 0, to: 0 },
    { from: 0, to: 0 },
    { from: 0, to: 0 },
  ]);
});

test("ticks are round, within the range, and few", () => {
  assert.deepEqual(ticks(12, 58, 4), [20, 40]);
  assert.deepEqual(ticks(5, 30, 4), [10, 20, 30]);
  assert.deepEqual(ticks(180, 420, 4), [200, 300, 400]);
});

test("the axis holds every interval and does not go below nothing", () => {
  const [low, high] = range([
    { score: 1, ci: [0.2, 3] },
    { score: 50, ci: [40, 61] },
    { score: 2, ci: null },
  ]);
  assert.equal(low, 0);
  assert.ok(high > 61 && high < 70);
});

test("of the intervals for any look the last one of a model counts, where it has an end", () => {
  const [low, high] = range([{ score: 30, ci: [20, 40] }], [[10, null]]);
  assert.ok(low < 10 && low > 5);
  assert.ok(high > 40 && high < 45);
});

test("sessions are told in words, so that colour is not needed", () => {
  assert.equal(
    inWords({ finished: 3, active: 2, ended: 1, abandoned: 4 }, 30),
    "3 of 30 finished · 2 under way · 5 broke off",
  );
  assert.equal(inWords({ finished: 3, active: 0, ended: 0, abandoned: 0 }, 0), "3 finished");
});

test("scores are told in their unit", () => {
  assert.equal(scored(50.66, "percent"), "50.7%");
  assert.equal(scored(363.2, "ms"), "363 ms");
  assert.equal(interval([48.24, 53.1], "percent"), "95% interval 48.2 to 53.1");
  assert.equal(interval(null, "ms"), "one evaluator so far: no interval yet");
});

test("points at one spot share a line of names, and others have their own", () => {
  const spots = labels([
    ["l2", 100, 50],
    ["ssim", 100, 20],
    ["psnr", 100, 50],
    ["ms-ssim", 200, 50],
  ]);

  assert.deepEqual(
    spots.map(({ names }) => names),
    [["l2", "psnr"], ["ssim"], ["ms-ssim"]],
  );
});

const PLAN = { looks: [5, 10, 15], boundary: [3.4, 2.4, 2], stopped: false };
const taken = (evaluators, boundary, ...points) => ({ evaluators, boundary, points });
const point = (of, value, state = null) => ({ of, value, state });

test("a course goes from look to look by pair, and the boundary on to looks that are planned", () => {
  const decided = [taken(5, 3.4, point(["a", "b"], 1, "open"), point(["a", "c"], 4, "apart"))];
  const next = taken(10, 2.4, point(["a", "b"], 2.5, "apart"), point(["b", "c"], null, "open"));

  const { series, marks } = courseOf({ ...PLAN, decided: [...decided, next] });

  assert.deepEqual(series, [
    {
      name: "a – b",
      points: [
        { evaluators: 5, value: 1, isDone: false },
        { evaluators: 10, value: 2.5, isDone: true },
      ],
    },
    { name: "a – c", points: [{ evaluators: 5, value: 4, isDone: true }] },
    { name: "b – c", points: [] },
  ]);
  assert.deepEqual(
    marks.map(({ evaluators, value }) => [evaluators, value]),
    [
      [5, 3.4],
      [10, 2.4],
      [15, 2],
    ],
  );
});

test("of many lines the open ones nearest to the boundary have names, then those decided", () => {
  const line = (/** @type {number} */ value, isDone = false) => ({
    name: `${value}`,
    points: [{ evaluators: 5, value, isDone }],
  });
  const series = [line(4, true), ...[0, 0.5, 1, 1.5, 2, 2.5, 3].map((value) => line(value)), line(9, true)];
  const marks = [{ evaluators: 5, value: 3.4 }];

  assert.deepEqual(namedLines({ series, marks }), [7, 6, 5, 4, 3, 2, 1, 0]);
  assert.deepEqual(namedLines({ series: series.slice(0, 8), marks }), [0, 1, 2, 3, 4, 5, 6, 7]);
});

test("labels that would overlap are moved apart, and none leaves the chart", () => {
  assert.deepEqual(apart([5, 6, 40], 11, 100), [5, 16, 40]);
  assert.deepEqual(apart([95, 96, 97], 11, 100), [78, 89, 100]);
  assert.deepEqual(apart([], 11, 100), []);
});

test("a study that was closed between looks has no boundary after, and a narrow interval is done", () => {
  const decided = [taken(7.5, 5, point(["a"], 5), point(["b"], 5.1)), taken(7.5, null)];

  const { series, marks } = courseOf({ ...PLAN, decided, stopped: true });

  assert.deepEqual(
    series.map(({ points }) => points[0].isDone),
    [true, false],
  );
  assert.deepEqual(marks, [{ evaluators: 7.5, value: 5 }]);
});
