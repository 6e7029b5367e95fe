// @ts-check
/** The third answer “not sure”, of studies that allow it, beside the two answers of any judgment. */

import { keyHint } from "./side_keys.js";
import { sentences, text, textNodes } from "../texts/texts.js";

export const NOT_SURE = "not_sure";
/** Between the keys of the other answers; no language uses it for one of them. */
const KEYS = ["g"];

/** @type {Record<string, string>} */
const TOLD = {
  real: "not_sure.was_real",
  fake: "not_sure.was_fake",
  left: "not_sure.left_real",
  right: "not_sure.right_real",
};

/**
 * Return a judgment with the third answer: its button, how to give it, and what follows it.
 * @param {import("./judgment.js").Judgment} judgment
 * @returns {import("./judgment.js").Judgment}
 */
export function withNotSure(judgment) {
  /** @type {Partial<import("./judgment.js").Judgment>} */
  const own = {
    press: () => [
      ...judgment.press(),
      text("between.sentences"),
      ...textNodes("not_sure.press", { key: keyHint(KEYS) }),
    ],
    tap: () => sentences(judgment.tap(), text("not_sure.tap", { answer: text("not_sure.answer") })),
    repeated: (response, n) =>
      response === NOT_SURE ? text("not_sure.repeated", { n }) : judgment.repeated(response, n),
    verdict: (response, wasCorrect, rightAnswer) =>
      response === NOT_SURE ? text(TOLD[rightAnswer ?? ""]) : judgment.verdict(response, wasCorrect),
  };
  return Object.create(judgment, {
    ...Object.getOwnPropertyDescriptors(own),
    choices: {
      get: () => [...judgment.choices, { answer: NOT_SURE, label: text("not_sure.answer"), keys: KEYS }],
    },
  });
}
