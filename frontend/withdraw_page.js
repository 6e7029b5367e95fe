// @ts-check
/**
 * The page on which an evaluator withdraws. It states what is deleted, asks once, and deletes.
 * No shortcut key presses its button: an action that cannot be undone requires a click, or focus on it.
 */

import { Refused, makeApi } from "./api.js";
import { ask, el, show } from "./screens.js";
import { makeStuck, questions, quotes, tellTrouble } from "./trouble.js";

const SESSION = location.pathname.split("/")[2] ?? "";
const PATH = /** @type {const} */ (`/api/sessions/${encodeURIComponent(decodeURIComponent(SESSION))}/withdrawal`);
const secret = location.hash.slice(1);

/** @type {import("./trouble.js").About} */
const about = { contact: "", session: SESSION, giveUp: null };
const api = makeApi({ random: Math.random, onTrouble: (trouble) => tellTrouble(trouble, ""), onStuck: makeStuck(about, () => "") });

addEventListener("hashchange", () => location.reload());
withdraw().catch(showError);

async function withdraw() {
  if (!secret) throw new Refused("wrong_link", "", "");
  const found = await api.get(PATH, secret);
  about.contact = found.contact;
  document.title = `Withdraw from “${found.title}”`;
  if (found.is_withdrawn) return showDone(found);
  const answer = await ask("withdraw", "Delete your answers?", told(found), [
    { label: "Delete my answers", value: "delete" },
    { label: "Keep them", value: "keep" },
  ]);
  if (answer === "keep") return show("done", "Nothing was deleted", [el("p", {}, "Your answers are kept. This link goes on working, should you change your mind.")]);
  showDone(await api.post(PATH, {}, secret));
}

/** @param {import("../types/api.js").Withdrawal} found */
function told({ title, answers, is_open }) {
  const given = answers === 1 ? "your one answer" : `all of your ${answers} answers`;
  return [
    el("p", {}, `You are about to withdraw from the study “${title}”. This deletes, for good:`),
    el("ul", {}, el("li", {}, answers ? `${given}, with all times;` : "your session, in which you gave no answer yet;"), el("li", {}, "technical details about your device and screen.")),
    el("p", {}, "This stays: what you are owed, with the reference that is needed to pay it, and an anonymised code made from your id, so that you are not invited twice."),
    el("p", {}, "Deleting cannot be undone. What you earned is paid all the same."),
    ...(is_open ? [el("p", {}, "Your session is still open. It ends with this.")] : []),
    ...questions(about, ""),
  ];
}

/** @param {import("../types/api.js").Withdrawal} found */
function showDone({ is_open }) {
  show("done", "Your answers are deleted", [
    el("p", {}, "You have withdrawn from the study. What you earned is paid all the same."),
    el("p", {}, is_open ? "You can close this page, and the one with the task." : "You can close this page."),
  ]);
}

function showNothingLeft() {
  show("done", "No answers of yours are kept", [
    el("p", {}, "The study was deleted, and all its answers with it. There is nothing left to withdraw. You can close this page."),
  ]);
}

/** @param {unknown} error */
function showError(error) {
  const { code, id } = error instanceof Refused ? error : { code: "", id: "" };
  // The link is complete if the server searched for the session: the session is deleted, with all its data.
  if (code === "unknown_session") return showNothingLeft();
  const isWrong = code === "wrong_link";
  if (!isWrong) console.error(error);
  const [title, text] = isWrong
    ? ["This link does not work", "Please check that it is complete, to its last letter. Nothing was deleted. You find the link again on the page of the task, or ask the people who invited you."]
    : ["Something went wrong on our side", "Please load this page again; it then says whether your answers are deleted."];
  show("error", title, [el("p", {}, text), ...(isWrong ? [] : quotes(about, id))]);
}
