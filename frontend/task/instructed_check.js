// @ts-check
/** An attention check by an instruction, which stands over the question and says which answer to give. */

import { text } from "../texts/texts.js";

/**
 * Show which answer a trial asks for; a screen reader announces it, as it does the feedback.
 * @param {import("./trials.js").Screen} screen
 * @param {import("./judgment.js").Judgment} judgment
 * @param {string} answer
 */
export function giveInstruction(screen, { choices }, answer) {
  const label = choices.find((choice) => choice.answer === answer)?.label ?? answer;
  screen.verdict.className = "verdict asked";
  screen.verdict.textContent = text("check.instruction", { answer: label });
}

/**
 * Return a judgment whose feedback is on the instruction instead of the picture.
 * @param {import("./judgment.js").Judgment} judgment
 * @returns {import("./judgment.js").Judgment}
 */
export function ofInstruction(judgment) {
  return { ...judgment, verdict: (_, wasCorrect) => text(wasCorrect ? "check.right" : "check.wrong") };
}
