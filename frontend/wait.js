// @ts-check
/** The waiting room: pays by the minute while the page is visible, until the study starts. */

import { Refused, makeApi } from "./api.js";
import { listenToKeys } from "./keys.js";
import { ask, el, facts, money, show } from "./screens.js";
import { readToken } from "./storage.js";
import { makeStuck, questions, quotes, tellTrouble } from "./trouble.js";

/** @typedef {import("../types/api.js").PublicStudy} PublicStudy */

const STUDY = decodeURIComponent(location.pathname.split("/")[2] ?? "");
const PATH = /** @type {const} */ (`/api/studies/${encodeURIComponent(STUDY)}`);
const TASK = `/s/${encodeURIComponent(STUDY)}${location.search}`;

const SAFE = "What you earned is safe.";

/** @type {import("./trouble.js").About} */
const about = { contact: "", session: "", giveUp: null };
const api = makeApi({ random: Math.random, onTrouble: (trouble) => tellTrouble(trouble, SAFE), onStuck: makeStuck(about, () => SAFE) });

listenToKeys(document);
wait().catch(showError);

async function wait() {
  const study = await api.get(PATH);
  document.title = study.title;
  about.contact = study.contact;
  if (!study.paused) return location.replace(TASK);
  if (!study.retainer) throw new Refused("no_retainer", "", "");
  await ask(
    "consent",
    "Wait to be called",
    [
      el("p", {}, `“${study.title}” starts soon. You are paid for waiting while this page stays in view. Now and then it asks whether you are still here.`),
      facts([["Pay", `${money(study.retainer.usd_cents, study.currency)} a minute`], ["At most", `${study.retainer.minutes} minutes`]]),
    ],
    [{ label: "Wait here", value: "wait", primary: true }],
  );
  const query = new URLSearchParams(location.search);
  const names = study.panel_parameters.filter((/** @type {string} */ name) => query.get(name));
  const begun = await api.post(`${PATH}/waits`, {
    panel: Object.fromEntries(names.map((/** @type {string} */ name) => [name, query.get(name)])),
    signature: study.signature_parameter ? query.get(study.signature_parameter) : null,
    qualification_token: study.qualification ? readToken(study.qualification.study) : null,
  });
  await stay(study, begun);
}

/**
 * @param {PublicStudy} study
 * @param {import("../types/api.js").BegunWait} begun
 */
async function stay(study, begun) {
  const earned = el("dd", {});
  const place = el("div", { role: "status" });
  show("wait", "You are waiting", [el("p", {}, "The task opens here by itself. Keep this page in view."), el("dl", { class: "facts" }, el("dt", {}, "Earned"), earned), place]);
  let isHere = false;
  let isAsking = false;
  let hurry = () => {};
  for (let state = /** @type {import("../types/api.js").Wait} */ (begun); !state.is_called; ) {
    earned.textContent = `${money(state.earned_usd_cents, study.currency)} for ${state.minutes} ${state.minutes === 1 ? "minute" : "minutes"}`;
    if (state.asks !== isAsking || state.is_over) {
      isAsking = state.asks && !state.is_over;
      const button = el("button", { type: "button", class: "primary" }, "I am still here");
      button.addEventListener("click", () => {
        isHere = true;
        hurry();
      });
      const over = [el("p", {}, "The paid waiting is over. What you earned is yours; you may stay, or close this page.")];
      place.replaceChildren(...(state.is_over ? over : isAsking ? [button] : []));
    }
    document.title = isAsking ? "Still here?" : study.title;
    await new Promise((resolve) => {
      hurry = () => resolve(undefined);
      setTimeout(resolve, 1000 * state.beat_seconds);
    });
    const sent = { is_visible: !document.hidden, is_here: isHere };
    isHere = false;
    state = await api.post(`${PATH}/waits/${begun.token.split(".")[0]}/signs`, sent, begun.token);
  }
  document.title = "It starts now";
  location.assign(TASK);
}

const PLAIN = /** @type {Record<string, [string, string]>} */ ({
  unknown_study: ["There is no such study", "Please check the link you were given."],
  unsigned: ["Please come in from the panel again", "Your link is too old, or a part of it is missing. Please open the study anew at the panel. Nothing is lost, and you have done nothing wrong."],
  no_retainer: ["Nobody waits here", "This study is paused, and nobody is paid for waiting. Please come back later."],
  not_qualified: ["The test comes first", "Only people who passed the test of this study can wait for it. If you passed it in another browser, please open this page there."],
  wrong_token: ["You wait in another tab", "You can close this one. What you earned is yours."],
  already_started: ["You have started already", "Please go on with the task."],
  already_finished: ["You have taken part already", "Each person takes part once. Thank you for your answers; they are stored."],
  withdrawn: ["You have withdrawn", "Your answers are deleted, and what you earned is paid all the same."],
});

/** @param {unknown} error */
function showError(error) {
  const { code, id } = error instanceof Refused ? error : { code: "", id: "" };
  const known = PLAIN[code];
  if (!known) console.error(error);
  const [title, text] = known ?? ["Something went wrong on our side", "What you earned is stored. Load this page again to go on waiting."];
  show("error", title, [el("p", {}, text), ...(known ? questions(about, "") : quotes(about, id))]);
}
