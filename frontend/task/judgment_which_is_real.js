// @ts-check
/** Which of two pictures side by side is real? The page's side of `experiment/judgments/which_is_real.py`. */

import { el } from "../shared/elements.js";
import { SIDES, keyHint } from "./side_keys.js";
import { text, textNodes } from "../texts/texts.js";

/** @type {import("./judgment.js").Judgment} */
export const judgment = {
  get heading() {
    return text("which_is_real.question");
  },
  get choices() {
    return [
      { answer: "left", label: text("answer.left"), keys: SIDES.left },
      { answer: "right", label: text("answer.right"), keys: SIDES.right },
    ];
  },
  pictures: 2,
  progress: (n, total) => text("pairs.progress", { n, total }),
  partDone: (values) => text("pairs.part_done", values),
  instructions: (study) => [
    el("p", {}, text(study.half_real ? "which_is_real.half" : "which_is_real.chance")),
  ],
  press: () =>
    textNodes("which_is_real.press", { left_key: keyHint(SIDES.left), right_key: keyHint(SIDES.right) }),
  tap: () => text("which_is_real.tap", { left: text("answer.left"), right: text("answer.right") }),
  get afterFlash() {
    return text("which_is_real.after_flash");
  },
  repeated: (response, n) =>
    text(response === "left" ? "which_is_real.all_left" : "which_is_real.all_right", { n }),
  shares: (isHalfReal) => text(isHalfReal ? "which_is_real.shares_half" : "which_is_real.shares_chance"),
  verdict: (response, wasCorrect) => {
    if (wasCorrect)
      return text(response === "left" ? "which_is_real.right_left" : "which_is_real.right_right");
    return text(response === "left" ? "which_is_real.wrong_right" : "which_is_real.wrong_left");
  },
};
