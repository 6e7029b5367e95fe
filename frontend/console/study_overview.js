// @ts-check
/**
 * How a study is going: its links for evaluators, its sessions and scores so far, simulated evaluators, jobs.
 */

import {
  actionButton,
  details,
  el,
  explained,
  isAbort,
  link,
  paragraph,
  quiet,
  section,
  sideBySide,
  simulatedWarning,
  statusLine,
  withCode,
} from "./elements.js";
import { elementsOf, numberField, valuesOf } from "./fields.js";
import { counted } from "./format.js";
import { commandForm } from "./forms.js";
import { jobList, tellEnd } from "./jobs.js";
import { mayGo, shownOnce } from "./shown_once.js";
import { pathTo } from "./paths.js";
import { watch } from "./watch.js";
import { copier } from "../shared/copy_button.js";
import { interval, scored } from "./study_format.js";
import { liveView } from "./study_live.js";

/** @typedef {import("../../types/api.js").WatchedStudy} WatchedStudy */
/** @typedef {import("./study.js").Study} Study */
/** @typedef {import("./study.js").Context} Context */

const REACH = {
  this_computer: "This link works on this computer only.",
  network: "Whoever is in the same network as the server, and has this link, can take part.",
  internet: "Whoever has this link can take part.",
};
const MOST_LINKS = 1000;
const MOST_SIMULATED = 1000;
const ACCURACY = {
  what: "Accuracy",
  words: "The share of a model’s pictures, 0 to 1, that they judge right; empty for the usual one.",
  limits: { min: "0", max: "1", placeholder: "0.75" },
};
const STRENGTH = {
  what: "Strength",
  words: "How real a model looks, as log-odds against another; empty for 0.",
  limits: { min: "-20", max: "20", placeholder: "0" },
};

/**
 * @param {HTMLElement} main
 * @param {Study} record
 * @param {Context} context
 */
export function showOverview(main, record, context) {
  const { study } = record;
  const state = stateLine(record, context);
  const live = el("div", { class: "live" });
  const simulated = simulatedScores(record, context);
  const actions = [
    section("Invite evaluators", ...openLink(record), privateLinks(study, context), ...waitingLink(record)),
    section("Simulated evaluators", simulation(record, context)),
    ...samplingUpdate(record, context),
    section("What the server worked on", jobList(study, context)),
  ];
  // what grows as people answer has nothing below it where there is room; on a narrow screen it comes first
  main.append(state.element, el("div", { class: "overview" }, el("div", {}, ...actions), live));
  /** @type {ReturnType<typeof liveView> | null} */
  let view = null;
  return watch(
    pathTo`/api/studies/${study}/live`,
    (/** @type {WatchedStudy} */ data) => {
      if (!view) {
        view = liveView(data);
        live.append(...view.parts, simulated.element);
      }
      view.update(data);
      void simulated.update(data.simulated);
      state.update(data.paused);
    },
    context,
  );
}

/**
 * @param {Study} record
 * @param {Context} context
 */
function stateLine(record, { api, go }) {
  const { study } = record;
  const words = quiet();
  const done = statusLine();
  let isPaused = false;
  const pause = actionButton("", async () => {
    const [command, outcome] = isPaused
      ? ["resume", "Evaluators can begin again."]
      : ["pause", "Paused. Whoever has begun can finish."];
    done.textContent = "";
    await api.post(`${pathTo`/api/studies/${study}`}/${command}`, {}, { again: true });
    done.textContent = outcome;
    update(command === "pause");
  });
  const isPaidToWait = record.links.wait !== null;
  const call = actionButton("Open the study for those who wait", async () => {
    const { notified } = await api.post(pathTo`/api/studies/${study}/admit-waiting`);
    done.textContent = `The study is open; ${counted(notified, "person", "people")} notified.`;
    update(false);
  });
  const duplicate = actionButton("Duplicate study", async () => {
    const { draft, lacks } = await api.post(pathTo`/api/studies/${study}/duplicate`);
    const path = pathTo`/console/new/${draft}`;
    if (!lacks.length) return go(path);
    done.replaceChildren(
      "The pictures are not here as they were sent: choose them again in ",
      link(path, "the draft"),
      ".",
    );
  });
  /** @param {boolean} isNowPaused */
  function update(isNowPaused) {
    isPaused = isNowPaused;
    pause.textContent = isPaused ? "Let evaluators in" : "Pause the study";
    words.textContent = isPaused ? "Paused: nobody new can begin." : "Open to evaluators.";
  }
  update(record.paused);
  return {
    element: el(
      "div",
      { class: "head" },
      words,
      el("div", {}, sideBySide(pause, ...(isPaidToWait ? [call] : []), duplicate), done),
    ),
    update,
  };
}

/** @param {Study} record */
function openLink({ links, panel }) {
  if (links.private.required)
    return [quiet("This study has no open link: each person needs a private one."), ...reachOf(links)];
  const address = links.evaluators;
  const shown = el("code", { translate: "no" }, address);
  const { button, told } = copier(address, shown, {
    label: "Copy the link",
    copied: "Copied.",
    selected: "Selected: copy it with your keyboard.",
  });
  const words = panel.recruits ? "People come through the panel’s own link." : REACH[links.reach];
  return [
    el("p", { class: "address" }, shown),
    button,
    told,
    quiet(`${words} To look at the task yourself, use Preview: a session by this link counts.`),
    ...reachOf(links),
  ];
}

/**
 * Return the QR code of a link, or what lets others in where only this computer reaches it.
 * @param {Study["links"]} links
 */
function reachOf({ evaluators, reach, qr, private: { required } }) {
  const code = el("img", { class: "qr", src: qr ?? "", alt: `QR code of ${evaluators}` });
  const shown = qr && !required ? [details("QR code, for the camera of a phone", code)] : [];
  return reach === "internet" ? shown : [...shown, details("Let others in", ...lettingIn(reach))];
}

/** @param {Study["links"]["reach"]} reach */
function lettingIn(reach) {
  const network = ["In your own network: start the server with `openhype serve --host 0.0.0.0`."];
  const ways = [
    ...(reach === "this_computer" ? network : []),
    "From anywhere: put a web server with a certificate in front, and start this one with `openhype serve " +
      "--behind-proxy --url https://…`, the address by which people come.",
    "Without a server of your own: `openhype deploy` puts the study on AWS.",
    "The page `docs/let-others-in.md` has the steps.",
  ];
  return ways.map((words) => quiet(...withCode(words)));
}

/** @param {Study} record */
function waitingLink({ links }) {
  if (!links.wait) return [];
  return [
    el(
      "p",
      { class: "address quiet" },
      "People wait, and are paid for it, at ",
      el("code", { translate: "no" }, links.wait),
    ),
  ];
}

/**
 * @param {string} study
 * @param {Context} context
 */
function privateLinks(study, { api }) {
  const count = numberField("How many", { min: "1", max: `${MOST_LINKS}`, value: "10", required: "" });
  const made = el("div");
  const form = commandForm([count.element], "Make private links", async () => {
    if (!(await mayGo(made))) return;
    const { links } = await api.post(pathTo`/api/studies/${study}/links`, { count: count.value() });
    const list = el("textarea", { readonly: "", rows: "6", "aria-label": "Private links" });
    list.value = links.join("\n");
    const { button, told } = copier(list.value, list, {
      label: "Copy all",
      copied: "Copied.",
      selected: "Select them, and copy them with your keyboard.",
    });
    const warning = paragraph(el("strong", {}, "Copy these links now: they cannot be shown again."));
    const shown = el("div", {}, warning, list, button, told);
    shownOnce(shown, "The list of private links");
    made.replaceChildren(shown);
    button.focus();
  });
  return details(
    "Private links, one a person",
    quiet("Each works for one person, once. Only their hashes are stored."),
    form,
    made,
  );
}

/**
 * @param {Study} record
 * @param {Context} context
 */
function simulation({ study, models, sampling_update }, context) {
  const evaluators = numberField(
    "How many",
    { min: "1", max: `${MOST_SIMULATED}`, value: "10", required: "" },
    "Of all models together. They answer through the same routes as people do.",
  );
  const { what, words, limits } = sampling_update === "pairs" ? STRENGTH : ACCURACY;
  const of = Object.fromEntries(
    models.map((model) => [model, numberField(`${what} of ${model}`, { step: "any", ...limits })]),
  );
  const others = {
    sd: numberField(
      "Spread between evaluators",
      { min: "0", max: "0.5", step: "any", placeholder: "0" },
      "Standard deviation, 0 to 0.5.",
    ),
    seed: numberField("Seed", { min: "0", step: "1" }, "The same seed gives the same answers."),
  };
  const more = details(`${what} and seed`, quiet(words), ...elementsOf(of), ...elementsOf(others));
  const form = commandForm([evaluators.element, more], "Simulate", async (told) => {
    const wish = { ...valuesOf({ evaluators, ...others }), [what.toLowerCase()]: valuesOf(of) };
    const { job } = await context.api.post(pathTo`/api/studies/${study}/simulate`, wish);
    const who = counted(Number(evaluators.value()), "simulated evaluator");
    void tellEnd(job, told, `Done: ${who} took part. Their score stands on this page.`, context);
    return "They are at work: see below.";
  });
  return el(
    "div",
    {},
    quiet(
      "Simulated evaluators try out a study and its scores. They are marked as simulated, count in no " +
        "score of people and are never paid. Their scores stand apart.",
    ),
    form,
  );
}

/**
 * Return the scores of simulated evaluators, which are computed anew whenever there are more or less of them.
 * @param {Study} record
 * @param {Context} context
 */
function simulatedScores({ study, kind }, { api, signal }) {
  const list = el("ul", { class: "scores" });
  const element = section(
    "Score of simulated evaluators",
    simulatedWarning(),
    list,
    paragraph(link(`${pathTo`/console/studies/${study}/scores`}?simulated`, "Their scores, with tests")),
  );
  element.hidden = true;
  let shown = 0;
  return {
    element,
    /** @param {number} sessions finished ones */
    async update(sessions) {
      if (sessions === shown || kind !== "study") return;
      shown = sessions;
      element.hidden = !sessions;
      if (!sessions) return list.replaceChildren();
      const cards = await api
        .get(`${pathTo`/api/studies/${study}/scores`}?simulated=true`, { signal })
        .then(scoreCards, (/** @type {unknown} */ error) =>
          isAbort(error) ? [] : [paragraph(explained(error))],
        );
      if (sessions === shown) list.replaceChildren(...cards);
    },
  };
}

/** @param {import("./study_scores.js").Scores} scores */
function scoreCards({ unit, models }) {
  return models.map((row) =>
    el(
      "li",
      {},
      el("h3", {}, row.model),
      paragraph(
        el("span", { class: "value" }, scored(row.score, unit)),
        " ",
        el(
          "span",
          { class: "quiet" },
          `${interval(row.interval?.ci ?? row.ci, unit)}, ${counted(row.evaluators, "simulated evaluator")}`,
        ),
      ),
    ),
  );
}

/**
 * Return what finds anew which pictures need evaluators, or counts a tournament again; nothing for other
 * studies.
 * @param {Study} record
 * @param {Context} context
 */
function samplingUpdate({ study, sampling_update }, context) {
  if (!sampling_update) return [];
  const told = statusLine();
  const of = (/** @type {string} */ label, /** @type {boolean} */ simulated) =>
    actionButton(label, async () => {
      const { job } = await context.api.post(pathTo`/api/studies/${study}/update-sampling`, { simulated });
      told.textContent = "The server is at work: see below.";
      const done = isCounted ? "The answers are counted." : "They are found.";
      void tellEnd(job, told, done, context);
    });
  const isCounted = sampling_update === "pairs";
  const heading = isCounted ? "Count of the tournament" : "Which pictures need evaluators";
  const words = isCounted
    ? "The answers are counted as they come. Count them again if a count seems wrong, as after a backup " +
      "was restored."
    : "Sessions prefer the pictures that need evaluators the most. Select these again now and then, as " +
      "answers come in.";
  const simulated = details(
    "Of simulated evaluators",
    sideBySide(of(isCounted ? "Compute those again" : "Select those again", true)),
  );
  return [
    section(
      heading,
      quiet(words),
      sideBySide(of(isCounted ? "Compute again" : "Select them again", false)),
      told,
      simulated,
    ),
  ];
}
