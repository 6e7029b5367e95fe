// @ts-check
/** Charts of a study in the console: a bar of a model's sessions, and a score with its narrowing interval. */

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 320;
const HEIGHT = 132;
const LEFT = 40;
const RIGHT = 12;
const FOOT = 20;
const TOP = 6;
const LETTERS = 40;
const SCATTER_HEIGHT = 220;
const LABEL_WIDTH = 60;
const LABEL_HEIGHT = 13;

/**
 * Return start and end of parts placed side by side on a bar of length `total`, or their sum if larger; pure.
 * @param {number[]} counts
 * @param {number} total
 * @returns {{from: number, to: number}[]} shares of the width, 0 to 1
 */
export function laidOut(counts, total) {
  const whole = Math.max(
    total,
    counts.reduce((sum, count) => sum + count, 0),
    1,
  );
  let end = 0;
  return counts.map((count) => {
    const from = end / whole;
    end += count;
    return { from, to: end / whole };
  });
}

/**
 * Return round numbers within a range, at most `most` + 1 of them; pure.
 * @param {number} low
 * @param {number} high
 * @param {number} most
 */
export function ticks(low, high, most) {
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((times) => times * power >= rough) ?? 10);
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, i) => (first + i) * step);
}

/**
 * Return the range that contains all intervals, with a margin; pure. Of the intervals valid at any look, only
 * the last one of each model is included: the first ones span nearly the full scale.
 * @param {{score: number, ci: number[] | null}[]} points
 * @param {(number | null)[][]} [anyLook] the last interval of each model
 * @returns {[number, number]}
 */
export function range(points, anyLook = []) {
  const known = anyLook.flat().filter((end) => end !== null);
  const ends = [
    ...points.flatMap(({ score, ci }) => [score, ...(ci ?? [])]),
    .../** @type {number[]} */ (known),
  ];
  const low = Math.min(...ends);
  const high = Math.max(...ends);
  const air = Math.max((high - low) * 0.08, 0.5);
  return [low < 0 ? low - air : Math.max(0, low - air), high + air]; // log-odds have no end
}

/**
 * Plot the scores of a model over runs, with their intervals.
 * @param {{run: string, score: number, ci: number[] | null}[]} points
 * @param {string[]} runs all of them, in their order
 * @param {{score: number, ci: number[] | null}[]} every the scores of all models, for one axis
 * @param {string} label what the chart shows, in words
 */
export function runsChart(points, runs, every, label) {
  const [low, high] = range(every);
  const { svg, y } = framed(low, high, label);
  const x = (/** @type {string} */ run) =>
    LEFT + ((runs.indexOf(run) + 0.5) / runs.length) * (WIDTH - LEFT - RIGHT);
  const letters = Math.max(3, Math.floor(LETTERS / runs.length));
  for (const run of runs) {
    const words = run.length > letters ? `${run.slice(0, letters - 1)}…` : run;
    svg.append(text(words, { x: `${x(run)}`, y: `${HEIGHT - 4}` }));
  }
  svg.append(
    element("polyline", { points: points.map(({ run, score }) => `${x(run)},${y(score)}`).join(" ") }),
  );
  for (const { run, score, ci } of points) {
    const [from, to] = ci ?? [score, score];
    svg.append(
      element("line", { class: "now", x1: `${x(run)}`, x2: `${x(run)}`, y1: `${y(from)}`, y2: `${y(to)}` }),
      element("circle", { cx: `${x(run)}`, cy: `${y(score)}`, r: "4" }),
    );
  }
  return svg;
}

/**
 * Plot named points with their intervals both ways; points at one spot share a line of names.
 * @param {{name: string, x: number, x_ci: number[] | null, y: number, y_ci: number[] | null}[]} points
 * @param {string} label what the chart shows, in words
 */
export function scatterChart(points, label) {
  const { svg, x, y } = plane(
    range(points.map((point) => ({ score: point.x, ci: point.x_ci }))),
    range(points.map((point) => ({ score: point.y, ci: point.y_ci }))),
    label,
  );
  for (const point of points) {
    const [from, to] = (point.x_ci ?? [point.x, point.x]).map(x);
    const [bottom, top] = (point.y_ci ?? [point.y, point.y]).map(y);
    const [at, height] = [`${x(point.x)}`, `${y(point.y)}`];
    svg.append(
      element("line", { class: "now", x1: `${from}`, x2: `${to}`, y1: height, y2: height }),
      element("line", { class: "now", x1: at, x2: at, y1: `${bottom}`, y2: `${top}` }),
      element("circle", { cx: at, cy: height, r: "4" }),
    );
  }
  for (const { names, across, up } of labels(points.map((point) => [point.name, x(point.x), y(point.y)]))) {
    const isLeft = across > WIDTH / 2;
    const place = { x: `${across + (isLeft ? -7 : 7)}`, y: `${up - 6}`, class: isLeft ? "left" : "right" };
    svg.append(text(names.join(", "), place));
  }
  return svg;
}

/**
 * Plot many points without names.
 * @param {number[]} across their values
 * @param {number[]} up their scores, in the same order
 * @param {string} label what the chart shows, in words
 */
export function pointsChart(across, up, label) {
  const { svg, x, y } = plane(spread(across), spread(up), label);
  const spots = across.map((value, i) => `M${x(value).toFixed(1)} ${y(up[i]).toFixed(1)}h0`);
  svg.append(element("path", { class: "points", d: spots.join("") })); // a line of no length is a dot
  return svg;
}

/**
 * Return the range of values with a margin; pure.
 * @param {number[]} values
 * @returns {[number, number]}
 */
export function spread(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const air = (high - low) * 0.05 || Math.abs(low) * 0.05 || 1;
  return [low - air, high + air];
}

/**
 * Return the names at each spot; those too near an earlier one for a line of their own stand with it; pure.
 * @param {[string, number, number][]} points name, x and y
 */
export function labels(points) {
  const spots = /** @type {{names: string[], across: number, up: number}[]} */ ([]);
  for (const [name, across, up] of points) {
    const near = spots.find(
      (spot) => Math.abs(spot.across - across) < LABEL_WIDTH && Math.abs(spot.up - up) < LABEL_HEIGHT,
    );
    if (near) near.names.push(name);
    else spots.push({ names: [name], across, up });
  }
  return spots;
}

/** Create a bar of session counts; the text beside it states them in words. */
export function sessionBar() {
  const svg = element("svg", {
    class: "sessions",
    viewBox: "0 0 100 6",
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  });
  const parts = ["finished", "active", "broken"].map((name) =>
    element("rect", { class: name, y: "0", height: "6" }),
  );
  svg.append(...parts);
  return {
    svg,
    /** @param {number[]} counts @param {number} total */
    update(counts, total) {
      laidOut(counts, total).forEach(({ from, to }, i) => {
        parts[i].setAttribute("x", `${100 * from}`);
        parts[i].setAttribute("width", `${100 * (to - from)}`);
      });
    },
  };
}

/**
 * Plot a score and its two intervals against the number of evaluators; values off the axis are clipped.
 * @param {{evaluators: number, score: number, ci: number[], any_look: (number | null)[]}[]} points two or
 *   more
 * @param {object} frame
 * @param {number} frame.wanted evaluators
 * @param {[number, number]} frame.ends of the score axis
 * @param {string} frame.label what the chart shows, in words
 */
export function narrowing(points, { wanted, ends: [low, high], label }) {
  const { svg, y } = framed(low, high, label);
  const least = points[0].evaluators;
  const most = Math.max(wanted, points[points.length - 1].evaluators, least + 1);
  const x = (/** @type {number} */ count) =>
    LEFT + ((count - least) / (most - least)) * (WIDTH - LEFT - RIGHT);
  for (const count of new Set([
    least,
    ...ticks(least, most, 4).filter((tick) => tick > least + most / 10 && Number.isInteger(tick)),
  ])) {
    svg.append(text(`${count}`, { x: `${x(count)}`, y: `${HEIGHT - 4}` }));
  }
  const at = (/** @type {number} */ count, /** @type {number} */ score) =>
    `${x(count).toFixed(1)},${y(score).toFixed(1)}`;
  const within = (/** @type {number} */ end) => Math.min(Math.max(end, low), high);
  const band = (
    /** @type {string} */ name,
    /** @type {(point: typeof points[0]) => (number | null)[]} */ ends,
  ) => {
    const upper = points.map((point) => at(point.evaluators, within(ends(point)[1] ?? high)));
    const lower = points.map((point) => at(point.evaluators, within(ends(point)[0] ?? low))).reverse();
    svg.append(element("polygon", { class: name, points: [...upper, ...lower].join(" ") }));
  };
  band("any-look", (point) => point.any_look);
  band("one-look", (point) => point.ci);
  svg.append(
    element("polyline", { points: points.map(({ evaluators, score }) => at(evaluators, score)).join(" ") }),
  );
  const last = points[points.length - 1];
  svg.append(
    element("line", {
      class: "now",
      x1: `${x(last.evaluators)}`,
      x2: `${x(last.evaluators)}`,
      y1: `${y(last.ci[0])}`,
      y2: `${y(last.ci[1])}`,
    }),
  );
  svg.append(element("circle", { cx: `${x(last.evaluators)}`, cy: `${y(last.score)}`, r: "4" }));
  return svg;
}

/**
 * Return the lines of a study's course against the boundaries of its planned looks; pure.
 * @param {import("../../types/api.js").LooksProgress} progress
 */
export function courseOf({ looks, boundary, decided, stopped }) {
  /** @type {Map<string, {evaluators: number, value: number, isDone: boolean}[]>} by pair, or by model */
  const series = new Map();
  for (const { evaluators, points, boundary: at } of decided) {
    for (const { of, value, state } of points) {
      const name = of.join(" – ");
      const isDone = state === null ? (value ?? Infinity) <= (at ?? 0) : state !== "open";
      const before = series.get(name) ?? [];
      series.set(name, value === null ? before : [...before, { evaluators, value, isDone }]);
    }
  }
  const passed = decided.map(({ evaluators, boundary }) => ({ evaluators, value: boundary }));
  const planned = looks.map((evaluators, i) => ({ evaluators, value: boundary[i] ?? null }));
  const marks = [...passed, ...(stopped ? [] : planned.slice(decided.length))].flatMap(
    ({ evaluators, value }) => (value === null ? [] : [{ evaluators, value }]),
  );
  return { series: [...series].map(([name, points]) => ({ name, points })), marks };
}

const LABEL_PX = 11;

/**
 * Return rising heights moved apart, so that labels do not overlap, and none is below `lowest`; pure.
 * @param {number[]} heights
 * @param {number} gap
 * @param {number} lowest
 */
export function apart(heights, gap, lowest) {
  const moved = [...heights];
  for (let i = 1; i < moved.length; i++) moved[i] = Math.max(moved[i], moved[i - 1] + gap);
  for (let i = moved.length - 1, most = lowest; i >= 0; i--, most = moved[i + 1] - gap)
    moved[i] = Math.min(moved[i], most);
  return moved;
}

/** Lines of a course that have names, at most. */
const MOST_NAMED = 8;

/**
 * Return the indices of the lines that are named: all, or of many those that are open and nearest to the
 * boundary, and then those decided; pure.
 * @param {ReturnType<typeof courseOf>} course
 */
export function namedLines({ series, marks }) {
  const all = series.map((_, i) => i);
  if (all.length <= MOST_NAMED) return all;
  const far = (/** @type {number} */ i) => {
    const end = series[i].points[series[i].points.length - 1];
    if (!end) return Infinity;
    const mark = marks.find(({ evaluators }) => evaluators === end.evaluators);
    return (end.isDone ? 1e6 : 0) + Math.abs(end.value - (mark?.value ?? end.value));
  };
  return all.sort((a, b) => far(a) - far(b) || a - b).slice(0, MOST_NAMED);
}

/**
 * Plot what planned looks found against the number of evaluators, with the boundaries as a dashed line.
 * Points of what is decided are filled; numbers at the ends are those of the rows of the table beneath. Of
 * many lines a few have numbers, and the others are faint.
 * @param {import("../../types/api.js").LooksProgress} progress
 * @param {string} label what the chart shows, in words
 */
export function looksChart(progress, label) {
  const course = courseOf(progress);
  const { series, marks } = course;
  const named = namedLines(course);
  const values = [...series.flatMap(({ points }) => points), ...marks].map(({ value }) => value);
  const high = Math.max(1, ...values) * 1.06;
  const { svg, y } = framed(Math.min(0, ...values), high, label);
  svg.classList.add("looks");
  const { looks } = progress;
  const x = (/** @type {number} */ count) =>
    LEFT + (count / looks[looks.length - 1]) * (WIDTH - LEFT - 2 * RIGHT);
  const line = (/** @type {typeof marks} */ points, /** @type {string} */ name) =>
    element("polyline", {
      class: name,
      points: points.map(({ evaluators, value }) => `${x(evaluators)},${y(value)}`).join(" "),
    });
  let free = WIDTH;
  for (const count of [...looks].reverse()) {
    if (x(count) > free) continue; // labels of looks that are close would overlap
    free = x(count) - 24;
    svg.append(text(`${count}`, { x: `${x(count)}`, y: `${HEIGHT - 4}` }));
  }
  svg.append(line(marks, "boundary"));
  for (const { evaluators, value } of marks) {
    const [from, to] = [x(evaluators) - 6, x(evaluators) + 6];
    const ends = { x1: `${from}`, x2: `${to}`, y1: `${y(value)}`, y2: `${y(value)}` };
    svg.append(element("line", { class: "boundary", ...ends }));
  }
  const inFront = new Set(named);
  const behind = series.map((_, i) => i).filter((i) => !inFront.has(i));
  for (const i of [...behind, ...named]) {
    const { points } = series[i];
    const faint = inFront.has(i) ? "" : " faint";
    svg.append(line(points, `course${faint}`));
    for (const { evaluators, value, isDone } of points) {
      const name = `${isDone ? "done" : "open"}${faint}`;
      svg.append(
        element("circle", {
          class: name,
          cx: `${x(evaluators)}`,
          cy: `${y(value)}`,
          r: isDone ? "4" : "3.2",
        }),
      );
    }
  }
  const last = named.flatMap((i, place) => {
    const { points } = series[i];
    const end = points[points.length - 1];
    return end ? [{ number: place + 1, at: x(end.evaluators) + 7, height: y(end.value) + 4 }] : [];
  });
  last.sort((a, b) => a.height - b.height);
  const heights = apart(
    last.map(({ height }) => height),
    LABEL_PX,
    HEIGHT - 2 * LABEL_PX - 2,
  );
  if (series.length > 1)
    last.forEach(({ number, at }, i) => {
      svg.append(text(`${number}`, { x: `${at}`, y: `${heights[i]}`, class: "right" }));
    });
  return svg;
}

/**
 * Create a score with its interval on an axis; the text beside it states them in words.
 * @param {number} score
 * @param {number[]} ci
 * @param {[number, number]} ends of the axis
 */
export function intervalBar(score, ci, [low, high]) {
  const svg = element("svg", {
    class: "interval",
    viewBox: "0 0 100 10",
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  });
  const x = (/** @type {number} */ value) => (100 * (value - low)) / (high - low);
  svg.append(element("line", { class: "grid", x1: "0", x2: "100", y1: "5", y2: "5" }));
  svg.append(
    element("rect", {
      x: `${x(ci[0])}`,
      y: "3",
      width: `${Math.max(x(ci[1]) - x(ci[0]), 0.5)}`,
      height: "4",
    }),
  );
  svg.append(element("line", { class: "now", x1: `${x(score)}`, x2: `${x(score)}`, y1: "0", y2: "10" }));
  return svg;
}

/**
 * Return an empty chart with an axis of scores, and where on it a score is.
 * @param {number} low
 * @param {number} high
 * @param {string} label
 * @param {number} [height]
 */
function framed(low, high, label, height = HEIGHT) {
  const svg = element("svg", {
    class: "narrowing",
    viewBox: `0 0 ${WIDTH} ${height}`,
    role: "img",
    "aria-label": label,
  });
  const y = (/** @type {number} */ score) => TOP + ((high - score) / (high - low)) * (height - TOP - FOOT);
  for (const tick of ticks(low, high, 4)) {
    svg.append(
      element("line", {
        class: "grid",
        x1: `${LEFT}`,
        x2: `${WIDTH - RIGHT}`,
        y1: `${y(tick)}`,
        y2: `${y(tick)}`,
      }),
      text(`${Number(tick.toPrecision(6))}`, { x: `${LEFT - 6}`, y: `${y(tick) + 4}`, class: "left" }),
    );
  }
  return { svg, y };
}

/**
 * Return an empty chart with an axis each way, and where on them a point is.
 * @param {[number, number]} across
 * @param {[number, number]} up
 * @param {string} label
 */
function plane([left, right], [low, high], label) {
  const { svg, y } = framed(low, high, label, SCATTER_HEIGHT);
  const x = (/** @type {number} */ value) =>
    LEFT + ((value - left) / (right - left)) * (WIDTH - LEFT - RIGHT);
  for (const tick of ticks(left, right, 4))
    svg.append(text(`${Number(tick.toPrecision(6))}`, { x: `${x(tick)}`, y: `${SCATTER_HEIGHT - 4}` }));
  return { svg, x, y };
}

/**
 * @param {string} words
 * @param {Record<string, string>} attributes
 */
function text(words, attributes) {
  const made = element("text", attributes);
  made.textContent = words;
  return made;
}

/**
 * @param {string} tag
 * @param {Record<string, string>} attributes
 */
function element(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}
