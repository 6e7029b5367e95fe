// @ts-check
/** Marks: from places on the screen to thousandths of the picture. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { boxBetween, pointOf } from "../../frontend/task/mark.js";

const PICTURE = { left: 100, top: 50, width: 400, height: 200 };

for (const { clientX, clientY, x, y } of [
  { clientX: 100, clientY: 50, x: 0, y: 0 },
  { clientX: 300, clientY: 100, x: 500, y: 250 },
  { clientX: 500, clientY: 250, x: 1000, y: 1000 },
  { clientX: 99, clientY: 400, x: 0, y: 1000 }, // beside it: the nearest place on it
]) {
  test(`${clientX}, ${clientY} on the screen is ${x}, ${y} on the picture`, () => {
    assert.deepEqual(pointOf({ clientX, clientY }, PICTURE), { x, y });
  });
}

test("a box is the same whichever corner comes first", () => {
  const [a, b, c, d] = [
    { x: 200, y: 300 },
    { x: 700, y: 350 },
    { x: 200, y: 350 },
    { x: 700, y: 300 },
  ];

  for (const [one, other] of [
    [a, b],
    [b, a],
    [c, d],
    [d, c],
  ])
    assert.deepEqual(boxBetween(one, other), [200, 300, 500, 50]);
});

test("two corners in a line are no box", () => {
  assert.equal(boxBetween({ x: 200, y: 300 }, { x: 204, y: 900 }), null);
  assert.equal(boxBetween({ x: 200, y: 300 }, { x: 900, y: 296 }), null);
});
