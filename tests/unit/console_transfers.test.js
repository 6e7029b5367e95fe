import assert from "node:assert/strict";
import { before, test } from "node:test";

import { deleteDraft, keepDraft } from "../../frontend/console_draft.js";
import { makeTransfers, transfersOf } from "../../frontend/console_transfers.js";

before(() => {
  globalThis.addEventListener ??= () => {};
  globalThis.document ??= { createElement: () => ({ setAttribute() {}, append() {}, textContent: "" }) };
});

/** A server that has every upload at once; `hold` keeps the replies to the beginning of uploads back until it is resolved. */
class Server {
  requests = [];
  hold = Promise.resolve();

  post = async (path, body) => {
    this.requests.push(path);
    if (path !== "/api/uploads") return {};
    await this.hold;
    return { upload: `of-${body.bytes}-${body.parts[0].slice(0, 4)}`, state: "complete", missing: [] };
  };
}

const handed = (name, text) => ({ name, items: [{ path: "a.png", file: new File([text], "a.png") }], others: [], isZip: false });
const begun = ({ requests }) => requests.filter((path) => path === "/api/uploads").length;
const soon = () => new Promise((resolve) => setTimeout(resolve, 100));

function held(server) {
  let release = () => {};
  server.hold = new Promise((resolve) => (release = resolve));
  return release;
}

test("pictures that are removed before their turn are never sent", async () => {
  const server = new Server();
  const release = held(server);
  const transfers = makeTransfers(server, keepDraft(server, "d1", {}), []);

  transfers.add("model", handed("gan", "one"));
  transfers.add("model", handed("dit", "two"));
  await soon();
  transfers.remove(transfers.slots[1]);
  release();
  await soon();

  assert.equal(begun(server), 1);
  assert.deepEqual(transfers.slots.map(({ name, progress }) => [name, progress.stage]), [["gan", "complete"]]);
});

test("an upload is deleted once the draft names another in its place", async () => {
  const server = new Server();
  const draft = keepDraft(server, "d2", {});
  const transfers = makeTransfers(server, draft, []);
  transfers.add("real", handed("real", "one"));
  await soon();
  const { real } = draft.body;

  transfers.fill(transfers.slots[0], handed("real", "three"));
  await soon();

  assert.notEqual(draft.body.real, real);
  assert.deepEqual(server.requests.slice(-2), ["/api/drafts/d2", `/api/uploads/${real}/delete`]);
});

test("a draft that is deleted while its pictures are sent stays deleted", async () => {
  const server = new Server();
  const release = held(server);
  const draft = keepDraft(server, "d3", {});
  const transfers = await transfersOf(server, draft);
  transfers.add("real", handed("real", "one"));
  await soon();

  await deleteDraft(server, "d3");
  release();
  draft.change({ name: "late" });
  await draft.flush();
  await soon();

  assert.deepEqual(server.requests, ["/api/uploads", "/api/drafts/d3/delete"]);
  assert.deepEqual(transfers.slots, []);
});
