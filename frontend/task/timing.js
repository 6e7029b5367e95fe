// @ts-check
/** A page to measure a display: its refreshes, and flashes by the task's own presenter. */

import { browserAtHand, inWords } from "./evidence.js";
import { measureRefresh } from "./frames.js";
import { histogram } from "./histogram.js";
import { listenToKeys } from "./keys.js";
import { isAsPlanned } from "./planner.js";
import { makePresenter } from "./presenter.js";
import { el, facts } from "../shared/elements.js";
import { ask, show, showWaiting } from "./screens.js";

const FRAMES = 600;
const FLASHES_MS = [1, 17, 33, 50, 100, 150];
const WHERE = { frame: "in a frame", page: "on the page", worker: "in a worker" };
const EACH = 5;
const MASK_MS = 30;
const SIZE = { css: 128, px: 128 };
/** Before each flash, so that the page can synchronize with the worker. */
const LEAD_MS = 100;
/** Grays that differ slightly from the stage: too faint to be a flash as defined in WCAG 2.2, 2.3.1. */
const STAGE_GRAY = 128;
const PICTURE_GRAY = 136;
const MASK_GRAYS = [132, 124, 132, 124];
const MEASURE_AGAIN = { label: "Measure again", value: "again", primary: true };

listenToKeys(document);
run();

async function run() {
  const about =
    "This measures how often your browser can change the picture on this screen, and how exactly it keeps " +
    "to it. It takes about ten seconds. Nothing leaves this page.";
  const please = "Please close what keeps your computer busy, and leave this window in front.";
  const content = [el("p", {}, about), el("p", { class: "quiet" }, please)];
  const choices = [{ label: "Measure", value: "on", primary: true }];
  await ask("check", "How evenly your display shows pictures", content, choices);
  for (;;) {
    const measured = await measuredDisplay();
    if (!measured.refresh.has_frames) {
      await tellNoFrames();
      continue;
    }
    const chosen = await ask("check", "Your display", result(measured), [
      { label: "Try faint flashes", value: "flashes", primary: true },
      { ...MEASURE_AGAIN, primary: false },
    ]);
    if (chosen === "flashes") await tryFlashes(measured.refresh.frame_ms).catch(tellNoFrames);
  }
}

function tellNoFrames() {
  const why = "This browser draws this page very rarely, or not at all. Is it in view?";
  return ask("check", "Your display could not be measured", [el("p", {}, why)], [MEASURE_AGAIN]);
}

async function measuredDisplay() {
  const tell = showWaiting("Measuring", "Ten seconds at 60 pictures a second.");
  /** @type {number[]} */
  const times = [];
  const refresh = await measureRefresh(FRAMES, (at) => tell(times.push(at) / FRAMES));
  return { refresh, gaps_ms: times.slice(1).map((at, i) => at - times[i]) };
}

/** @param {Awaited<ReturnType<typeof measuredDisplay>>} measured */
function result({ refresh, gaps_ms }) {
  const { refresh_hz, frame_ms, jitter_ms, dropped_frames, is_variable, is_clock_coarse } = refresh;
  const browser = browserAtHand();
  const rate = is_variable ? "varies" : `${refresh_hz.toFixed(2)} Hz`;
  return [
    el(
      "p",
      {},
      is_clock_coarse
        ? "This browser rounds its clock too coarsely to measure the display. A protection against " +
            "tracking usually does this."
        : is_variable
          ? "This display keeps to no fixed refresh rate; flashes cannot be planned on it. Switching off " +
            "“variable refresh rate” in its settings may help."
          : `This display shows a new picture every ${frame_ms.toFixed(2)} ms. That is the shortest ` +
            "exposure it can give, and exposures are multiples of it.",
    ),
    facts([
      ["Refresh rate", is_clock_coarse ? "unknown" : rate],
      ["One refresh", `${frame_ms.toFixed(3)} ms`],
      ["Scatter", `${jitter_ms.toFixed(3)} ms (median distance from the grid of refreshes)`],
      ["Missed", `${dropped_frames} of ${gaps_ms.length + dropped_frames} refreshes had no frame`],
      ["Presentation times", browser.tellsTimes ? "told by the browser" : "not told by this browser"],
      ["Window", `${innerWidth} × ${innerHeight}, ${devicePixelRatio} device pixels each`],
    ]),
    histogram(gaps_ms, frame_ms),
    el("h2", {}, "What is known of this browser"),
    ...browser.known.map((text) => el("p", {}, text)),
  ];
}

/** @param {number} frame_ms */
async function tryFlashes(frame_ms) {
  show("check", "Faint flashes", [el("p", {}, "A gray square changes a little, sixty times.")]);
  const stage = el("div", { class: "stage faint" });
  /** @type {HTMLElement} */ (document.getElementById("main")).append(stage);
  const rows = [await flashes(stage, frame_ms, false), await flashes(stage, frame_ms, true)];
  const about = "How many were up for exactly the planned refreshes, the picture and each of its four masks.";
  const head = rowOf("th", ["drawn", "evidence", "exact", "latest callback"], { scope: "col" });
  const body = rows.flatMap((cells) => (cells ? [rowOf("td", cells)] : []));
  const table = el("table", {}, el("thead", {}, head), el("tbody", {}, ...body));
  const choices = [{ label: "Back", value: "back", primary: true }];
  await ask("check", "Faint flashes", [el("p", {}, about), table], choices);
}

/**
 * @param {"th" | "td"} tag
 * @param {string[]} cells
 * @param {Record<string, string>} [attributes]
 */
function rowOf(tag, cells, attributes) {
  return el("tr", {}, ...cells.map((cell) => el(tag, attributes, cell)));
}

/**
 * @param {HTMLElement} stage
 * @param {number} frame_ms
 * @param {boolean} inWorker
 */
async function flashes(stage, frame_ms, inWorker) {
  const presenter = await makePresenter(stage, SIZE);
  if (inWorker) presenter.leavePage();
  const { drawnBy } = presenter;
  if (inWorker !== (drawnBy === "worker")) {
    presenter.end();
    return null;
  }
  const lead = await plain(STAGE_GRAY);
  const picture = await plain(PICTURE_GRAY);
  const masks = await Promise.all(MASK_GRAYS.map(plain));
  const all = [];
  for (const ms of Array.from({ length: EACH }, () => FLASHES_MS).flat()) {
    const { settled } = await presenter.show(
      [
        { name: "countdown", ms: LEAD_MS, pictures: [lead] },
        { name: "stimulus", ms, pictures: [picture] },
        ...masks.map((mask) => ({ name: "mask", ms: MASK_MS, pictures: [mask] })),
      ],
      frame_ms,
    );
    all.push(await settled);
  }
  presenter.end();
  const exact = all.filter(
    ({ timing, isContradicted }) => isAsPlanned(timing, frame_ms, 1) && !isContradicted,
  );
  const latest = Math.max(...all.map(({ timing }) => timing.lateness_ms));
  const evidence = [...new Set(all.map(({ timing }) => inWords(timing.evidence)))].join("; ");
  return [WHERE[drawnBy], evidence, `${exact.length} of ${all.length}`, `${latest.toFixed(1)} ms`];
}

/** @param {number} gray */
function plain(gray) {
  const image = new ImageData(SIZE.px, SIZE.px);
  image.data.fill(gray);
  for (let i = 3; i < image.data.length; i += 4) image.data[i] = 255;
  return createImageBitmap(image);
}
