// @ts-check
/** A histogram of frame intervals, as a chart and as a table. */

import { el } from "../shared/elements.js";

const WIDTH = 600;
const HEIGHT = 160;
const BASE = 24;
const LABELS = 6;
const SVG = "http://www.w3.org/2000/svg";

/**
 * Count intervals by their length, in bins of a tenth of a refresh; pure.
 * @param {number[]} gaps_ms
 * @param {number} frame_ms
 * @returns {{from_ms: number, count: number}[]} all bins from the first to the last that is not empty
 */
function binned(gaps_ms, frame_ms) {
  const step = frame_ms / 10;
  const places = gaps_ms.map((gap) => Math.round(gap / step));
  const first = Math.min(...places);
  const bins = Array.from({ length: Math.max(...places) - first + 1 }, (_, i) => ({
    from_ms: (first + i - 0.5) * step,
    count: 0,
  }));
  for (const place of places) bins[place - first].count += 1;
  return bins;
}

/**
 * @param {number[]} gaps_ms
 * @param {number} frame_ms
 */
export function histogram(gaps_ms, frame_ms) {
  const bins = binned(gaps_ms, frame_ms);
  const filled = bins.filter((bin) => bin.count > 0);
  const caption = "How long frames stood, in ms";
  const rows = filled.map(({ from_ms, count }) =>
    el(
      "tr",
      {},
      el("td", {}, `${from_ms.toFixed(1)} to ${(from_ms + frame_ms / 10).toFixed(1)}`),
      el("td", {}, `${count}`),
    ),
  );
  return el(
    "figure",
    { class: "histogram" },
    drawn(bins, frame_ms),
    el("figcaption", {}, caption),
    el(
      "details",
      {},
      el("summary", {}, "As a table"),
      el(
        "table",
        {},
        el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "ms"), el("th", { scope: "col" }, "frames"))),
        el("tbody", {}, ...rows),
      ),
    ),
  );
}

/**
 * @param {{from_ms: number, count: number}[]} bins
 * @param {number} frame_ms
 */
function drawn(bins, frame_ms) {
  const most = Math.max(...bins.map((bin) => bin.count));
  const low = Math.min(bins[0].from_ms, frame_ms * 0.5);
  const high = Math.max(bins[bins.length - 1].from_ms + frame_ms / 2, frame_ms * 2.5);
  const x = (/** @type {number} */ ms) => ((ms - low) / (high - low)) * WIDTH;
  const figure = svg("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT + BASE}`,
    role: "img",
    "aria-label": "Histogram; its numbers stand in the table below",
  });
  for (const { from_ms, count } of bins) {
    if (count === 0) continue;
    const height = Math.max(2, (count / most) * HEIGHT);
    figure.append(
      svg("rect", {
        x: `${x(from_ms)}`,
        y: `${HEIGHT - height}`,
        width: `${Math.max(2, x(from_ms + frame_ms / 10) - x(from_ms))}`,
        height: `${height}`,
      }),
    );
  }
  figure.append(svg("line", { x1: "0", x2: `${WIDTH}`, y1: `${HEIGHT}`, y2: `${HEIGHT}` }));
  const every = Math.ceil(high / frame_ms / LABELS);
  for (let refreshes = 1; refreshes * frame_ms + frame_ms / 2 <= high; refreshes += every) {
    const label = svg("text", { x: `${x(refreshes * frame_ms)}`, y: `${HEIGHT + BASE - 6}` });
    label.textContent = (refreshes * frame_ms).toFixed(1);
    figure.append(label);
  }
  return figure;
}

/**
 * @param {string} tag
 * @param {Record<string, string>} attributes
 */
function svg(tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}
