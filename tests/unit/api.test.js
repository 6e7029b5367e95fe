import assert from "node:assert/strict";
import { test } from "node:test";

import { Refused, makeApi } from "../../frontend/api.js";

const json = (status, body) =>
  new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json" } });
const signInPage = () => new Response("<h1>Hotel</h1>", { headers: { "Content-Type": "text/html" } });

/** An api over a network that gives these replies, one after the other; a function that throws is a lost one. */
function over(...replies) {
  const seen = { requests: [], pauses: [], trouble: [] };
  const api = makeApi({
    random: () => 0.5,
    onTrouble: (isOffline) => seen.trouble.push(isOffline),
    pause: async (ms) => seen.pauses.push(ms),
    send: async (path, init) => {
      seen.requests.push({ path, ...init });
      return replies.shift()();
    },
  });
  return { api, seen };
}

const lost = () => {
  throw new TypeError("network");
};

test("what is lost, too often or failed is sent again, with longer pauses, until it is confirmed", async () => {
  const { api, seen } = over(lost, () => json(503, {}), () => json(429, {}), () => json(200, { stored: true }));

  const reply = await api.post("/answers", { response: "fake" }, "s.secret");

  assert.deepEqual(reply, { stored: true });
  assert.deepEqual(seen.pauses, [300, 600, 1200]);
  assert.equal(new Set(seen.requests.map((request) => request.body)).size, 1);
});

test("the evaluator hears of it from the second failure on, and when it is over", async () => {
  const { api, seen } = over(lost, lost, () => json(200, {}));

  await api.get("/x");

  assert.deepEqual(seen.trouble, [true, false]);
});

test("what the server refuses for good is not sent again", async () => {
  const { api, seen } = over(() => json(409, { error: { code: "stale_lease", message: "m", id: "0badcafe" } }));

  await assert.rejects(api.post("/answers", {}), (error) => {
    return error instanceof Refused && error.code === "stale_lease" && error.id === "0badcafe";
  });
  assert.equal(seen.requests.length, 1);
});

test("the sign-in page of a network is not taken for a confirmation", async () => {
  const { api } = over(signInPage, () => json(200, { stored: true }));

  assert.deepEqual(await api.post("/answers", {}), { stored: true });
});

test("a picture is waited for as well", async () => {
  const { api } = over(signInPage, lost, () => new Response("png", { headers: { "Content-Type": "image/png" } }));

  const blob = await api.picture("/i/faces/a.png");

  assert.equal(await blob.text(), "png");
});
