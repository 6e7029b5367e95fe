import assert from "node:assert/strict";
import { test } from "node:test";

import { lookOn } from "../../frontend/console/poll.js";

/**
 * Look at replies in order; gives what was asked, told and waited.
 * @param {(Response | null)[]} replies null for no network
 */
async function looked(replies) {
  const seen = { asked: [], data: [], trouble: [], pauses: [], keys: 0 };
  const left = [...replies];
  await lookOn("/api/studies/x/live", {
    onData: (data) => seen.data.push(data),
    onTrouble: (isLost) => seen.trouble.push(isLost),
    onKeyNeeded: () => (seen.keys += 1),
    send: async (_, init) => {
      seen.asked.push(init.headers["If-None-Match"] ?? "");
      const reply = left.shift();
      if (!reply) throw new TypeError("no network");
      return reply;
    },
    pause: async (ms) => seen.pauses.push(ms),
    goesOn: () => left.length > 0,
  });
  return seen;
}

const whole = (data, tag) => new Response(JSON.stringify(data), { headers: { ETag: tag } });
const same = () => new Response(null, { status: 304 });

test("what has not changed is asked for by its tag, and told once", async () => {
  const seen = await looked([whole({ n: 1 }, '"a"'), same(), whole({ n: 2 }, '"b"'), same()]);

  assert.deepEqual(seen.asked, ["", '"a"', '"a"', '"b"']);
  assert.deepEqual(seen.data, [{ n: 1 }, { n: 2 }]);
});

test("without a network it waits longer and longer, says so from the second time, and recovers", async () => {
  const seen = await looked([whole({}, '"a"'), null, null, null, null, null, same()]);

  assert.deepEqual(seen.pauses, [3000, 6000, 12000, 24000, 30000, 30000, 3000]);
  assert.deepEqual(seen.trouble, [false, false, true, true, true, true, false]);
});

test("an error of the server is no data", async () => {
  const seen = await looked([new Response("{}", { status: 500 }), whole({ n: 1 }, '"a"')]);

  assert.deepEqual(seen.data, [{ n: 1 }]);
});

test("when the visit is over it asks for nothing more", async () => {
  const seen = await looked([new Response("", { status: 403 }), whole({}, '"a"')]);

  assert.equal(seen.keys, 1);
  assert.deepEqual(seen.data, []);
});
