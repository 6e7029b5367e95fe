// @ts-check
/**
 * Keeps the pictures of a block fitted to the window, which may be resized, turned, zoomed, pinched or moved
 * to another display. Nothing is laid out anew during a flash.
 */

import { el } from "../shared/elements.js";
import { ask, isGone } from "./screens.js";
import { text } from "../texts/texts.js";

const CALM_MS = 150; // after the last event of a change
const SMALLEST_PINCH = 0.01;
const DOUBT_CSS = 1; // of a picture's edges, because of rounding

/**
 * @typedef {ReturnType<typeof import("./stage.js").stageSize>} Size
 * @typedef {ReturnType<typeof import("./screens.js").trialScreen>} Screen
 * @typedef {{left: number, top: number, right: number, bottom: number}} Box
 */

/** Return the window's size without pinch (CSS px), device pixels per CSS px, and the scale of the pinch. */
export function windowAtHand() {
  const { scale, width, height } = visualViewport ?? { scale: 1, width: innerWidth, height: innerHeight };
  const isPinched = Math.abs(scale - 1) > SMALLEST_PINCH;
  return {
    width: isPinched ? Math.round(width * scale) : innerWidth,
    height: isPinched ? Math.round(height * scale) : innerHeight,
    pixel_ratio: devicePixelRatio,
    scale: isPinched ? scale : 1,
  };
}

/** Return the part of the page that is seen, in the coordinates of `getBoundingClientRect`. */
function seenBox() {
  const {
    offsetLeft: left,
    offsetTop: top,
    width,
    height,
  } = visualViewport ?? {
    offsetLeft: 0,
    offsetTop: 0,
    width: innerWidth,
    height: innerHeight,
  };
  return { left, top, right: left + width, bottom: top + height };
}

/**
 * Return whether a box lies within another one; pure.
 * @param {Box} inner
 * @param {Box} outer
 */
export function isWithin(inner, outer) {
  return (
    inner.left >= outer.left - DOUBT_CSS &&
    inner.top >= outer.top - DOUBT_CSS &&
    inner.right <= outer.right + DOUBT_CSS &&
    inner.bottom <= outer.bottom + DOUBT_CSS
  );
}

/** @param {HTMLElement} stage */
export function isWhole(stage) {
  return isWithin(stage.getBoundingClientRect(), seenBox());
}

/**
 * Call `onChange` with each event after which the window may differ; return a function that stops this.
 * @param {() => void} onChange
 */
export function watchWindow(onChange) {
  /** @type {[EventTarget, string][]} */
  const sources = [[globalThis.window, "resize"]];
  if (visualViewport) sources.push([visualViewport, "resize"], [visualViewport, "scroll"]);
  const ratio = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
  sources.push([ratio, "change"]);
  for (const [source, name] of sources) source.addEventListener(name, onChange);
  return () => {
    for (const [source, name] of sources) source.removeEventListener(name, onChange);
  };
}

/**
 * Undo a pinch: put the screen of trials where it is seen, at the size that it has without the pinch.
 * @param {HTMLElement} main
 */
function undoPinch(main) {
  const { scale, width, height } = windowAtHand();
  main.classList.toggle("pinned", scale !== 1);
  if (scale === 1 || !visualViewport) return;
  const { pageLeft, pageTop } = visualViewport;
  const values = { left: `${pageLeft}px`, top: `${pageTop}px`, width: `${width}px`, height: `${height}px` };
  for (const [name, value] of Object.entries({ ...values, scale: `${1 / scale}` }))
    main.style.setProperty(`--seen-${name}`, value);
}

/**
 * Follow the window for the length of a block.
 * @param {Screen} screen
 * @param {() => Size} sizeAtHand
 * @param {Size} size at the beginning
 * @param {(size: Size) => Promise<void>} onResize shows everything at another size
 */
export function followWindow(screen, sizeAtHand, size, onResize) {
  /** @type {Set<string>} of the trial */
  const flags = new Set();
  let isHeld = false;
  let asked = "";
  let before = size;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let last = Promise.resolve();

  function fit() {
    last = last.then(fitNow, fitNow);
    return last;
  }

  async function fitNow() {
    if (isHeld || isGone(screen)) return;
    undoPinch(screen.main);
    const next = sizeAtHand();
    if (JSON.stringify(next) !== JSON.stringify(size)) {
      size = next;
      flags.add("resized");
      await onResize(size);
      screen.onFit?.();
    }
    if (!isWhole(screen.stage)) screen.stage.scrollIntoView({ block: "nearest", inline: "nearest" });
    if (!isWhole(screen.stage)) flags.add("not_whole");
  }

  const stop = watchWindow(() => {
    // a keyboard on the screen goes as it came
    if (document.activeElement?.matches("textarea,input[type=text]")) return;
    clearTimeout(timer);
    timer = setTimeout(fit, CALM_MS);
  });

  return {
    /**
     * Fit the pictures before a trial; ask the evaluator, once, for a larger window if they do not fit.
     * Return whether their size changed since the trial before began.
     */
    async begin() {
      isHeld = false;
      clearTimeout(timer);
      await fit();
      const seen = JSON.stringify(windowAtHand());
      if (flags.has("not_whole") && asked !== seen) {
        asked = seen;
        await askForSpace();
        screen.enter();
        await fit();
      }
      flags.clear();
      if (!isWhole(screen.stage)) flags.add("not_whole");
      const hasChanged = size !== before;
      before = size;
      return hasChanged;
    },
    /** Leave everything as it is until `release` or the next trial: a flash is shown, or measured. */
    hold() {
      isHeld = true;
    },
    release() {
      isHeld = false;
      clearTimeout(timer);
      timer = setTimeout(fit, 0);
    },
    /** Return how large the pictures are shown, as facts of a response. */
    facts: () => ({
      shown_css_px: Math.round(100 * size.css) / 100,
      shown_px: size.px,
      pixel_ratio: devicePixelRatio,
      page_scale: Math.round(1000 * windowAtHand().scale) / 1000,
    }),
    /** Return what happened to the pictures of this trial. */
    flags: () => [...flags],
    /** Stop, once what is under way is done. */
    async end() {
      isHeld = true;
      stop();
      clearTimeout(timer);
      await last;
    },
  };
}

function askForSpace() {
  return ask(
    "check",
    text("fit.cut"),
    [el("p", {}, text("fit.cut_help"))],
    [{ label: text("pages.continue"), value: "on", primary: true }],
  );
}
