// @ts-check
/** The waiting room: pays by the minute while the page is visible, until the study starts. */

import { nameInPath } from "./address.js";
import { Refused, makeApi } from "../shared/api.js";
import { addressOf } from "../shared/base_path.js";
import { tokenOf } from "./held_token.js";
import { listenToKeys } from "./keys.js";
import { languagePicker } from "./language_picker.js";
import { browserLanguage } from "../texts/languages.js";
import { texts } from "../texts/more_en.js";
import { panelOf, wayBack } from "./panel_exit.js";
import { recognise } from "./session_person.js";
import { PLAIN } from "./refusals.js";
import { el, facts } from "../shared/elements.js";
import { ask, show } from "./screens.js";
import { reloadPage } from "./storage.js";
import { speak, titleOf } from "./study_texts.js";
import { addTexts, counted, loadTextsBy, money, text, useLanguage } from "../texts/texts.js";
import { makeStuck, questions, quotes, tellTrouble } from "./connection_messages.js";

addTexts(texts);

/** @typedef {import("../../types/api.js").PublicStudy} PublicStudy */

const STUDY = nameInPath();
const PATH = /** @type {const} */ (`/api/studies/${encodeURIComponent(STUDY)}`);
const TASK = addressOf(`/s/${encodeURIComponent(STUDY)}${location.search}`);

const safe = () => text("wait.safe");

/** @type {import("./connection_messages.js").About} */
const about = { contact: "", session: "", panel: null, giveUp: null };
const api = makeApi({
  random: Math.random,
  onTrouble: (trouble) => tellTrouble(trouble, safe()),
  onStuck: makeStuck(about, safe),
  reload: reloadPage,
});

listenToKeys(document);
loadTextsBy(api.load);
useLanguage(browserLanguage(), {}, () => false).catch(() => {}); // English instead
wait().catch(showError);

async function wait() {
  const study = await api.get(PATH);
  await recognise(study);
  await speak(study);
  document.title = titleOf(study);
  about.contact = study.contact;
  about.panel = panelOf(study);
  if (!study.paused) return location.replace(TASK);
  if (!study.retainer) throw new Refused("no_retainer", "", "");
  while ((await askToWait(study, study.retainer)) === "again") document.title = titleOf(study);
  const query = new URLSearchParams(location.search);
  const names = study.panel_parameters.filter((/** @type {string} */ name) => query.get(name));
  const begun = await api.post(`${PATH}/waits`, {
    panel: Object.fromEntries(names.map((/** @type {string} */ name) => [name, query.get(name)])),
    signature: study.signature_parameter ? query.get(study.signature_parameter) : null,
    qualification_token: study.qualification ? tokenOf(study.qualification.study) : null,
  });
  await stay(study, begun);
}

/**
 * @param {PublicStudy} study
 * @param {NonNullable<PublicStudy["retainer"]>} retainer
 * @returns {Promise<string>} `wait`, or `again` in a language chosen just now
 */
function askToWait(study, { usd_cents, minutes }) {
  const pay = text("wait.pay", { money: money(usd_cents, study.currency) });
  return new Promise((resolve) => {
    const content = [
      ...languagePicker(study, () => resolve("again")),
      el("p", {}, text("wait.about", { study: titleOf(study) })),
      facts([
        [text("offer.pay"), pay],
        [text("wait.at_most"), counted(minutes, "minute")],
      ]),
    ];
    ask("consent", text("wait.title"), content, [
      { label: text("wait.begin"), value: "wait", primary: true },
    ]).then(resolve);
  });
}

/**
 * @param {PublicStudy} study
 * @param {import("../../types/api.js").BegunWait} begun
 */
async function stay(study, begun) {
  const earned = el("dd", {});
  const place = el("div", { role: "status" });
  show("wait", text("wait.waiting"), [
    el("p", {}, text("wait.waiting_help")),
    el("dl", { class: "facts" }, el("dt", {}, text("wait.earned")), earned),
    place,
  ]);
  let isHere = false;
  let isAsking = false;
  let hurry = () => {};
  for (let state = /** @type {import("../../types/api.js").Wait} */ (begun); !state.is_admitted; ) {
    earned.textContent = text("wait.earned_for", {
      money: money(state.earned_usd_cents, study.currency),
      minutes: counted(state.minutes, "minute"),
    });
    if (state.asks !== isAsking || state.is_over) {
      isAsking = state.asks && !state.is_over;
      const button = el("button", { type: "button", class: "primary" }, text("wait.here"));
      button.addEventListener("click", () => {
        isHere = true;
        hurry();
      });
      const over = [el("p", {}, text("wait.over"))];
      place.replaceChildren(...(state.is_over ? over : isAsking ? [button] : []));
    }
    document.title = isAsking ? text("wait.still_here") : titleOf(study);
    await new Promise((resolve) => {
      hurry = () => resolve(undefined);
      setTimeout(resolve, 1000 * state.beat_seconds);
    });
    const sent = { is_visible: !document.hidden, is_here: isHere };
    isHere = false;
    state = await api.post(`${PATH}/waits/${begun.token.split(".")[0]}/signs`, sent, begun.token);
  }
  document.title = text("wait.starts");
  location.assign(TASK);
}

/** The texts of refusals that differ from those of the task, by code: title and help. */
const OWN = /** @type {Record<string, [string, string]>} */ ({
  unknown_study: ["refused.unknown_study", "wait.unknown_study_help"],
  no_retainer: ["wait.no_retainer", "wait.no_retainer_help"],
  not_qualified: ["wait.not_qualified", "wait.not_qualified_help"],
  wrong_token: ["wait.wrong_token", "wait.wrong_token_help"],
  already_started: ["refused.already_started", "wait.already_started_help"],
  withdrawn: ["refused.withdrawn", "wait.withdrawn_help"],
});

/** @param {unknown} error */
function showError(error) {
  const { code, id } = error instanceof Refused ? error : { code: "", id: "" };
  const known = OWN[code] ?? (PLAIN.includes(code) ? [`refused.${code}`, `refused.${code}_help`] : null);
  if (known) {
    const [title, help] = known.map((key) => text(key));
    return show("error", title, [el("p", {}, help), ...questions(about, ""), ...wayBack(null, about.panel)]);
  }
  console.error(error);
  const again = [{ label: text("page.load_again"), value: "again", primary: true }];
  ask(
    "error",
    text("trouble.our_side"),
    [el("p", {}, text("wait.failed_help")), ...quotes(about, id)],
    again,
  ).then(() => location.reload());
}
