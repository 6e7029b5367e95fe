// @ts-check
/** Is this picture real, or made by a computer? The page's side of `experiment/judgments/real_or_fake.py`. */

import { answerKeys } from "./answer_keys.js";
import { el } from "../shared/elements.js";
import { text, textNodes } from "../texts/texts.js";

/** @type {import("./judgment.js").Judgment} */
export const judgment = {
  get heading() {
    return text("real_or_fake.question");
  },
  get choices() {
    const { fake, real } = answerKeys();
    return [
      { answer: "fake", label: text("answer.fake"), keys: fake },
      { answer: "real", label: text("answer.real"), keys: real },
    ];
  },
  progress: (n, total) => text("picture.progress", { n, total }),
  partDone: (values) => text("picture.part_done", values),
  instructions: (study) => [
    el("p", {}, study.half_real ? text("real_or_fake.half") : text("real_or_fake.chance")),
  ],
  press: () =>
    textNodes("real_or_fake.press", {
      fake_key: keyHint("answer.fake_key"),
      real_key: keyHint("answer.real_key"),
    }),
  tap: () => text("real_or_fake.tap", { fake: text("answer.fake"), real: text("answer.real") }),
  get afterFlash() {
    return text("real_or_fake.after_flash");
  },
  repeated: (response, n) =>
    response === "fake" ? text("real_or_fake.all_fake", { n }) : text("real_or_fake.all_real", { n }),
  shares: (isHalfReal) =>
    isHalfReal ? text("real_or_fake.shares_half") : text("real_or_fake.shares_chance"),
  verdict: (response, wasCorrect) => {
    if (wasCorrect)
      return response === "fake" ? text("real_or_fake.right_fake") : text("real_or_fake.right_real");
    return response === "fake" ? text("real_or_fake.wrong_real") : text("real_or_fake.wrong_fake");
  },
  pictures: 1,
};

/** @param {string} key of a text that is the name of a key */
function keyHint(key) {
  return el("kbd", { translate: "no" }, text(key));
}
