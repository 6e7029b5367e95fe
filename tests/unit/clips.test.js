import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { cadenceOf, cadenceText, framesIn } from "../../frontend/task/cadence.js";
import { inOrder } from "../../frontend/task/clip_decoder.js";
import { ClipError, readClip, stripOf, timestampOf } from "../../frontend/task/clip_file.js";
import { bytesOfTrial, obstacle } from "../../frontend/task/clip_fitness.js";
import { clipFacts, framePhases, isSeenToItsEnd } from "../../frontend/task/clip_player.js";
import { entering } from "../../frontend/task/flash.js";
import { withClipsWhole } from "../../frontend/task/planner.js";
import { runSequence } from "../../frontend/task/sequence.js";

const HEAD = { codec: "vp09.00.10.08", fps: [24, 1], frames: 3, height: 64, width: 64 };
const HZ_60 = 1000 / 60;

/** Return the bytes of a clip, as `clip_file.py` writes them. */
function clipOf({
  head = HEAD,
  frames = [
    [1, [7, 8]],
    [0, [9]],
    [0, [1, 2, 3]],
  ],
  padding = 4,
} = {}) {
  const text = new TextEncoder().encode(typeof head === "string" ? head : JSON.stringify(head));
  const bytes = [...new TextEncoder().encode("OHCLIP1\n"), ...uint32(text.length), ...text];
  for (const [key, data] of frames) bytes.push(...uint32(data.length), key, ...data);
  bytes.push(...Array(padding).fill(255));
  return new Uint8Array(bytes).buffer;
}

function uint32(value) {
  return [...new Uint8Array(new Uint32Array([value]).buffer)];
}

test("a clip is read frame by frame, and what follows the last one is ignored", () => {
  const { head, frames } = readClip(clipOf());

  assert.deepEqual(head, HEAD);
  assert.deepEqual(
    frames.map(({ isKey, timestamp, data }) => [isKey, timestamp, [...data]]),
    [
      [true, 0, [7, 8]],
      [false, 41667, [9]],
      [false, 83333, [1, 2, 3]],
    ],
  );
});

test("the film strip after the last frame is found, and a file without one is refused", () => {
  const strip = [255, 216, 9];
  const file = new Uint8Array([...new Uint8Array(clipOf({ padding: 0 })), ...uint32(3), ...strip, 1, 1]);

  assert.deepEqual([...stripOf(file.buffer)], strip);
  assert.throws(() => stripOf(clipOf({ padding: 3 })), /ends before its film strip/);
});

test("frames of 30000 in 1001 seconds begin at the microsecond next to their time", () => {
  assert.deepEqual(
    [0, 1, 2, 300].map((i) => timestampOf(i, { fps: [30000, 1001] })),
    [0, 33367, 66733, 10010000],
  );
});

for (const [name, broken, why] of [
  ["cut off within a frame", clipOf().slice(0, -6), /ends after/],
  ["of fewer frames than its head says", clipOf({ head: { ...HEAD, frames: 4 }, padding: 0 }), /ends after/],
  [
    "that begins without a key frame",
    clipOf({
      frames: [
        [0, [7]],
        [0, [9]],
        [0, [1]],
      ],
    }),
    /no key frame/,
  ],
  [
    "with an empty frame",
    clipOf({
      frames: [
        [1, [7]],
        [0, []],
        [0, [1]],
      ],
    }),
    /frame 1 of 3 is empty/,
  ],
  ["whose head is no JSON", clipOf({ head: "codec" }), /no JSON/],
  ["whose head lacks the size", clipOf({ head: { ...HEAD, width: undefined } }), /incomplete/],
  ["of no frames", clipOf({ head: { ...HEAD, frames: 0 } }), /incomplete/],
  ["that is a web page", new TextEncoder().encode("<!doctype html>").buffer, /does not begin/],
  ["that is empty", new ArrayBuffer(0), /ends after 0 bytes/],
]) {
  test(`a clip ${name} is refused`, () => {
    assert.throws(
      () => readClip(broken),
      (error) => error instanceof ClipError && why.test(error.message),
    );
  });
}

const picture = (name, width = 64) => ({ name, width, height: 64 });
const TIMES = [{ timestamp: 0 }, { timestamp: 41667 }];

test("frames that a decoder gives in another order are sorted by their times", () => {
  const decoded = [
    { timestamp: 41667, picture: picture("b") },
    { timestamp: 0, picture: picture("a") },
  ];

  assert.deepEqual(
    inOrder(decoded, TIMES, HEAD).map(({ name }) => name),
    ["a", "b"],
  );
});

for (const [name, decoded, why] of [
  ["fewer frames", [{ timestamp: 0, picture: picture("a") }], /1 frames of 2/],
  [
    "a frame twice",
    [
      { timestamp: 0, picture: picture("a") },
      { timestamp: 0, picture: picture("a") },
    ],
    /another time/,
  ],
  [
    "another size",
    [
      { timestamp: 0, picture: picture("a") },
      { timestamp: 41667, picture: picture("b", 72) },
    ],
    /72 × 64/,
  ],
]) {
  test(`a decoder that gives ${name} is found out`, () => {
    assert.throws(() => inOrder(decoded, TIMES, HEAD), why);
  });
}

test("a cadence is the shortest pattern that keeps the rate to within 2%", () => {
  const cases = [
    [[24, 1], 60, "2:3"],
    [[25, 1], 60, "2:2:3:2:3"],
    [[30, 1], 60, "2"],
    [[60, 1], 60, "1"],
    [[30000, 1001], 60, "2"],
    [[24, 1], 59.94, "2:3"],
    [[24, 1], 120, "5"],
    [[25, 1], 75, "3"],
    [[60, 1], 144, "2:2:3:2:3"],
  ];
  for (const [fps, hz, pattern] of cases)
    assert.equal(cadenceText(cadenceOf(fps, 1000 / hz)), pattern, `${fps} ${hz}`);
});

test("every pattern plays each frame, at the clip's rate to within 2%", () => {
  for (const fps of [10, 12, 15, 23.976, 24, 25, 30, 48, 50, 60])
    for (const hz of [60, 75, 90, 100, 120, 144, 165, 240]) {
      const cadence = cadenceOf([Math.round(fps * 1000), 1000], 1000 / hz);
      const mean = cadence.reduce((sum, refreshes) => sum + refreshes, 0) / cadence.length;
      assert.ok(
        Math.min(...cadence) >= 1 && Math.max(...cadence) - Math.min(...cadence) <= 1,
        `${fps} ${hz}`,
      );
      assert.ok(Math.abs(mean / (hz / fps) - 1) <= 0.02, `${fps} ${hz}: ${cadence}`);
    }
});

test("a display slower than the clip has no cadence", () => {
  assert.equal(cadenceOf([60, 1], 1000 / 50), null);
  assert.equal(cadenceOf([24, 1], NaN), null);
});

test("an exposure shows the frames nearest to it, at least one and at most all", () => {
  const head = { ...HEAD, frames: 48 };
  assert.deepEqual(
    [10, 100, 500, 1000, 9000].map((ms) => framesIn(ms, head)),
    [1, 2, 12, 24, 48],
  );
});

const clip = (count, tag) => ({
  head: { ...HEAD, frames: count },
  frames: Array.from({ length: count }, (_, i) => `${tag}${i}`),
  close() {},
});

test("two clips play in step, a phase for each frame", () => {
  const phases = framePhases([clip(3, "a"), clip(3, "b")], 3, HZ_60);

  assert.deepEqual(
    phases.map(({ pictures }) => pictures),
    [
      ["a0", "b0"],
      ["a1", "b1"],
      ["a2", "b2"],
    ],
  );
  assert.deepEqual(
    phases.map(({ ms }) => Math.round(ms / HZ_60)),
    [2, 3, 2],
  );
});

const timing = (planned_frames, achieved_frames, evidence = "element") => ({
  ...{ evidence, planned_frames, achieved_frames, lateness_ms: 0 },
  phase_ms: achieved_frames.map((frames) => frames * HZ_60),
});

test("frames of all plays that were up for more or fewer refreshes are counted", () => {
  const plays = [
    { timing: timing([2, 3, 2], [2, 3, 2]), isWhole: true },
    { timing: timing([2, 3, 2], [3, 0, 2]), isWhole: true },
    { timing: timing([2], [2]), isWhole: false },
  ];

  assert.deepEqual(clipFacts([clip(3, "a")], HZ_60, plays), {
    clip_plays: 2,
    clip_seen_whole: true,
    clip_frames_off: 2,
    clip_cadence: "2:3",
  });
});

test("a play whose last frame was dropped was not seen to its end", () => {
  assert.equal(isSeenToItsEnd(timing([2, 2, 2], [2, 4, 0])), false);
  assert.equal(isSeenToItsEnd(timing([2, 2, 2], [4, 0, 2])), true);
});

test("a clip begins with the first of its frames that is drawn, and each of two clips in turn does", () => {
  globalThis.document = { body: { dataset: {} } };
  let now = 0;
  mock.method(performance, "now", () => now);
  const onsets = (phases) => {
    const screen = { stage: { isConnected: true }, onset: 0 };
    const enter = entering(screen);
    return phases.map((phase, i) => {
      now = i + 1;
      enter(phase);
      return screen.onset;
    });
  };
  const [countdown, gap] = [{ name: "countdown" }, { name: "gap" }];
  const frame = (k) => ({ name: "stimulus", frame: k });

  assert.deepEqual(onsets([countdown, frame(0), frame(1), null]), [0, 2, 2, 2]);
  assert.deepEqual(onsets([countdown, frame(2), frame(3)]), [0, 2, 2]);
  assert.deepEqual(onsets([frame(0), frame(1), gap, frame(1)]), [1, 1, 1, 4]);
  assert.deepEqual(onsets([{ name: "stimulus" }, { name: "stimulus" }]), [1, 2]);
  mock.restoreAll();
  delete globalThis.document;
});

test("where a browser tells only when frames were drawn, none is said to be off, and none not", () => {
  const plays = [{ timing: timing([2], [2], "callback"), isWhole: false }];

  const { clip_frames_off, clip_seen_whole } = clipFacts([clip(1, "a")], HZ_60, plays);

  assert.deepEqual([clip_frames_off, clip_seen_whole], [null, false]);
});

const decoder = (supported) => ({ isConfigSupported: async () => ({ supported }) });
const SECONDS_4 = { frames: 96, fps: [24, 1], width: 512, height: 512, codec: "vp09.00.30.08" };

test("a browser that cannot play a study's clips is told why", async () => {
  const asked = (browser, each = 1) =>
    obstacle(SECONDS_4, each, { decoder: decoder(true), memory_gib: undefined, ...browser });

  assert.equal(await asked({}), null);
  assert.equal(await asked({ memory_gib: 2 }, 2), null);
  assert.equal(await asked({ decoder: undefined }), "clip.no_decoder");
  assert.equal(await asked({ decoder: decoder(false) }), "clip.no_codec");
  assert.equal(await asked({ memory_gib: 0.5 }), "clip.no_memory");
  assert.equal(await asked({}, 4), "clip.no_memory");
});

test("the frames of a trial take four bytes a pixel", () => {
  assert.equal(bytesOfTrial(SECONDS_4, 2), 201326592);
});

test("all frames of a clip are stored as one phase, between countdown and masks", () => {
  const phases = [{}, { frame: 0 }, { frame: 1 }, { frame: 2 }, {}];

  const stored = withClipsWhole(timing([30, 2, 3, 2, 4], [30, 2, 4, 1, 4]), phases);

  assert.deepEqual(
    [stored.planned_frames, stored.achieved_frames],
    [
      [30, 7, 4],
      [30, 7, 4],
    ],
  );
  assert.deepEqual(stored.phase_ms.map(Math.round), [500, 117, 67]);
});

test("a play that is stopped ends in the frame that is shown, and knows when the others were", async () => {
  let at = 0;
  const drawn = [];
  const everyFrame = async (onFrame) => {
    do at += HZ_60;
    while (!onFrame(at, at));
  };

  const sequence = await runSequence(
    Array(10).fill(2 * HZ_60),
    0,
    HZ_60,
    everyFrame,
    (phase) => void drawn.push(phase),
    () => drawn.length === 4,
  );

  assert.deepEqual(drawn, [0, 1, 2, 3]);
  assert.deepEqual(
    sequence.drawn.map((each) => each !== null),
    [true, true, true, true, ...Array(7).fill(false)],
  );
});
