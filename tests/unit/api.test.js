import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import { Refused, Unreached, makeApi } from "../../frontend/shared/api.js";

const json = (status, body, headers = {}) =>
  new Response(typeof body === "string" ? body : JSON.stringify(body), {
    status,
    headers: { "Content-Type": "application/json", ...headers },
  });
const page = (status = 200) =>
  new Response("<h1>Hotel</h1>", { status, headers: { "Content-Type": "text/html" } });
const png = (text = "png") => new Response(text, { headers: { "Content-Type": "image/png" } });
const fault = (id = "0badcafe") => json(500, { error: { code: "fault", message: "m", id } });
const lost = () => {
  throw new TypeError("network");
};
const cutOff = () => {
  const parts = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('{"stored":'));
      controller.error(new TypeError("network"));
    },
  });
  return new Response(parts, { headers: { "Content-Type": "application/json" } });
};

/** An api over a network that gives these replies, one after the other; the last one stays. */
function over(...replies) {
  const seen = { requests: [], pauses: [], trouble: [], stuck: [], isOffline: false };
  const api = makeApi({
    random: () => 0.5,
    onTrouble: (trouble) => seen.trouble.push(trouble?.kind ?? null),
    onStuck: async (trouble) => seen.stuck.push(trouble),
    pause: async (ms) => seen.pauses.push(ms),
    isOffline: () => seen.isOffline,
    send: async (path, init) => {
      seen.requests.push({ path, ...init });
      return (replies.length > 1 ? replies.shift() : replies[0])();
    },
  });
  return { api, seen };
}

const times = (count, reply) => Array.from({ length: count }, () => reply);
const stored = () => json(200, { stored: true });

test("what is lost, too often or failed is sent again, with longer pauses, until confirmed", async () => {
  const { api, seen } = over(
    lost,
    () => json(503, {}),
    () => json(429, {}),
    stored,
  );

  const reply = await api.post("/answers", { response: "fake" }, "s.secret");

  assert.deepEqual(reply, { stored: true });
  assert.deepEqual(seen.pauses, [300, 600, 1200]);
  assert.equal(new Set(seen.requests.map((request) => request.body)).size, 1);
});

test("the evaluator hears of it from the second failure on, and when it is over", async () => {
  for (const isOffline of [true, false]) {
    const { api, seen } = over(lost, lost, stored);
    seen.isOffline = isOffline;

    await api.get("/x");

    assert.deepEqual(seen.trouble, [isOffline ? "offline" : "unreached", null]);
  }
});

test("a lost network is waited for without end", async () => {
  const { api, seen } = over(...times(50, lost), stored);
  seen.isOffline = true;

  await api.get("/x");

  assert.deepEqual(seen.stuck, []);
  assert.equal(Math.max(...seen.pauses), 8000);
});

test("a server that cannot be reached is waited for, and asked about after five minutes", async () => {
  const { api, seen } = over(...times(50, lost), stored);

  await api.get("/x");

  assert.deepEqual(
    seen.stuck.map(({ kind }) => kind),
    ["unreached"],
  );
  const waited_ms = seen.pauses.slice(0, 42).reduce((sum, ms) => sum + ms, 0);
  assert.ok(waited_ms > 290_000 && waited_ms < 310_000, `${waited_ms}`);
});

test("a reply that breaks off in the middle is a lost one", async () => {
  const { api, seen } = over(cutOff, cutOff, stored);

  assert.deepEqual(await api.post("/answers", {}), { stored: true });
  assert.deepEqual(seen.trouble, ["unreached", null]);
});

for (const [what, reply, kind] of [
  ["a server that fails", fault, "fault"],
  ["another's 501", () => json(501, {}), "fault"],
  ["a reply that cannot be read", () => json(200, '{"stored":'), "fault"],
  ["another's page of 404", () => page(404), "fault"],
  ["a gateway that got no answer", () => page(504), "silent"],
  ["the sign-in page of a network", page, "portal"],
  ["a network that asks for signing in first", () => json(511, {}), "portal"],
]) {
  test(`${what} is tried six times in ten seconds, then the person is asked, and it is kept`, async () => {
    const { api, seen } = over(...times(13, reply), stored);

    const answer = await api.post("/answers", { response: "fake" });

    assert.deepEqual(answer, { stored: true });
    assert.deepEqual(
      seen.stuck.map((trouble) => trouble.kind),
      [kind, kind],
    );
    assert.deepEqual(seen.pauses.slice(0, 5), [300, 600, 1200, 2400, 4800]);
    assert.equal(seen.requests.length, 14);
    assert.ok(seen.requests.every((request) => request.body === '{"response":"fake"}'));
  });
}

test("the person is told the id under which the server logged it", async () => {
  const { api, seen } = over(...times(6, () => fault("deadbeef")), stored);

  await api.get("/x");

  assert.equal(seen.stuck[0].id, "deadbeef");
});

test("a busy server is waited for as long as it asks for, and asked about after five minutes", async () => {
  const busy = () => json(503, {}, { "Retry-After": "60" });
  const { api, seen } = over(...times(5, busy), stored);

  await api.get("/x");

  assert.deepEqual(seen.pauses, times(4, 66000)); // a tenth more, so that not all come back at once
  assert.deepEqual(seen.trouble, [...times(4, "busy"), null]);
  assert.equal(seen.stuck[0].kind, "busy");
});

test("who is to come back much later is told so, and not kept waiting", async () => {
  const tooMany = (retry) => () =>
    json(
      429,
      { error: { code: "too_many_sessions", message: "m", id: "0badcafe" } },
      { "Retry-After": retry },
    );
  const { api, seen } = over(tooMany("42"), tooMany("3000"));

  await assert.rejects(
    api.post("/sessions", {}),
    (error) => error instanceof Refused && error.code === "too_many_sessions",
  );

  assert.equal(seen.requests.length, 2);
  assert.equal(Math.round(seen.pauses[0]), 46200);
});

test("a time to come back that makes no sense is left aside", async () => {
  const { api, seen } = over(
    () => json(503, {}, { "Retry-After": "-5" }),
    () => json(503, {}, { "Retry-After": "soon" }),
    stored,
  );

  await api.get("/x");

  assert.deepEqual(seen.pauses, [300, 600]);
});

test("what the server refuses for good is not sent again", async () => {
  const { api, seen } = over(() =>
    json(409, { error: { code: "stale_lease", message: "m", id: "0badcafe" } }),
  );

  await assert.rejects(api.post("/answers", {}), (error) => {
    return error instanceof Refused && error.code === "stale_lease" && error.id === "0badcafe";
  });
  assert.equal(seen.requests.length, 1);
});

test("what the server lacks for good is a refusal, where the reply is the server's own", async () => {
  const lacking = json(501, { error: { code: "not_installed", message: "m", id: "0badcafe" } });
  const { api, seen } = over(() => lacking);

  await assert.rejects(
    api.post("/sessions", {}),
    (error) => error instanceof Refused && error.code === "not_installed" && error.id === "0badcafe",
  );
  assert.equal(seen.requests.length, 1);
});

test("a network's page is not taken for a confirmation, nor for a refusal", async () => {
  const { api } = over(
    page,
    () => page(403),
    () => page(404),
    stored,
  );

  assert.deepEqual(await api.post("/answers", {}), { stored: true });
});

test("a picture is waited for as well", async () => {
  const { api } = over(page, lost, () => png());

  const blob = await api.picture("/i/faces/a.png");

  assert.equal(await blob.text(), "png");
  assert.equal(blob.type, "image/png");
});

test("a picture that the server does not have is a fault, with the id of its refusal", async () => {
  const missing = () => json(404, { error: { code: "not_found", message: "m", id: "feedf00d" } });
  const { api, seen } = over(...times(6, missing), () => png());

  await api.picture("/i/faces/a.png");

  assert.deepEqual(
    seen.stuck.map(({ kind, id }) => [kind, id]),
    [["fault", "feedf00d"]],
  );
});

const s3 = (status, code) =>
  new Response(`<Error><Code>${code}</Code></Error>`, {
    status,
    headers: { "Content-Type": "application/xml" },
  });

for (const [status, code] of [
  [403, "AccessDenied"],
  [404, "NoSuchKey"],
]) {
  test(`a picture that the bucket lacks (${status}) is the fault that it is on one machine`, async () => {
    const { api, seen } = over(...times(6, () => s3(status, code)), () => png());
    const machine = over(...times(6, () => json(404, { error: { code: "not_found", message: "m" } })), () =>
      png(),
    );

    await api.picture("/i/faces/a.png");
    await machine.api.picture("/i/faces/a.png");

    assert.deepEqual(seen.stuck, machine.seen.stuck);
    assert.deepEqual(seen.pauses, machine.seen.pauses);
    assert.equal(seen.requests.length, 7);
  });
}

for (const [status, code, kind] of [
  [503, "SlowDown", "busy"],
  [500, "InternalError", "fault"],
  [502, "", "silent"],
  [504, "", "silent"],
]) {
  test(`a picture that the bucket cannot send now (${status}) is asked for again, ever later`, async () => {
    const { api, seen } = over(...times(4, () => s3(status, code)), () => png());

    await api.picture("/i/faces/a.png");

    assert.deepEqual(seen.pauses, [300, 600, 1200, 2400]);
    assert.deepEqual(seen.trouble, [kind, kind, kind, null]);
    assert.deepEqual(seen.stuck, []);
  });
}

test("a bucket that stays too busy is asked for minutes, and then the evaluator", async () => {
  const { api, seen } = over(...times(42, () => s3(503, "SlowDown")), () => png());

  await api.picture("/i/faces/a.png");

  assert.deepEqual(
    seen.stuck.map(({ kind }) => kind),
    ["busy"],
  );
});

test("a picture that is broken is fetched anew, past the cache", async () => {
  const { api, seen } = over(
    () => png("broken"),
    () => png("whole"),
  );

  const blob = await api.picture("/i/faces/a.png", undefined, async (blob) => {
    if ((await blob.text()) === "broken") throw new Error("not a picture");
  });

  assert.equal(await blob.text(), "whole");
  assert.deepEqual(
    seen.requests.map((request) => request.cache),
    ["reload", "reload"],
  );
});

for (const reply of [lost, fault, () => json(503, {})]) {
  test("what is fetched ahead of time fails quietly", async () => {
    const { api, seen } = over(reply);

    await assert.rejects(
      api.picture("/i/faces/a.png", () => false),
      Unreached,
    );

    assert.equal(seen.requests.length, 6);
    assert.deepEqual([seen.trouble, seen.stuck], [[], []]);
  });
}

test("once it is needed after all, the person is told", async () => {
  let isNeeded = false;
  const { api, seen } = over(
    fault,
    () => {
      isNeeded = true;
      return fault();
    },
    ...times(4, fault),
    () => png(),
  );

  await api.picture("/i/faces/a.png", () => isNeeded);

  assert.equal(seen.stuck.length, 1);
  assert.deepEqual(seen.trouble.slice(0, 1), ["fault"]);
});

test("of several in trouble one that is over does not hide the others", async () => {
  const shown = [];
  let heal = () => {};
  const healed = new Promise((resolve) => (heal = resolve));
  let tries = 0;
  const api = makeApi({
    random: () => 0.5,
    onTrouble: (trouble) => shown.push(trouble?.path ?? null),
    onStuck: async () => {},
    isOffline: () => false,
    pause: async () => {
      tries += 1;
      return tries > 9 ? healed : undefined;
    },
    send: async (path) => {
      if (tries > 4 && path === "/a") return stored();
      if (tries > 9) return stored();
      throw new TypeError("network");
    },
  });

  const both = Promise.all([api.get("/a"), api.get("/b")]);
  heal();
  await both;

  assert.equal(shown.at(-1), null);
  assert.ok(shown.slice(0, -1).every((path) => path !== null));
});

test("the token has a header of its own, and a body its digest, for CloudFront's signature", async () => {
  const { api, seen } = over(stored);

  await api.post("/answers", { response: "fake" }, "s.secret");
  await api.get("/x", "s.secret");
  await api.get("/x");

  const [posted, got, bare] = seen.requests.map((request) => request.headers);
  const digest = createHash("sha256").update('{"response":"fake"}').digest("hex");
  assert.deepEqual(posted, {
    "Content-Type": "application/json",
    "X-Openhype-Token": "s.secret",
    "X-Amz-Content-Sha256": digest,
  });
  assert.deepEqual([got, bare], [{ "X-Openhype-Token": "s.secret" }, {}]);
});

/** An `import()` that fails so often, then gives the module. */
function importing(failures, module, error = new TypeError("Importing a module script failed.")) {
  let tries = 0;
  return async () => {
    tries += 1;
    if (tries <= failures) throw error;
    return module;
  };
}

test("a module that the network lost is imported again, and the person hears of it", async () => {
  const { api, seen } = over(stored);

  const module = await api.load(importing(3, { flash: 1 }));

  assert.deepEqual(module, { flash: 1 });
  assert.deepEqual(seen.pauses, [300, 600, 1200]);
  assert.deepEqual(seen.trouble, ["unreached", "unreached", null]);
});

test("a module that is loaded ahead of time fails quietly", async () => {
  const { api, seen } = over(stored);

  await assert.rejects(
    api.load(importing(9, {}), () => false),
    Unreached,
  );

  assert.deepEqual(seen.trouble, []);
});

test("a module that is at fault itself is not imported again", async () => {
  const { api, seen } = over(stored);
  const wrong = importing(1, {}, new SyntaxError("unexpected token"));

  await assert.rejects(api.load(wrong), { name: "SyntaxError" });

  assert.deepEqual(seen.pauses, []);
});
