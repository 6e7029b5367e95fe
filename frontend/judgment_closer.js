// @ts-check
/** Which of two pictures is closer to the reference between them? The page's side of `experiment/judgments/closer.py`. */

import { el } from "./screens.js";
import { text, textNodes } from "./texts.js";

/** Keys on the left and on the right of the keyboard, whatever the language. */
const KEYS = { left: ["f", "arrowleft"], right: ["j", "arrowright"] };

/** @type {import("./judgment.js").Judgment} */
export const judgment = {
  get heading() {
    return text("closer.question");
  },
  get choices() {
    return [
      { answer: "left", label: text("answer.left"), keys: KEYS.left },
      { answer: "right", label: text("answer.right"), keys: KEYS.right },
    ];
  },
  pictures: 3,
  get captions() {
    return ["", text("closer.reference"), ""];
  },
  progress: (n, total) => text("closer.progress", { n, total }),
  partDone: (values) => text("closer.part_done", values),
  instructions: () => [el("p", {}, text("closer.triplets")), el("p", {}, text("closer.must_choose"))],
  press: () => textNodes("closer.press", { left_key: keyHint(KEYS.left), right_key: keyHint(KEYS.right) }),
  tap: () => text("closer.tap", { left: text("answer.left"), right: text("answer.right") }),
  afterFlash: "",
  repeated: (response, n) => text(response === "left" ? "side.all_left" : "side.all_right", { n }),
  shares: () => text("closer.sides"),
  verdict: (response, wasCorrect) => {
    if (wasCorrect) return text(response === "left" ? "closer.right_left" : "closer.right_right");
    return text(response === "left" ? "closer.wrong_right" : "closer.wrong_left");
  },
};

/** @param {string[]} keys the first of which is shown */
function keyHint([key]) {
  return el("kbd", {}, key.toUpperCase());
}
