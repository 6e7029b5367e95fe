// @ts-check
/**
 * The start page of `openhype demo`: example pictures, and the sample studies to play. The studies are
 * created while the page is open, so it polls their progress until all are ready.
 */

import { addressOf } from "../shared/base_path.js";
import { isComputer, screenAtHand } from "./display.js";
import { el } from "../shared/elements.js";

const EVERY_MS = 600;
const PATIENCE_MS = 20000;
const LABELS = /** @type {Record<string, string>} */ ({
  infinity: "Play without time limit",
  time: "Play with flashes",
  clip: "Play with short videos",
});

/**
 * @typedef {{study: string, method: string, medium: string, images: number, minutes: number, share: number,
 *   is_ready: boolean}} Sample
 * @typedef {{url: string, shows: string, is_real: boolean}} Example
 * @typedef {{studies: Sample[], examples: Example[], problem: string | null}} DemoStatus
 */

/** The study whose page redirected the visitor here because it was not ready yet. */
const wanted = location.hash.slice(1); // a name, without letters to decode

/** @type {Sample[]} */
let samples = [];

byId("reveal").addEventListener("click", reveal);
addEventListener("resize", () => showPlays(samples));
look();

async function look() {
  for (;;) {
    const status = await asked();
    if (status) {
      showExamples(status.examples);
      samples = status.studies;
      showPlays(samples);
      showStatus(status);
      if (status.problem || status.studies.every(({ is_ready }) => is_ready)) return;
    }
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
}

/** @returns {Promise<DemoStatus | null>} null while the server cannot be reached */
async function asked() {
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const reply = await fetch(addressOf("/api/demo"), { cache: "no-store", signal });
    return reply.ok ? await reply.json() : null;
  } catch {
    return null;
  }
}

/**
 * Add the examples to the page, each once.
 * @param {Example[]} examples
 */
function showExamples(examples) {
  const places = byId("examples").children;
  examples.forEach(({ url, shows, is_real }, i) => {
    if (places[i].childElementCount) return;
    const image = el("img", { src: addressOf(url), alt: shows, width: "256", height: "256" });
    places[i].append(
      el(
        "figure",
        { class: is_real ? "is-real" : "" },
        image,
        el("figcaption", {}, is_real ? "photograph" : "computer"),
      ),
    );
  });
  /** @type {HTMLButtonElement} */ (byId("reveal")).disabled = examples.length < places.length;
}

function reveal() {
  const button = byId("reveal");
  const isShown = button.getAttribute("aria-pressed") === "true";
  button.setAttribute("aria-pressed", `${!isShown}`);
  document.querySelector(".examples")?.classList.toggle("answered", !isShown);
}

/** @param {Sample[]} studies */
function showPlays(studies) {
  for (const sample of studies) {
    if (sample.is_ready && sample.study === wanted) location.replace(playOf(sample.study));
    const id = `play-${sample.study}`;
    const before = document.getElementById(id);
    const state = !isPlayable(sample) ? "elsewhere" : sample.is_ready ? "ready" : "making";
    if (!before) byId("plays").append(card(sample, id, state));
    else if (before.dataset.state !== state) before.replaceWith(card(sample, id, state));
    else if (state === "making") tellShare(before, sample.share);
  }
}

/**
 * Return whether this device can show a study; a phone cannot show flashes.
 * @param {Sample} sample
 */
function isPlayable({ method }) {
  return method === "infinity" || isComputer(screenAtHand());
}

/**
 * Return a large link to a study, or its progress while it is created, or that it needs another device.
 * @param {Sample} sample
 * @param {string} id
 * @param {"ready" | "making" | "elsewhere"} state
 */
function card({ study, method, medium, images, minutes, share }, id, state) {
  const label = LABELS[medium] ?? LABELS[method];
  const shown = medium === "clip" ? "videos" : "pictures";
  const facts = el("span", {}, `${images} ${shown}, about ${minutes} minutes`);
  const shared = { class: "play", id, "data-state": state };
  if (state === "ready") return el("a", { ...shared, href: playOf(study) }, el("strong", {}, label), facts);
  if (state === "elsewhere")
    return el(
      "div",
      shared,
      el("strong", {}, label),
      el("span", {}, "Needs a computer with a larger screen: open this page there."),
    );
  const meter = el("progress", { max: "1", "aria-label": label });
  const waiting = el("div", shared, el("strong", {}, label), facts, meter, el("span", { class: "share" }));
  tellShare(waiting, share);
  return waiting;
}

/**
 * @param {HTMLElement} place
 * @param {number} share
 */
function tellShare(place, share) {
  /** @type {HTMLProgressElement} */ (place.querySelector("progress")).value = share;
  const text =
    share > 0 ? `The pictures are being made: ${Math.floor(100 * share)}%` : "The pictures are made next";
  /** @type {HTMLElement} */ (place.querySelector(".share")).textContent = text;
}

/** @param {DemoStatus} status */
function showStatus({ studies, problem }) {
  const open = studies.filter(({ is_ready }) => !is_ready).map(({ study }) => study);
  const words = problem
    ? `The pictures could not be made: ${problem}`
    : open.includes(wanted)
      ? "The study that you asked for opens by itself once it is made."
      : "";
  if (byId("status").textContent !== words) byId("status").textContent = words;
}

/** @param {string} study name; the fragment `#demo` makes its last page link back here */
function playOf(study) {
  return addressOf(`/s/${study}#demo`);
}

/** @param {string} id */
function byId(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}
