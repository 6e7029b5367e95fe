import assert from "node:assert/strict";
import { test } from "node:test";

import { countSameAnswers } from "../../frontend/task/same_answers.js";

const said = (limit, answers) => {
  const count = countSameAnswers(limit);
  return [...answers].flatMap((letter, i) => (count(letter === "f" ? "fake" : "real") ? [i] : []));
};

test("it is time with the last of so many equal answers in a row, whichever they are", () => {
  assert.deepEqual(said(3, "fff"), [2]);
  assert.deepEqual(said(3, "ffrrr"), [4]);
});

test("another answer in between begins the count anew", () => {
  assert.deepEqual(said(3, "ffrffrff"), []);
});

test("it is said once", () => {
  assert.deepEqual(said(3, "fffffffrrrrr"), [2]);
});

test("with 0 it is never said, with 1 at once", () => {
  assert.deepEqual(said(0, "fffffffff"), []);
  assert.deepEqual(said(1, "rf"), [0]);
});
