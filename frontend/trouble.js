// @ts-check
/** Messages for when the server cannot be reached, and how the evaluator continues: no response is lost. */

import { interrupt } from "./interruption.js";
import { contactLink, el, facts, notice } from "./screens.js";

/** @typedef {import("./api.js").Trouble} Trouble */

/**
 * What is known about the visit; filled in as the visit proceeds.
 * @typedef {object} About
 * @property {string} contact of the study; "" until it is known
 * @property {string} session id; "" before there is one
 * @property {(() => Promise<void>) | null} giveUp ends a visit that cannot continue; null if the page offers no such end
 */

const NOTICES = {
  offline: "The connection is lost.",
  unreached: "The server cannot be reached.",
  slow: "The server is slow just now. Please wait a moment…",
  silent: "The server does not answer.",
  busy: "Many people are here just now.",
  fault: "The server has a problem.",
  portal: "Your network sends a page of its own; perhaps you have to sign in to it first.",
};

const STUCK = {
  offline: ["The connection is lost", "Please check your network."],
  unreached: ["The server cannot be reached", "Perhaps your network does not reach the internet just now, or the server of the study is stopped."],
  slow: ["The server is slow", "It takes very long to answer."],
  silent: ["The server does not answer", "We have tried for some minutes. This is not your fault."],
  busy: ["Very many people are here", "The server could not take what this page sent. This is not your fault."],
  fault: ["Something went wrong on our side", "The server could not do what this page asked for. This is not your fault."],
  portal: [
    "Your network asks for something first",
    "It sends a page of its own in place of the study. Perhaps you have to sign in, as in a hotel or on a train. Please open any other page in a new tab to do so; then come back here.",
  ],
};

/**
 * Show in one line that a request is being retried.
 * @param {Trouble | null} trouble null once it is over
 * @param {string} safe what is safe meanwhile, as a sentence, or nothing
 */
export function tellTrouble(trouble, safe) {
  if (!trouble) return notice("");
  const { kind, pause_ms } = trouble;
  if (kind === "slow") return notice(NOTICES.slow);
  const when = kind === "busy" ? `trying again in ${Math.max(1, Math.round(pause_ms / 1000))} seconds…` : "trying again…";
  notice([NOTICES[kind], safe, `We are ${when}`].filter(Boolean).join(" "));
}

/**
 * Return a function that asks the evaluator after automatic retries failed; it resolves when to try again.
 * Calls that are stuck at the same time share one question.
 * @param {About} about
 * @param {() => string} safe what is safe meanwhile, as a sentence, or nothing
 * @param {(isStuck: boolean) => void} [onStuck]
 * @returns {(trouble: Trouble) => Promise<unknown>}
 */
export function makeStuck(about, safe, onStuck = () => {}) {
  /** @type {Promise<void> | null} */
  let asked = null;
  return (trouble) => (asked ??= askToTryAgain(trouble, about, safe(), onStuck).finally(() => (asked = null)));
}

/**
 * @param {Trouble} trouble
 * @param {About} about
 * @param {string} safe
 * @param {(isStuck: boolean) => void} onStuck
 */
async function askToTryAgain(trouble, about, safe, onStuck) {
  const [title, text] = STUCK[trouble.kind];
  const isOurs = trouble.kind !== "portal" && trouble.kind !== "offline";
  const kept = trouble.path.endsWith("/answers") ? ["Your last answer is kept on this page, and is sent once it works again."] : [];
  onStuck(true);
  const answer = await interrupt(
    "error",
    title,
    [
      el("p", {}, text),
      el("p", {}, [safe, ...kept, "Please try again."].filter(Boolean).join(" ")),
      ...(isOurs ? [el("p", {}, "If that does not help, open the same link again in some minutes: you go on where you stopped.")] : []),
      ...(isOurs ? quotes(about, trouble.id) : []),
    ],
    [
      { label: "Try again", value: "again", primary: true },
      ...(isOurs && about.giveUp ? [{ label: "I cannot go on", value: "leave" }] : []),
    ],
  );
  if (answer === "leave") await about.giveUp?.();
  else onStuck(false);
}

/**
 * Return the contact in one line, if nothing went wrong.
 * @param {{contact: string}} about
 * @param {string} id of the refusal, as in the server's log
 */
export function questions({ contact }, id) {
  const quote = id ? `, and quote ${id}` : "";
  if (contact) return [el("p", { class: "quiet" }, "Questions? You can write to ", contactLink(contact), `${quote}.`)];
  return id ? [el("p", { class: "quiet" }, `If you write to us, please quote ${id}.`)] : [];
}

/**
 * Return the contact, and what to quote.
 * @param {About} about
 * @param {string} id of the error, as in the server's log
 */
export function quotes({ contact, session }, id) {
  const rows = [
    ...(id ? [["Error", id]] : []),
    ...(session ? [["Session", session]] : []),
    ["Time", `${new Date().toISOString().slice(0, 16).replace("T", " ")} UTC`],
  ];
  const whom = contact ? [el("p", {}, "You can write to ", contactLink(contact), ". Please quote:")] : [el("p", {}, "If you write to us, please quote:")];
  return [...whom, facts(rows)];
}
