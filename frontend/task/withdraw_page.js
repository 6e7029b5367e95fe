// @ts-check
/**
 * The page on which an evaluator withdraws. It states what is deleted, asks once, and deletes.
 * No shortcut key presses its button: an action that cannot be undone requires a click, or focus on it.
 */

import { nameInPath } from "./address.js";
import { Refused, makeApi } from "../shared/api.js";
import { browserLanguage } from "../texts/languages.js";
import { texts } from "../texts/more_en.js";
import { goBack } from "./panel_exit.js";
import { el } from "../shared/elements.js";
import { ask, show } from "./screens.js";
import { reloadPage } from "./storage.js";
import { speak, titleOf } from "./study_texts.js";
import { addTexts, loadTextsBy, text, useLanguage } from "../texts/texts.js";
import { makeStuck, questions, quotes, tellTrouble } from "./connection_messages.js";

addTexts(texts);

const SESSION = nameInPath();
const PATH = /** @type {const} */ (`/api/sessions/${encodeURIComponent(SESSION)}/withdrawal`);
const secret = location.hash.slice(1);

/** @type {import("./connection_messages.js").About} */
const about = { contact: "", session: SESSION, panel: null, giveUp: null };
const api = makeApi({
  random: Math.random,
  onTrouble: (trouble) => tellTrouble(trouble, ""),
  onStuck: makeStuck(about, () => ""),
  reload: reloadPage,
});

loadTextsBy(api.load);
addEventListener("hashchange", () => location.reload());
withdraw().catch(showError);

async function withdraw() {
  await useLanguage(browserLanguage(), {}, () => false).catch(() => {}); // English instead
  document.title = text("withdraw.page");
  if (!secret) throw new Refused("wrong_link", "", "");
  const found = await api.get(PATH, secret);
  await speak(found, found.shown_language);
  about.contact = found.contact;
  document.title = text("withdraw.page_of", { study: titleOf(found) });
  if (found.is_withdrawn) return showDone(found);
  const copy = await agreed(found);
  const actions = [
    { label: text("withdraw.delete"), value: "delete" },
    { label: text("withdraw.keep"), value: "keep" },
  ];
  const answer = await ask("withdraw", text("withdraw.ask"), told(found), actions, copy);
  if (answer === "keep")
    return show("done", text("withdraw.kept"), [
      el("p", {}, text("withdraw.kept_help")),
      ...goBack(found.panel_home),
      ...copy,
    ]);
  showDone(await api.post(PATH, {}, secret));
}

/** @param {import("../../types/api.js").Withdrawal} found */
function told(found) {
  const { answers, is_open } = found;
  const given = text(
    answers === 0 ? "withdraw.no_answer" : answers === 1 ? "withdraw.one_answer" : "withdraw.answers",
    { n: answers },
  );
  return [
    el("p", {}, text("withdraw.about", { study: titleOf(found) })),
    el("ul", {}, el("li", {}, given), el("li", {}, text("withdraw.device"))),
    el("p", {}, text("withdraw.stays")),
    el("p", {}, text("withdraw.for_good")),
    ...(is_open ? [el("p", {}, text("withdraw.open"))] : []),
    ...questions(about, ""),
  ];
}

/**
 * Return what the evaluator agreed to, to unfold, and to print without the rest of the page.
 * @param {import("../../types/api.js").Withdrawal} found
 */
async function agreed({ agreed: study }) {
  if (!study) return [];
  const { offer } = await api.load(() => import("./study_terms.js"));
  const button = el("button", { type: "button" }, text("withdraw.print"));
  button.addEventListener("click", () => print());
  const title = el("h2", {}, titleOf(study));
  const summary = el("summary", {}, text("withdraw.agreed"));
  return [el("details", { class: "agreed" }, summary, title, ...offer(study), button)];
}

/** @param {import("../../types/api.js").Withdrawal} found */
function showDone({ is_open, panel_home }) {
  show("done", text("withdraw.done"), [
    el("p", {}, text("withdraw.done_help")),
    el("p", {}, text(is_open ? "withdraw.close_both" : "withdraw.close")),
    ...goBack(panel_home),
  ]);
}

/** @param {unknown} error */
function showError(error) {
  const { code, id } = error instanceof Refused ? error : { code: "", id: "" };
  // The link is complete if the server searched for the session: the session is deleted, with all its data.
  if (code === "unknown_session")
    return show("done", text("withdraw.nothing"), [el("p", {}, text("withdraw.nothing_help"))]);
  const isWrong = code === "wrong_link";
  if (!isWrong) console.error(error);
  const title = text(isWrong ? "withdraw.wrong_link" : "trouble.our_side");
  const help = text(isWrong ? "withdraw.wrong_link_help" : "withdraw.failed_help");
  show("error", title, [el("p", {}, help), ...(isWrong ? [] : quotes(about, id))]);
}
