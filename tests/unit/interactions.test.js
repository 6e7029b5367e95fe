import assert from "node:assert/strict";
import { test } from "node:test";

import { listenToInteractions, takeInteractions } from "../../frontend/task/interactions.js";

test("leaving and coming back, and full screen, are kept in order with their times", () => {
  const { view, page, at } = listening();

  at(10.4, () => view.dispatchEvent(new Event("blur")));
  at(900.6, () => view.dispatchEvent(new Event("focus")));
  at(1000, () => turnFullScreen(page, {}));
  at(2000, () => turnFullScreen(page, null));

  assert.deepEqual(takeInteractions(), [
    { event: "blur", time_ms: 10 },
    { event: "focus", time_ms: 901 },
    { event: "fullscreenenter", time_ms: 1000 },
    { event: "fullscreenexit", time_ms: 2000 },
  ]);
});

test("what was taken is not given again", () => {
  const { view } = listening();
  view.dispatchEvent(new Event("blur"));

  takeInteractions();

  assert.deepEqual(takeInteractions(), []);
});

test("of one trial no more are kept than the server takes", () => {
  const { view } = listening();

  for (let i = 0; i < 100; i += 1) view.dispatchEvent(new Event("blur"));

  assert.equal(takeInteractions().length, 40);
});

function listening() {
  const view = new EventTarget();
  const page = Object.assign(new EventTarget(), { fullscreenElement: null });
  let clock = 0;
  listenToInteractions(view, page, () => clock);
  /** @param {number} ms @param {() => void} act */
  const at = (ms, act) => {
    clock = ms;
    act();
  };
  return { view, page, at };
}

function turnFullScreen(page, element) {
  page.fullscreenElement = element;
  page.dispatchEvent(new Event("fullscreenchange"));
}
