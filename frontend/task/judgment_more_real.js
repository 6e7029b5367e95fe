// @ts-check
/** Which of two pictures looks more real? The page's side of `experiment/judgments/more_real.py`. */

import { el } from "../shared/elements.js";
import { SIDES, keyHint } from "./side_keys.js";
import { text, textNodes } from "../texts/texts.js";

/** The keys between those of left and right. */
const TIE = ["g", "h"];

/** @type {import("./judgment.js").Judgment} */
export const judgment = {
  get heading() {
    return text("more_real.question");
  },
  get choices() {
    return [
      { answer: "left", label: text("answer.left"), keys: SIDES.left },
      { answer: "tie", label: text("more_real.tie"), keys: TIE },
      { answer: "right", label: text("answer.right"), keys: SIDES.right },
    ];
  },
  progress: (n, total) => text("pairs.progress", { n, total }),
  partDone: (values) => text("pairs.part_done", values),
  instructions: ({ answers }) => [
    el("p", {}, text("more_real.pairs")),
    el("p", {}, answers.includes("tie") ? text("more_real.may_tie") : text("more_real.must_choose")),
  ],
  press() {
    const keys = { left_key: keyHint(SIDES.left), right_key: keyHint(SIDES.right) };
    if (this.choices.length === 2) return textNodes("more_real.press", keys);
    return textNodes("more_real.press_tie", { ...keys, tie_key: keyHint(TIE) });
  },
  tap() {
    const labels = { left: text("answer.left"), right: text("answer.right") };
    return this.choices.length === 2
      ? text("more_real.tap", labels)
      : text("more_real.tap_tie", { ...labels, tie: text("more_real.tie") });
  },
  afterFlash: "",
  repeated: (response, n) => text(REPEATED[response], { n }),
  shares: () => text("more_real.sides"),
  verdict: () => "",
  pictures: 2,
};

/** @type {Record<string, string>} */
const REPEATED = { left: "side.all_left", right: "side.all_right", tie: "more_real.all_tie" };
