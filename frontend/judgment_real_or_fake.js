// @ts-check
/** Is this picture real, or made by a computer? The page's side of `experiment/judgments/real_or_fake.py`. */

import { el } from "./screens.js";
import { text } from "./texts.js";

const HALF_REAL = "Half of them are real. The other half were made by a computer: they are fake. They come in random order.";
const REAL_BY_CHANCE = "Each one is either real, or was made by a computer: then it is fake. Both are equally likely each time, whatever came before.";

/** @type {import("./judgment.js").Judgment} */
export const judgment = {
  heading: "Real or fake?",
  each: "picture",
  choices: [
    { answer: "fake", label: text("answer.fake"), keys: ["f"] },
    { answer: "real", label: text("answer.real"), keys: ["j", "r"] },
  ],
  instructions: (study) => [el("p", {}, `You will see pictures, one at a time. ${study.half_real ? HALF_REAL : REAL_BY_CHANCE}`)],
  afterFlash: "Then say whether it was real or fake. There is no hurry with the answer.",
  shares: (isHalfReal) => `${isHalfReal ? "Half" : "About half"} of all pictures are real, and the others are fake.`,
  verdict: (response, wasCorrect) => (wasCorrect ? `✓ Right: ${response}` : `✗ Not this time: it was ${response === "real" ? "fake" : "real"}`),
  arrange: null,
};
