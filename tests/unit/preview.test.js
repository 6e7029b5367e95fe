/** The way back from a preview. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { backTo } from "../../frontend/task/preview.js";

test("the fragment leads back to pages of the console, and nowhere else", () => {
  const back = (/** @type {string} */ fragment) => backTo({ hash: fragment });

  assert.equal(back("#/console/studies/faces"), "/console/studies/faces");
  assert.equal(back("#/lab/hype/console/new/a1/settings"), "/lab/hype/console/new/a1/settings");
  const others = [
    "",
    "#",
    "#demo",
    "#//evil.example/console/",
    "#/\\evil.example/console/x",
    "#javascript:x",
  ];
  assert.deepEqual(
    others.map(back),
    others.map(() => ""),
  );
  assert.equal(back("#//evil.example/console/studies/x"), "");
  assert.equal(back("#https://evil.example/console/studies/x"), "");
  assert.equal(back("#/s/faces"), "");
});
