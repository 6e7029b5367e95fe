// @ts-check
/** How sure an evaluator is: as points or on a slider after the answer, or in one press with it. */

import { el } from "../shared/elements.js";
import { choiceOf } from "./screens.js";
import { text } from "../texts/texts.js";

const SLIDER_POINTS = 101;
const STACKED = "(max-width: 48rem)"; // as in style.css

/**
 * @typedef {import("./screens.js").AnswerButton} AnswerButton
 * @typedef {import("./follow_ups.js").Step<number>} Step
 */

/**
 * Return the points of confidence as a step; a press chooses one and goes on.
 * @param {number} points 2 to 7, or 101 for a slider
 * @returns {Step}
 */
export function confidenceStep(points) {
  return points === SLIDER_POINTS ? sliderStep() : pointsStep(points);
}

/**
 * @param {number} points
 * @returns {Step}
 */
function pointsStep(points) {
  return {
    question: text("followup.confidence"),
    build: (done) => {
      const buttons = numbers(points).map((level) =>
        pointButton(level, text("followup.confidence_point", { level, points }), () => done(level)),
      );
      return {
        content: [
          el("div", { class: "points" }, ...buttons),
          ends(text("followup.confidence_low"), text("followup.confidence_high")),
        ],
        onKey: (digit) => {
          const level = Number(digit);
          if (level >= 1 && level <= points) done(level);
        },
      };
    },
  };
}

/**
 * Return a slider as a step. Its thumb appears once a place was chosen, so that none of them is suggested.
 * @returns {Step}
 */
function sliderStep() {
  const question = text("followup.confidence");
  return {
    question,
    build: (done) => {
      const slider = el("input", {
        type: "range",
        min: "0",
        max: `${SLIDER_POINTS - 1}`,
        step: "1",
        class: "unset",
        "aria-label": question,
        "aria-valuetext": text("followup.confidence_unset"),
      });
      const on = el("button", { type: "button", class: "primary", disabled: "" }, text("followup.continue"));
      const isSet = () => !on.disabled;
      const set = () => {
        slider.classList.remove("unset");
        slider.removeAttribute("aria-valuetext");
        on.disabled = false;
      };
      slider.addEventListener("input", set);
      slider.addEventListener("pointerup", set); // the middle is its value already, and no input
      slider.addEventListener(
        "keydown",
        (event) => event.key === "Enter" && isSet() && done(slider.valueAsNumber),
      );
      on.addEventListener("click", () => isSet() && done(slider.valueAsNumber));
      return {
        content: [slider, ends(text("followup.confidence_low"), text("followup.confidence_high")), on],
        focus: slider,
      };
    },
  };
}

/**
 * Return answer buttons that state the confidence too: a row of points for each answer, surest outside. By
 * keyboard, the key of the answer comes first, then the number.
 * @param {import("./judgment.js").Judgment} judgment
 * @param {number} points
 * @returns {import("./screens.js").Answers}
 */
export function answersWithConfidence({ choices }, points) {
  const isStacked = matchMedia(STACKED).matches;
  const sides = choices.map(({ answer, label, keys }, i) => {
    const isMirrored = i === 0 && !isStacked;
    const levels = isMirrored ? numbers(points).reverse() : numbers(points);
    const buttons = levels.map((level) => ({
      button: pointButton(level, text("followup.level", { answer: label, level, points })),
      answer,
      confidence: level,
    }));
    const order = [text("followup.level_low"), text("followup.level_high")];
    const group = el(
      "div",
      { role: "group", "aria-label": label, class: "side" },
      el("p", {}, label, el("kbd", { class: "with-keys", translate: "no" }, keys[0].toUpperCase())),
      el("div", { class: "points" }, ...buttons.map(({ button }) => button)),
      ends(order[isMirrored ? 1 : 0], order[isMirrored ? 0 : 1]),
    );
    return { answer, keys, group, buttons };
  });
  /** @type {typeof sides[number] | undefined} */
  let side;
  /** @param {typeof sides[number] | undefined} chosen */
  const choose = (chosen) => {
    side = chosen;
    for (const each of sides) each.group.classList.toggle("chosen", each === chosen);
  };
  return {
    element: el(
      "div",
      { class: "choices levels left-to-right" }, // as the keys are
      ...sides.map(({ group }) => group),
    ),
    buttons: sides.flatMap(({ buttons }) => buttons),
    begin: () => choose(undefined),
    byKey: (key, onLatin, digit) => {
      const named = sides[choiceOf(sides, key, onLatin)];
      if (named) choose(named);
      return side?.buttons.find(({ confidence }) => `${confidence}` === digit);
    },
  };
}

/**
 * @param {number} level
 * @param {string} name
 * @param {() => void} [onPressed]
 */
function pointButton(level, name, onPressed) {
  const button = el("button", { type: "button", "aria-label": name }, `${level}`);
  if (onPressed) button.addEventListener("click", onPressed);
  return button;
}

/**
 * Return the meanings of the two ends of a scale.
 * @param {string} first
 * @param {string} last
 */
function ends(first, last) {
  return el("div", { class: "ends" }, el("span", {}, first), el("span", {}, last));
}

/** @param {number} count */
function numbers(count) {
  return Array.from({ length: count }, (_, i) => i + 1);
}
