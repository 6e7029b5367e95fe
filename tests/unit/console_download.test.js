import assert from "node:assert/strict";
import { test } from "node:test";

import { fetched } from "../../frontend/console/download.js";

const HTML = { headers: { "Content-Type": "text/html" } };

function being(job) {
  return Response.json({ error: { code: "being_made", keys: [job] } }, { status: 503 });
}

/** The console's requests; `replies` are what the server says, one after the other. */
function world(...replies) {
  const asked = [];
  const pauses = [];
  const api = {
    send: async (path) => {
      asked.push(path);
      const reply = replies.shift();
      if (reply instanceof Error) throw reply;
      return reply;
    },
    get: async (path) => asked.push(path),
  };
  const context = { api, signal: new AbortController().signal };
  const jobs = [];
  const file = fetched(
    "/f.csv",
    async (job) => jobs.push(job),
    context,
    async (ms) => pauses.push(ms),
  );
  return { asked, file, jobs, pauses };
}

test("a file that is there is fetched once", async () => {
  const { asked, file } = world(new Response("a,b"));

  assert.equal(await (await file).text(), "a,b");
  assert.deepEqual(asked, ["/f.csv"]);
});

test("a file is waited for while the server makes it", async () => {
  const { asked, file, jobs } = world(...Array.from({ length: 20 }, () => being("j1")), new Response("a"));

  assert.equal(await (await file).text(), "a");
  assert.equal(asked.length, 21);
  assert.deepEqual(new Set(jobs), new Set(["j1"]));
});

for (const status of [429, 502, 503, 504]) {
  test(`a ${status} that is no JSON is never the file`, async () => {
    const refused = () => new Response(`<h1>${status}</h1>`, { ...HTML, status });

    assert.equal(await (await world(refused(), refused(), new Response("a")).file).text(), "a");
    const { asked, file } = world(...Array.from({ length: 9 }, refused));
    await assert.rejects(file, /could not be fetched; try again/);
    assert.equal(asked.length, 6);
  });
}

test("a connection that breaks in the middle of the file is tried again", async () => {
  const broken = new Response(new ReadableStream({ pull: (stream) => stream.error(new TypeError("lost")) }));

  assert.equal(
    await (await world(new TypeError("lost"), broken, new Response("whole")).file).text(),
    "whole",
  );
});

test("a refusal of the server is told at once, and a sign-in that has ended is asked for", async () => {
  const refused = Response.json(
    { error: { code: "invalid", message: "no masks", id: "1" } },
    { status: 400 },
  );
  const signedOut = Response.json({ error: { code: "no_token" } }, { status: 403 });

  await assert.rejects(world(refused).file, /no masks/);
  const { asked, file } = world(signedOut, new Response("a"));
  await file;
  assert.deepEqual(asked, ["/f.csv", "/api/me", "/f.csv"]);
});

test("pauses grow and respect what the server asks for", async () => {
  const refused = (seconds) => new Response("", { status: 503, headers: { "Retry-After": seconds } });
  const { file, pauses } = world(refused("0"), refused("0"), refused("20"), new Response("a"));
  await file;

  assert.deepEqual(pauses, [600, 1200, 20000]);
});
