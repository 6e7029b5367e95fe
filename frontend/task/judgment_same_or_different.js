// @ts-check
/**
 * Are two pictures, one after the other, the same? The page's side of
 * `experiment/judgments/same_or_different.py`.
 */

import { el } from "../shared/elements.js";
import { keyHint } from "./side_keys.js";
import { text, textNodes } from "../texts/texts.js";

const KEYS = { same: ["f"], different: ["j"] };

/** @type {import("./judgment.js").Judgment} */
export const judgment = {
  get heading() {
    return text("same_or_different.question");
  },
  get choices() {
    return [
      { answer: "same", label: text("same_or_different.same"), keys: KEYS.same },
      { answer: "different", label: text("same_or_different.different"), keys: KEYS.different },
    ];
  },
  progress: (n, total) => text("pairs.progress", { n, total }),
  partDone: (values) => text("pairs.part_done", values),
  instructions: () => [
    el("p", {}, text("same_or_different.pairs")),
    el("p", {}, text("same_or_different.look")),
  ],
  press: () =>
    textNodes("same_or_different.press", {
      same_key: keyHint(KEYS.same),
      different_key: keyHint(KEYS.different),
    }),
  tap: () =>
    text("same_or_different.tap", {
      same: text("same_or_different.same"),
      different: text("same_or_different.different"),
    }),
  get ready() {
    return text("same_or_different.ready");
  },
  get afterFlash() {
    return text("same_or_different.after_flash");
  },
  repeated: (response, n) =>
    response === "same"
      ? text("same_or_different.all_same", { n })
      : text("same_or_different.all_different", { n }),
  shares: () => text("same_or_different.shares"),
  verdict: (response, wasCorrect) => {
    if (wasCorrect)
      return response === "same"
        ? text("same_or_different.right_same")
        : text("same_or_different.right_different");
    return response === "same"
      ? text("same_or_different.wrong_different")
      : text("same_or_different.wrong_same");
  },
  pictures: 1,
};
