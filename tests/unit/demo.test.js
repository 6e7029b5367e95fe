// @ts-check
/** The demo's own session: drawn as the server draws it, stepped by the staircase, scored at the end. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { makeDemo } from "../../frontend/task/demo.js";

const WORLD = { picture: async () => new Blob(), load: async () => {}, hash: "" };
const RULE = { right_to_descend: 1, down_ms: 30, up_ms: 10, start_ms: 500, min_ms: 100, max_ms: 1000 };

function site(changes = {}) {
  const pictures = ["real", "a", "b"].flatMap((kind) =>
    Array.from({ length: 9 }, (_, i) => ({
      url: `i/${kind}${i}.png`,
      truth: kind === "real" ? "real" : "fake",
      model: kind === "real" ? null : kind,
    })),
  );
  return /** @type {any} */ ({
    study: { study: "s", kind: "study" },
    protocol: { feedback: true },
    unit: "percent",
    blocks: 2,
    images: 4,
    staircase: null,
    mask_count: 2,
    masks: [],
    models: ["a", "b"],
    pictures,
    published: [],
    published_without_flashes: [],
    ...changes,
  });
}

/** A generator that gives the same numbers each time. */
function dice() {
  let state = 1;
  return () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
}

/**
 * @param {any} described
 * @param {(url: string, i: number) => any} answer
 */
async function play(described, answer) {
  const demo = makeDemo(described, { ...WORLD, random: dice() });
  const opened = await demo.post("/api/studies/s/sessions", {});
  const replies = [];
  const seen = [];
  let { next } = opened.state;
  let done = null;
  while (!done) {
    const block = await demo.post("/api/sessions/demo/blocks", { block: next.block });
    let stimulus = block.images[0];
    for (let i = 0; i < block.images.length; ) {
      seen.push(stimulus);
      const reply = await demo.post("/api/sessions/demo/answers", {
        flags: [],
        ...answer(stimulus, seen.length - 1),
      });
      replies.push(reply);
      if (!reply.replaced_by) i += 1;
      stimulus = reply.replaced_by ?? block.images[i];
      ({ next, done } = reply);
    }
  }
  const debrief = await demo.get("/api/sessions/demo/debrief");
  return { opened, replies, seen, done, debrief };
}

const right = (/** @type {string} */ url) => ({ response: url.startsWith("i/real") ? "real" : "fake" });

test("a session shows half real, half of one model, and no picture twice", async () => {
  const { seen, done, debrief } = await play(site(), right);

  assert.equal(new Set(seen).size, 8);
  for (const block of [seen.slice(0, 4), seen.slice(4)])
    assert.equal(block.filter((url) => url.startsWith("i/real")).length, 2);
  assert.equal(new Set(seen.filter((url) => !url.startsWith("i/real")).map((url) => url[2])).size, 1);
  assert.deepEqual([done.right, done.answered, debrief.score], [8, 8, 0]);
});

test("the score of HYPE-infinity is the percentage judged wrong", async () => {
  const { debrief } = await play(site(), () => ({ response: "real" }));

  assert.equal(debrief.score, 50);
});

test("the staircase steps with the answers and starts anew with a block", async () => {
  const { replies } = await play(site({ staircase: RULE, unit: "ms" }), right);

  assert.deepEqual(
    replies.map(({ next }) => next?.exposure_ms),
    [470, 440, 410, 500, 470, 440, 410, undefined],
  );
});

test("at the end stands what each picture was, and what was said of it", async () => {
  const { seen, debrief } = await play(site(), () => ({ response: "fake" }));

  const { pictures, fakes_error, reals_error, others } = debrief;
  assert.deepEqual(
    pictures.map(({ url }) => url),
    seen,
  );
  assert.ok(
    pictures.every(
      ({ url, truth, response }) => response === "fake" && (truth === "real") === url.includes("real"),
    ),
  );
  assert.deepEqual([fakes_error, reals_error, others], [0, 100, null]);
});

test("the score of HYPE-time is the mean of the blocks' modes", async () => {
  // Shown are 500, 510, 480, 490, of which the shortest counts, and 500, 470, 480, 450.
  const wrong = [0, 2, 5];
  const { debrief } = await play(site({ staircase: RULE, unit: "ms" }), (url, i) =>
    wrong.includes(i) ? { response: url.startsWith("i/real") ? "fake" : "real" } : right(url),
  );

  assert.equal(debrief.score, (480 + 450) / 2);
});

test("a mistimed flash is replaced by a picture of the same truth, and nothing is told", async () => {
  const late = { timing: { planned_frames: [30], achieved_frames: [31] } };
  const { replies, seen } = await play(site({ staircase: RULE, unit: "ms" }), (url, i) => ({
    ...right(url),
    ...(i === 0 ? late : {}),
  }));

  assert.equal(replies.length, 9);
  assert.deepEqual(
    [replies[0].was_correct, replies[0].next.trial_index, replies[0].next.exposure_ms],
    [null, 0, 500],
  );
  assert.equal(seen[0].startsWith("i/real"), seen[1].startsWith("i/real"));
  assert.equal(new Set(seen).size, 9);
});

const LATE = { timing: { planned_frames: [30], achieved_frames: [31] } };

test("a demo whose spares are used up ends with the result of what was shown", async () => {
  const described = site({ staircase: RULE, unit: "ms" });

  // 3 pictures, the second judged wrong; after them every flash is late, and 5 or 6 spares are left
  const { replies, done, debrief } = await play(described, (url, i) => ({
    response: right(url).response === "real" && i !== 1 ? "real" : "fake",
    ...(i > 2 ? LATE : {}),
  }));

  const last = replies[replies.length - 1];
  assert.deepEqual([done.complete, done.answered, debrief.score], [false, 3, null]);
  assert.deepEqual([last.next, last.replaced_by, last.block_finished], [null, null, true]);
  assert.deepEqual([debrief.pictures.length, last.progress.answered, last.progress.total], [3, 3, 8]);
  assert.equal(last.progress.replaced, replies.length - 3);
});

test("five late flashes in a row ask whether to go on, and who stops has a result of nothing", async () => {
  const demo = makeDemo(site({ staircase: RULE, unit: "ms" }), { ...WORLD, random: dice() });
  await demo.post("/api/studies/s/sessions", {});
  const replies = [];
  for (let i = 0; i < 5; i += 1)
    replies.push(await demo.post("/api/sessions/demo/answers", { response: "real", flags: [], ...LATE }));

  const { done } = await demo.post("/api/sessions/demo/end", {});

  const { score, pictures, fakes_error, reals_error } = await demo.get("/api/sessions/demo/debrief");
  assert.deepEqual(
    replies.map(({ may_end }) => may_end),
    [false, false, false, false, true],
  );
  assert.deepEqual(
    [done.complete, done.paid_in_part, done.needs_code, done.answered],
    [false, false, false, 0],
  );
  assert.deepEqual([score, pictures, fakes_error, reals_error], [null, [], null, null]);
});

test("flashes that the window hid are not the browser's fault", async () => {
  const described = site({ staircase: RULE, unit: "ms" });

  const { done } = await play(described, () => ({
    ...{ response: "real", flags: ["hidden"] },
    timing: { planned_frames: [30], achieved_frames: [30] },
  }));

  assert.deepEqual([done.complete, done.paid_in_part], [false, true]);
});

test("the same demo is played without flashes by its own address", async () => {
  const published = [{ model: "StyleGAN", data: "FFHQ", score: 27.6 }];
  const described = site({
    staircase: RULE,
    unit: "ms",
    masks: ["i/m.png"],
    published_without_flashes: published,
  });
  described.study.flashes = true;
  const demo = makeDemo(described, { ...WORLD, random: dice(), hash: "#without-flashes" });

  const opened = await demo.post("/api/studies/s/sessions", {});
  const block = await demo.post("/api/sessions/demo/blocks", { block: 0 });

  assert.deepEqual([(await demo.get("study")).flashes, opened.state.protocol.time_limits], [false, "none"]);
  assert.deepEqual([opened.state.next.exposure_ms, block.masks, block.trial_masks], [null, [], []]);
  const { unit, published: shown } = await demo.get("/api/sessions/demo/debrief");
  assert.deepEqual([unit, shown], ["percent", published]);
});

test("a demo knows no session of before", async () => {
  const demo = makeDemo(site(), { ...WORLD, random: dice() });

  await assert.rejects(demo.post("/api/sessions/x/resume", {}), { code: "unknown_session" });
});
