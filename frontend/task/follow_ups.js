// @ts-check
/**
 * What is asked besides the judgment: confidence, a mark on the picture, reasons and a comment. The answer is
 * given by then and cannot change; it is sent together with these, and only then is told right or wrong. This
 * module and what it imports are loaded before the instructions of studies that ask, and of no other.
 */

import { confidenceStep } from "./confidence.js";
import { lastPress, onTrialKeys } from "./keys.js";
import { MARK_UNITS, markOn } from "./mark.js";
import { texts } from "../texts/more_en.js";
import { el } from "../shared/elements.js";
import { enterScreen } from "./screens.js";
import { addTexts, percent, text } from "../texts/texts.js";

export { answersWithConfidence } from "./confidence.js";

addTexts(texts);

const LEAST_TOP_CSS = 4;
const BESIDE_CSS = { least: 272, most: 400, gap: 24 };
const COMMENT_CHARACTERS = 300;
/** What the server refuses in texts (`requests.py`): control characters and halves of surrogate pairs. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\ud800-\udfff]/gu;

/**
 * @typedef {import("../../types/api.js").FollowUps} FollowUps
 * @typedef {ReturnType<typeof import("./screens.js").trialScreen>} Screen
 * @typedef {{confidence?: number, confidence_rt?: number, mark?: number[], reasons?: number[], comment?:
 *   string}} Facts
 */

/**
 * One question, shown below the picture in place of the answer buttons; a tall one beside it, if there is
 * room.
 * @template T
 * @typedef {object} Step
 * @property {string} question
 * @property {boolean} [isTall]
 * @property {(done: (value: T) => void, screen: Screen) => {
 *   content: HTMLElement[], focus?: HTMLElement, onKey?: (digit: string) => void, end?: () => void}} build
 */

/**
 * Ask what the study asks after a response; return it as fields of the answer.
 * @param {Screen} screen
 * @param {FollowUps | null} asked
 * @param {string} response
 * @param {number | null} confidence if it was given with the response
 * @returns {Promise<Facts>}
 */
export async function askFollowUps(screen, asked, response, confidence) {
  if (!asked) return {};
  /** @type {Facts} */
  const facts = confidence === null ? {} : { confidence };
  const { heading, main, answers } = screen;
  const question = heading.textContent;
  const top_css = screen.stage.getBoundingClientRect().top - main.getBoundingClientRect().top;
  const put = (/** @type {Step<any>} */ step) => answered(screen, step, top_css);
  if (asked.confidence_points && confidence === null) {
    const began = performance.now();
    facts.confidence = await put(confidenceStep(asked.confidence_points));
    facts.confidence_rt = Math.max(0, lastPress() - began);
  }
  if (asked.where_after.includes(response)) {
    const mark = await put(markStep(/** @type {import("./mark.js").Kind} */ (asked.mark), asked.mark_needed));
    if (mark) facts.mark = mark;
  }
  if (asked.why_after.includes(response))
    Object.assign(facts, await put(whyStep(asked.reasons, asked.comment)));
  heading.textContent = question;
  main.querySelector(".follow-up")?.replaceWith(answers.element);
  main.style.justifyContent = main.style.paddingTop = "";
  return facts;
}

/**
 * Return what evaluators are told of these questions before the first trial.
 * @param {FollowUps | null} asked
 */
export function followUpNotes(asked) {
  if (!asked) return [];
  const isWith = asked.confidence_with;
  return [
    ...(isWith
      ? [
          el("p", {}, text("followup.note_with")),
          el("p", { class: "with-keys" }, text("followup.note_with_keys")),
        ]
      : []),
    ...(asked.confidence_points && !isWith ? [el("p", {}, text("followup.note_confidence"))] : []),
    ...(asked.why_after.length || asked.where_after.length ? [el("p", {}, text("followup.note_more"))] : []),
  ];
}

/**
 * Show one question and wait for its answer. The picture does not move as long as the question fits below it.
 * @template T
 * @param {Screen} screen
 * @param {Step<T>} step
 * @param {number} top_css where the picture is on the screen of the judgment
 * @returns {Promise<T>}
 */
function answered(screen, step, top_css) {
  const { main, stage, heading, answers } = screen;
  if (!stage.isConnected) return new Promise(() => {}); // another screen replaced the trials
  return new Promise((resolve) => {
    let isDone = false;
    /** @param {T} value */
    const done = (value) => {
      if (isDone || !stage.isConnected) return;
      isDone = true;
      screen.onFit = null;
      onTrialKeys(null);
      built.end?.();
      resolve(value);
    };
    const built = step.build(done, screen);
    const panel = el(
      "div",
      { class: "follow-up", role: "group", "aria-label": step.question },
      ...built.content,
    );
    heading.textContent = step.question;
    (main.querySelector(".follow-up") ?? answers.element).replaceWith(panel);
    main.style.justifyContent = "flex-start";
    main.style.paddingTop = `${top_css}px`;
    if (step.isTall) putBeside(panel, screen, step.question);
    screen.onFit = () => {
      main.style.justifyContent = main.style.paddingTop = "";
      if (step.isTall) putBeside(panel, screen, step.question);
    };
    const over_css = document.documentElement.scrollHeight - innerHeight;
    if (over_css > 0) main.style.paddingTop = `${Math.max(LEAST_TOP_CSS, top_css - over_css)}px`;
    enterScreen("followup");
    (built.focus ?? heading).focus({ preventScroll: true });
    onTrialKeys((_key, _onLatin, digit) => digit && built.onKey?.(digit));
  });
}

/**
 * Move a panel to the right of the picture, with its question, if the window is wide enough.
 * @param {HTMLElement} panel
 * @param {Screen} screen
 * @param {string} question
 */
function putBeside(panel, { stage, main }, question) {
  panel.classList.remove("beside");
  panel.querySelector(":scope > .title")?.remove();
  if (main.classList.contains("pinned")) return;
  const { right, top } = stage.getBoundingClientRect();
  const room_css = document.documentElement.clientWidth - right - 2 * BESIDE_CSS.gap;
  if (room_css < BESIDE_CSS.least) return;
  panel.prepend(el("p", { class: "title", "aria-hidden": "true" }, question));
  panel.classList.add("beside");
  panel.style.left = `${right + scrollX + BESIDE_CSS.gap}px`;
  panel.style.top = `${top + scrollY}px`;
  panel.style.width = `${Math.min(room_css, BESIDE_CSS.most)}px`;
}

/**
 * @param {import("./mark.js").Kind} kind
 * @param {boolean} isNeeded
 * @returns {Step<number[] | null>}
 */
function markStep(kind, isNeeded) {
  return {
    question: text("followup.where"),
    build: (done, { stage }) => {
      /** @type {number[] | null} */
      let given = null;
      const hints = [
        el(
          "span",
          { class: "without-keys" },
          kind === "box" ? text("followup.where_box") : text("followup.where_click"),
        ),
        el(
          "span",
          { class: "with-keys" },
          kind === "box" ? text("followup.where_box_keys") : text("followup.where_click_keys"),
        ),
      ];
      const status = el("p", { class: "hint", role: "status" }, ...hints);
      const on = continueButton(() => given && done(given));
      const none = el("button", { type: "button" }, text("followup.where_none"));
      none.addEventListener("click", () => done(null));
      const offer = () => {
        on.disabled = given === null;
        on.classList.toggle("primary", given !== null || isNeeded);
        none.classList.toggle("primary", given === null);
      };
      offer();
      const { end } = markOn(stage, kind, {
        onChange: (mark, hasCorner) => {
          given = mark;
          offer();
          status.replaceChildren(
            ...(mark ? [markedText(mark)] : hasCorner ? [text("followup.where_corner")] : hints),
          );
        },
        onDone: () => given && done(given),
      });
      const focus = /** @type {HTMLElement} */ (stage.querySelector(".marking"));
      return { content: [status, el("div", { class: "on" }, ...(isNeeded ? [] : [none]), on)], focus, end };
    },
  };
}

/**
 * @param {string[]} reasons
 * @param {FollowUps["comment"]} comment
 * @returns {Step<Facts>}
 */
function whyStep(reasons, comment) {
  return {
    question: text("followup.why"),
    isTall: true,
    build: (done) => {
      const boxes = reasons.map((_, i) => el("input", { type: "checkbox", value: `${i + 1}` }));
      const labels = reasons.map((reason, i) =>
        el("label", { class: "reason" }, boxes[i], el("span", {}, reason), ...digitHint(i + 1)),
      );
      const words = el("input", { type: "text", maxlength: `${COMMENT_CHARACTERS}`, autocomplete: "off" });
      const label = el(
        "label",
        { class: "comment" },
        comment === "required" ? text("followup.comment") : text("followup.comment_optional"),
        words,
      );
      const said = () => words.value.replace(UNPRINTABLE, " ").trim();
      const isComplete = () => comment !== "required" || said() !== "";
      const give = () => {
        if (!isComplete()) return;
        const chosen = boxes.filter((box) => box.checked).map((box) => Number(box.value));
        done({ ...(reasons.length ? { reasons: chosen } : {}), ...(said() ? { comment: said() } : {}) });
      };
      const on = continueButton(give);
      const offer = () => (on.disabled = !isComplete());
      words.addEventListener("input", offer);
      offer();
      for (const input of [...boxes, words]) {
        input.addEventListener(
          "keydown",
          (event) => event.key === "Enter" && !event.isComposing && !event.repeat && give(),
        );
      }
      const content = [
        ...(reasons.length
          ? [
              el("p", { class: "hint" }, text("followup.why_several")),
              el("div", { class: "reasons" }, ...labels),
            ]
          : []),
        ...(comment === "none" ? [] : [label]),
        on,
      ];
      return {
        content,
        onKey: (digit) => {
          const box =
            document.activeElement === words ? undefined : boxes.find(({ value }) => value === digit);
          if (box) box.checked = !box.checked;
        },
      };
    },
  };
}

/** @param {number[]} mark */
function markedText([x, y, width, height]) {
  const from = { x: percent(x / MARK_UNITS), y: percent(y / MARK_UNITS) };
  if (width === undefined) return text("followup.where_marked", from);
  return text("followup.where_marked_box", {
    ...from,
    right: percent((x + width) / MARK_UNITS),
    bottom: percent((y + height) / MARK_UNITS),
  });
}

/** @param {() => void} onPressed */
function continueButton(onPressed) {
  const button = el("button", { type: "button", class: "primary" }, text("followup.continue"));
  button.addEventListener("click", onPressed);
  return button;
}

/** @param {number} number */
function digitHint(number) {
  return number > 9
    ? []
    : [el("kbd", { class: "with-keys", "aria-hidden": "true", translate: "no" }, `${number}`)];
}
