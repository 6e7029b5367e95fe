// @ts-check
/** Messages for when the server cannot be reached, and how the evaluator continues: no response is lost. */

import { interrupt } from "./interruption.js";
import { contactLink, el, facts, notice, verbatim } from "../shared/elements.js";
import { counted, sentences, text, textNodes } from "../texts/texts.js";

/** @typedef {import("../shared/api.js").Trouble} Trouble */

/** @typedef {{home: string | null}} Panel `home`: address of its own page for evaluators, if known */

/**
 * What is known about the visit; filled in as the visit proceeds.
 * @typedef {object} About
 * @property {string} contact of the study; "" until it is known
 * @property {string} session id; "" before there is one
 * @property {Panel | null} panel that the evaluator came from; null if from none, or until it is known
 * @property {(() => Promise<void>) | null} giveUp ends a visit that cannot continue; null if the page offers
 *   no such end
 * @property {{actions: {label: string, value: string}[], begin: () => Promise<void>} | null} [nextPerson]
 *   begins afresh for the next one; its actions ask for it at a shared computer, and are none elsewhere
 */

/**
 * Titles by kind of trouble; a text `trouble.KIND_now` for one line, and `trouble.KIND_help`, belong to each.
 */
const TITLES = {
  offline: "trouble.offline",
  unreached: "trouble.unreached",
  slow: "trouble.slow",
  silent: "trouble.silent",
  busy: "trouble.busy",
  fault: "trouble.our_side",
  portal: "trouble.portal",
  undecoded: "trouble.undecoded",
};

/**
 * Show in one line that a request is being retried.
 * @param {Trouble | null} trouble null once it is over
 * @param {string} safe what is safe meanwhile, as a sentence, or nothing
 */
export function tellTrouble(trouble, safe) {
  if (!trouble) return notice("");
  const { kind, pause_ms } = trouble;
  if (kind === "slow") return notice(text("trouble.slow_now"));
  const seconds = counted(Math.max(1, Math.round(pause_ms / 1000)), "second");
  const when = kind === "busy" ? text("trouble.trying_in", { seconds }) : text("trouble.trying");
  notice(sentences(text(`trouble.${kind}_now`), safe, when));
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
  return (trouble) =>
    (asked ??= askToTryAgain(trouble, about, safe(), onStuck).finally(() => (asked = null)));
}

/**
 * @param {Trouble} trouble
 * @param {About} about
 * @param {string} safe
 * @param {(isStuck: boolean) => void} onStuck
 */
async function askToTryAgain(trouble, about, safe, onStuck) {
  const isOurs = trouble.kind !== "portal" && trouble.kind !== "offline";
  const kept = trouble.path.endsWith("/answers") ? text("trouble.answer_kept") : "";
  onStuck(true);
  const answer = await interrupt(
    "error",
    text(TITLES[trouble.kind]),
    [
      el("p", {}, text(`trouble.${trouble.kind}_help`)),
      el("p", {}, sentences(safe, kept, text("trouble.please_try"))),
      ...(isOurs ? [el("p", {}, text("trouble.later"))] : []),
      ...(isOurs ? quotes(about, trouble.id) : []),
    ],
    [
      { label: text("trouble.try_again"), value: "again", primary: true },
      ...(isOurs && about.giveUp ? [{ label: text("trouble.cannot_go_on"), value: "leave" }] : []),
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
  if (contact)
    return [
      el(
        "p",
        { class: "quiet" },
        ...textNodes(id ? "contact.questions_quote" : "contact.questions", {
          contact: contactLink(contact),
          id: verbatim(id),
        }),
      ),
    ];
  return id ? [el("p", { class: "quiet" }, ...textNodes("contact.quote", { id: verbatim(id) }))] : [];
}

/**
 * Return the contact, and what to quote.
 * @param {About} about
 * @param {string} id of the error, as in the server's log
 */
export function quotes({ contact, session }, id) {
  const rows = [
    ...(id ? [[text("contact.error"), verbatim(id)]] : []),
    ...(session ? [[text("contact.session"), verbatim(session)]] : []),
    [text("contact.time"), `${new Date().toISOString().slice(0, 16).replace("T", " ")} UTC`],
  ];
  const whom = contact
    ? [el("p", {}, ...textNodes("contact.write_quoting", { contact: contactLink(contact) }))]
    : [el("p", {}, text("contact.quoting"))];
  return [...whom, facts(rows)];
}
