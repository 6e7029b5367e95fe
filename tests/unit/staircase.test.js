import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { modalExposure, start, step } from "../../frontend/staircase.js";

const vectors = JSON.parse(readFileSync(new URL("./staircase_vectors.json", import.meta.url), "utf8"));

for (const vector of vectors) {
  test(`the rule does what was worked by hand: ${vector.name}`, () => {
    let state = start(vector.rule);
    const shown = vector.answers.map((answer) => {
      const { exposure_ms } = state;
      state = step(vector.rule, state, answer);
      return exposure_ms;
    });

    assert.deepEqual(shown, vector.exposures_ms);
    assert.equal(state.exposure_ms, vector.next_exposure_ms);
    assert.equal(modalExposure(shown), vector.modal_exposure_ms);
  });
}

test("no trials have no mode", () => {
  assert.throws(() => modalExposure([]), /without trials has no modal exposure/);
});
