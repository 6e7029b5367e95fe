/** Nothing of the page is waited for without an end: each wait is listed with what ends it, and ends. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

import { makeApi } from "../../frontend/shared/api.js";
import { everyFrame, waitFrames } from "../../frontend/task/frames.js";
import { NeverCame, within } from "../../frontend/shared/patience.js";
import { loadPictures } from "../../frontend/task/pictures.js";
import { atFrames } from "./frame_clock.js";

const FRONTEND = new URL("../../frontend/", import.meta.url);
const NEVER = new Promise(() => {});
const HZ_60 = 1000 / 60;
const regular = (count) => Array.from({ length: count }, (_, i) => i * HZ_60);

/** What a browser may never answer. */
const WAITS = [
  /\brequestAnimationFrame\(/g,
  /\.decode\(\)/g,
  /\bcreateImageBitmap\(/g,
  /\bnew Worker\(/g,
  /\.onmessage = /g,
  /\.requestFullscreen\(|\.exitFullscreen\(/g,
  /\.locks\b[^;]*\.request\(/g,
  /\beveryFrame\((?!onFrame)/g,
  /\bnew Promise\(\(\) => \{\}\)/g,
  /\bfetch\(/g,
  /\brequestIdleCallback|\bdocument\.fonts\b/g,
];
/** How often each file of an evaluator waits so, and what ends it. */
const ENDS = {
  "shared/api.js": [1, "the idle timer of `sendOnce` aborts it"],
  "task/clip_decoder.js": [2, "`within` in `pictures.js`, which waits for it"],
  "task/clip_worker.js": [1, "only answers; the page has the deadline"],
  "task/demonstration.js": [1, "another page is loaded"],
  "task/element_timing.js": [2, "`within`, and a number of frames"],
  "task/first.js": [1, "the signal of `sendOnce`, which takes it over"],
  "task/follow_ups.js": [1, "another screen is shown, for good"],
  "task/frame_delays.js": [4, "a number of frames; the flash's own end"],
  "task/framed_backend.js": [3, "`afterSeen`"],
  "task/frames.js": [4, "`everyFrame` rejects; measuring ends by a timer; pauses by a number of frames"],
  "task/full_screen.js": [2, "`within`"],
  "task/main.js": [1, "the signal of `sendOnce`"],
  "task/medium_clip.js": [2, "`within` in `pictures.js`, which waits for it"],
  "task/panel_exit.js": [1, "another screen is shown, for good"],
  "task/session_person.js": [1, "the page is loaded again"],
  "task/pictures.js": [1, "`within`"],
  "task/presenter_frame.js": [1, "only answers"],
  "task/presenter_worker.js": [1, "only answers; the page has the deadline"],
  "task/sequence.js": [2, "a number of frames"],
  "task/start.js": [1, "its signal"],
  "task/storage.js": [2, "`within`; the tab's lock is held until it closes"],
  "task/timing.js": [1, "decodes grays of its own, in a page for researchers"],
  "task/trials.js": [3, "another screen is shown, for good"],
  "task/second_witness.js": [1, "a number of frames"],
  "task/worker_backend.js": [3, "`within` and `afterSeen`"],
};

/** The code without comments. */
const codeOf = (name) =>
  readFileSync(new URL(name, FRONTEND), "utf-8")
    .replace(/\/\*.*?\*\//gs, "")
    .replace(/(^|\s)\/\/.*$/gm, "");

test("every wait for the browser is known, with what ends it", () => {
  const found = {};
  for (const name of readdirSync(FRONTEND, { recursive: true }).filter((each) => each.endsWith(".js"))) {
    if (name.startsWith("console/") || name.startsWith("texts/")) continue;
    const count = WAITS.reduce((sum, wait) => sum + [...codeOf(name).matchAll(wait)].length, 0);
    if (count) found[name] = count;
  }

  assert.deepEqual(found, Object.fromEntries(Object.entries(ENDS).map(([name, [count]]) => [name, count])));
});

test("a page that gets no frames is told so, and one that is hidden is waited for", async () => {
  const noFrames = { code: "no_frames" };
  const none = () => everyFrame(() => false);
  await assert.rejects(atFrames([], none, 10500), noFrames);
  await assert.rejects(atFrames(regular(60), none, 11500), noFrames, "frames that stop");
  await assert.rejects(atFrames([], none, 30000), noFrames);
  const hiddenForMinutes = (at) => ({ hidden: at < 300000 });
  await assert.rejects(atFrames([], none, 300000, hiddenForMinutes), /not over/);
  await assert.rejects(atFrames([], none, 311000, hiddenForMinutes), noFrames);
  await assert.rejects(
    atFrames([], none, 300000, () => undefined),
    /not over/,
    "in a worker",
  );
});

test("pauses end though the clock of the frames stands still", async () => {
  let frames = 0;
  globalThis.requestAnimationFrame = (tick) => {
    frames += 1;
    queueMicrotask(() => tick(7));
  };
  await waitFrames(300);

  assert.ok(frames <= 302);
});

test("what never comes is given up, and what comes is not", async () => {
  await assert.rejects(
    atFrames([], () => within(3000, NEVER, "why"), 3500),
    (error) => error instanceof NeverCame && error.code === "why",
  );
  assert.equal(await atFrames([], () => within(3000, Promise.resolve(4))), 4);
  await assert.rejects(
    atFrames([], () => within(3000, Promise.reject(new TypeError("broken")))),
    TypeError,
  );
});

/** An API over a network that works; `stuck` takes what the evaluator is asked about, and tries no more. */
function working(reply) {
  const stuck = [];
  const api = makeApi({
    onTrouble: () => {},
    onStuck: async (trouble) => {
      stuck.push(trouble.kind);
      throw new Error("given up");
    },
    random: () => 0.5,
    send: async () => reply(),
    isOffline: () => false,
  });
  return { api, stuck };
}

test("a picture that the browser never decodes ends in a question about that", async (t) => {
  globalThis.createImageBitmap = () => NEVER;
  globalThis.addEventListener ??= () => {};
  globalThis.removeEventListener ??= () => {};
  t.after(() => delete globalThis.createImageBitmap);
  const { api, stuck } = working(() => new Response("picture", { headers: { "Content-Type": "image/png" } }));

  const wanted = async () => {
    const pictures = loadPictures(["/i/a.png"], api.picture, { px: 8, quality: "high" });
    await pictures.needed(0);
  };

  await assert.rejects(wholeTurns(wanted, 60000), /given up/);
  assert.deepEqual([...new Set(stuck)], ["undecoded"]);
});

test("a module that never comes ends in a question about the server", async () => {
  const { api, stuck } = working(() => new Response("", { status: 404 }));

  await assert.rejects(
    wholeTurns(() => api.load(() => NEVER), 500000),
    /given up/,
  );
  assert.deepEqual(stuck, ["silent"]);
});

/** As `atFrames` without frames; bodies of replies need turns of the event loop. */
async function wholeTurns(act, most_ms) {
  const { setImmediate } = globalThis;
  return atFrames(
    [],
    act,
    most_ms,
    () => ({ hidden: false }),
    () => new Promise((go) => setImmediate(go)),
  );
}
