import assert from "node:assert/strict";
import { before, test } from "node:test";

import { deleteDraft, keepDraft, openDraft } from "../../frontend/console/draft.js";
import { makeTransfers, transfersOf } from "../../frontend/console/transfers.js";

before(() => {
  globalThis.addEventListener ??= () => {};
  globalThis.document ??= { createElement: () => ({ setAttribute() {}, append() {}, textContent: "" }) };
});

/**
 * A server that stores drafts, and has every upload at once; `hold` keeps the replies to the beginning of
 * uploads back until it is resolved.
 */
class Server {
  requests = [];
  drafts = new Map();
  hold = Promise.resolve();

  post = async (path, body) => {
    this.requests.push(path);
    if (/^\/api\/drafts\/[^/]+$/.test(path)) this.drafts.set(path, structuredClone(body));
    if (path !== "/api/uploads") return {};
    await this.hold;
    return { upload: `of-${body.bytes}-${body.parts[0].slice(0, 4)}`, state: "complete", missing: [] };
  };

  get = async (path) => {
    if (path === "/api/drafts") return { drafts: [...this.drafts.values()].map((body) => ({ body })) };
    if (path.startsWith("/api/uploads/")) return { state: "complete" };
    return { body: structuredClone(this.drafts.get(path)) };
  };
}

const handed = (name, text) => ({
  name,
  items: [{ path: "a.png", file: new File([text], "a.png") }],
  others: [],
  isZip: false,
});
const begun = ({ requests }) => requests.filter((path) => path === "/api/uploads").length;
const soon = () => new Promise((resolve) => setTimeout(resolve, 100));

/** Wait until all pictures are sent and stored in the draft. */
async function sent(transfers, draft) {
  while (!transfers.slots.every(({ progress }) => progress.stage === "complete")) await soon();
  await draft.flush();
}

function held(server) {
  let release = () => {};
  server.hold = new Promise((resolve) => (release = resolve));
  return release;
}

test("pictures that are removed before their turn are never sent", async () => {
  const server = new Server();
  const release = held(server);
  const draft = keepDraft(server, "d1", null);
  const transfers = makeTransfers(server, draft, []);

  transfers.add("model", handed("gan", "one"));
  transfers.add("model", handed("dit", "two"));
  await soon();
  transfers.remove(transfers.slots[1]);
  release();
  await sent(transfers, draft);
  await soon();

  assert.equal(begun(server), 1);
  assert.deepEqual(
    transfers.slots.map(({ name, progress }) => [name, progress.stage]),
    [["gan", "complete"]],
  );
});

test("an upload is deleted once the draft names another in its place", async () => {
  const server = new Server();
  const draft = keepDraft(server, "d2", null);
  const transfers = makeTransfers(server, draft, []);
  transfers.add("real", handed("real", "one"));
  await sent(transfers, draft);
  const { real } = draft.body;

  transfers.fill(transfers.slots[0], handed("real", "three"));
  await sent(transfers, draft);
  while (!server.requests.at(-1).endsWith("/delete")) await soon();

  assert.notEqual(draft.body.real, real);
  assert.deepEqual(server.requests.slice(-2), ["/api/drafts/d2", `/api/uploads/${real}/delete`]);
});

test("a draft that is deleted while its pictures are sent stays deleted", async () => {
  const server = new Server();
  const release = held(server);
  const draft = keepDraft(server, "d3", null);
  const transfers = await transfersOf(server, draft);
  transfers.add("real", handed("real", "one"));
  while (!begun(server)) await soon();

  await deleteDraft(server, "d3");
  release();
  draft.change({ name: "late" });
  await draft.flush();
  await soon();

  assert.deepEqual(server.requests, ["/api/uploads", "/api/drafts/d3/delete"]);
  assert.deepEqual(transfers.slots, []);
});

test("pictures that another draft has too are not deleted with those of this one", async () => {
  const server = new Server();
  const draft = keepDraft(server, "d4", null);
  const transfers = makeTransfers(server, draft, []);
  transfers.add("real", handed("real", "one"));
  await sent(transfers, draft);
  server.drafts.set("/api/drafts/other", { real: draft.body.real });

  transfers.remove(transfers.slots[0]);
  await soon();

  assert.deepEqual(server.drafts.get("/api/drafts/d4"), { real: null });
  assert.deepEqual(
    server.requests.filter((path) => path.endsWith("/delete")),
    [],
  );
});

test("two tabs change one draft, and neither undoes what the other did", async () => {
  const server = new Server();
  const one = keepDraft(server, "d5", null);
  const pictures = makeTransfers(server, one, []);
  one.change({ name: "faces", method: "time" });
  await one.flush();
  const other = keepDraft(server, "d5", structuredClone(one.body));
  const pictures2 = makeTransfers(server, other, []);

  pictures.add("real", handed("real", "one"));
  pictures.add("model", handed("gan", "two"));
  await sent(pictures, one);
  other.change({ name: "faces-2" });
  pictures2.add("model", handed("dit", "three"));
  await sent(pictures2, other);
  pictures.rename(pictures.slots[1], "gan-1");
  await one.flush();
  await other.renew();
  await pictures2.renew();

  const { name, real, models } = server.drafts.get("/api/drafts/d5");
  assert.deepEqual(
    [name, typeof real, models.map(({ model }) => model).sort()],
    ["faces-2", "string", ["dit", "gan-1"]],
  );
  assert.deepEqual(pictures2.slots.map((slot) => [slot.kind, slot.name]).sort(), [
    ["model", "dit"],
    ["model", "gan-1"],
    ["real", ""],
  ]);
});

test("what could not be stored is stored with the next change", async () => {
  const server = new Server();
  const draft = keepDraft(server, "d8", null);
  const { post } = server;
  server.post = async () => Promise.reject(new Error("no"));
  draft.change({ name: "faces" });
  await assert.rejects(draft.flush(), /no/);
  server.post = post;

  draft.change({ method: "pair" });
  await draft.flush();

  assert.deepEqual(server.drafts.get("/api/drafts/d8"), { name: "faces", method: "pair" });
});

test("what another tab removed is gone when the pictures are shown again", async () => {
  const server = new Server();
  const draft = keepDraft(server, "d6", null);
  const transfers = await transfersOf(server, draft);
  transfers.add("real", handed("real", "one"));
  transfers.add("model", handed("gan", "two"));
  await sent(transfers, draft);

  server.drafts.set("/api/drafts/d6", { ...draft.body, models: [] });
  await openDraft(server, "d6");
  await transfersOf(server, draft);

  assert.deepEqual(
    transfers.slots.map(({ kind }) => kind),
    ["real"],
  );
});

test("pictures that wait for others say so when they are to go on", async () => {
  const server = new Server();
  const draft = keepDraft(server, "d7", null);
  const transfers = makeTransfers(server, draft, []);
  transfers.add("model", handed("gan", "one"));
  await sent(transfers, draft);
  const release = held(server);
  transfers.add("model", handed("dit", "two"));
  transfers.slots[0].progress = { ...transfers.slots[0].progress, stage: "paused" };

  transfers.start(transfers.slots[0]);

  assert.equal(transfers.slots[0].progress.stage, "ready");
  release();
  await sent(transfers, draft);
  assert.deepEqual(
    transfers.slots.map(({ progress }) => progress.stage),
    ["complete", "complete"],
  );
});
