// @ts-check
/** The demo's own session: drawn as the server draws it, stepped by the staircase, scored at the end. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { makeDemo } from "../../frontend/demo.js";

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
  const demo = makeDemo(described, { picture: async () => new Blob(), random: dice() });
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
  return { opened, replies, seen, done };
}

const right = (/** @type {string} */ url) => ({ response: url.startsWith("i/real") ? "real" : "fake" });

test("a session shows half real, half of one model, and no picture twice", async () => {
  const { seen, done } = await play(site(), right);

  assert.equal(new Set(seen).size, 8);
  for (const block of [seen.slice(0, 4), seen.slice(4)])
    assert.equal(block.filter((url) => url.startsWith("i/real")).length, 2);
  assert.equal(new Set(seen.filter((url) => !url.startsWith("i/real")).map((url) => url[2])).size, 1);
  assert.deepEqual([done.right, done.answered, done.debrief.score], [8, 8, 0]);
});

test("the score of HYPE-infinity is the percentage judged wrong", async () => {
  const { done } = await play(site(), () => ({ response: "real" }));

  assert.equal(done.debrief.score, 50);
});

test("the staircase steps with the answers and starts anew with a block", async () => {
  const { replies } = await play(site({ staircase: RULE, unit: "ms" }), right);

  assert.deepEqual(
    replies.map(({ next }) => next?.exposure_ms),
    [470, 440, 410, 500, 470, 440, 410, undefined],
  );
});

test("at the end stands what each picture was, and what was said of it", async () => {
  const { seen, done } = await play(site(), () => ({ response: "fake" }));

  const { pictures, fakes_error, reals_error, others } = done.debrief;
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
  const { done } = await play(site({ staircase: RULE, unit: "ms" }), (url, i) =>
    wrong.includes(i) ? { response: url.startsWith("i/real") ? "fake" : "real" } : right(url),
  );

  assert.equal(done.debrief.score, (480 + 450) / 2);
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

test("a demo knows no session of before", async () => {
  const demo = makeDemo(site(), { picture: async () => new Blob(), random: dice() });

  await assert.rejects(demo.post("/api/sessions/x/resume", {}), { code: "unknown_session" });
});
