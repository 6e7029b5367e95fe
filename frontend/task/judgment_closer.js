// @ts-check
/**
 * Which of two pictures is closer to the reference between them? The page's side of
 * `experiment/judgments/closer.py`.
 */

import { el } from "../shared/elements.js";
import { SIDES, keyHint } from "./side_keys.js";
import { text, textNodes } from "../texts/texts.js";

/** @type {import("./judgment.js").Judgment} */
export const judgment = {
  get heading() {
    return text("closer.question");
  },
  get choices() {
    return [
      { answer: "left", label: text("answer.left"), keys: SIDES.left },
      { answer: "right", label: text("answer.right"), keys: SIDES.right },
    ];
  },
  pictures: 3,
  get captions() {
    return ["", text("closer.reference"), ""];
  },
  progress: (n, total) => text("closer.progress", { n, total }),
  partDone: (values) => text("closer.part_done", values),
  instructions: () => [el("p", {}, text("closer.triplets")), el("p", {}, text("closer.must_choose"))],
  press: () => textNodes("closer.press", { left_key: keyHint(SIDES.left), right_key: keyHint(SIDES.right) }),
  tap: () => text("closer.tap", { left: text("answer.left"), right: text("answer.right") }),
  afterFlash: "",
  repeated: (response, n) => text(response === "left" ? "side.all_left" : "side.all_right", { n }),
  shares: () => text("closer.sides"),
  verdict: (response, wasCorrect) => {
    if (wasCorrect) return text(response === "left" ? "closer.right_left" : "closer.right_right");
    return text(response === "left" ? "closer.wrong_right" : "closer.wrong_left");
  },
};
