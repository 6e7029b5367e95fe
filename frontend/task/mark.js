// @ts-check
/**
 * Marks a place on the picture, a point or a box, by pointer or keyboard; in thousandths of its width and
 * height.
 */

import { el } from "../shared/elements.js";
import { text } from "../texts/texts.js";

/** A mark is in thousandths of the picture's width and height. */
export const MARK_UNITS = 1000;
const STEP = 10;
const LARGE_STEP = 50;
const SMALLEST_BOX = 5;
/** @type {Record<string, [number, number]>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/**
 * @typedef {{x: number, y: number}} Point
 * @typedef {"click" | "box"} Kind
 */

/**
 * Return the box between two corners as `x y width height`; null if it is too small to be one.
 * @param {Point} a
 * @param {Point} b
 * @returns {number[] | null}
 */
export function boxBetween(a, b) {
  const [width, height] = [Math.abs(a.x - b.x), Math.abs(a.y - b.y)];
  return width < SMALLEST_BOX || height < SMALLEST_BOX
    ? null
    : [Math.min(a.x, b.x), Math.min(a.y, b.y), width, height];
}

/**
 * Return where a pointer is on a picture; a place beside it counts as the nearest one on it.
 * @param {{clientX: number, clientY: number}} event
 * @param {{left: number, top: number, width: number, height: number}} picture in CSS px
 * @returns {Point}
 */
export function pointOf({ clientX, clientY }, { left, top, width, height }) {
  return {
    x: within((MARK_UNITS * (clientX - left)) / width),
    y: within((MARK_UNITS * (clientY - top)) / height),
  };
}

/**
 * Lay a marking surface over the picture. Arrow keys move a cross, which appears with the first one, so that
 * Enter alone marks nothing; Shift makes larger steps. A box has two corners, dragged or given one by one.
 * @param {HTMLElement} stage
 * @param {Kind} kind
 * @param {{onChange: (mark: number[] | null, hasCorner: boolean) => void, onDone: () => void}} listener
 *   `onDone`: Enter was pressed where the mark is already
 */
export function markOn(stage, kind, { onChange, onDone }) {
  const cross = el("div", { class: "cross" });
  const box = el("div", { class: "box" });
  const layer = el(
    "div",
    { class: "marking", tabindex: "0", role: "application", "aria-label": text("followup.where_picture") },
    box,
    cross,
  );
  layer.classList.add(kind);
  /** @type {Point | null} where the cross is */
  let at = null;
  /** @type {Point | null} the first corner of a box that has no second one yet */
  let corner = null;
  /** @type {number[] | null} */
  let mark = null;
  let isMoved = false;
  /** @type {{at: Point, was: {at: Point | null, corner: Point | null, mark: number[] | null}} | null} */
  let pressed = null;

  function show() {
    const shown = corner && at ? boxBetween(corner, at) : kind === "box" ? mark : null;
    cross.hidden = at === null;
    box.hidden = shown === null;
    if (at) place(cross, [at.x, at.y]);
    if (shown) place(box, shown);
  }

  /** @param {number[] | null} next */
  function change(next) {
    mark = next;
    show();
    onChange(mark, corner !== null);
  }

  /** Use the place of the cross: as the mark, as the first corner, or as the second one. */
  function give() {
    if (!at) return;
    isMoved = false;
    if (kind === "click") return change([at.x, at.y]);
    const made = corner && boxBetween(corner, at);
    if (!corner) corner = at;
    if (made) corner = null;
    change(made);
  }

  /** @param {PointerEvent} event */
  const down = (event) => {
    if (event.button !== 0 || !event.isPrimary) return;
    layer.setPointerCapture(event.pointerId);
    const was = { at, corner, mark };
    at = pointOf(event, layer.getBoundingClientRect());
    pressed = { at, was };
    if (kind === "click" || !corner) give();
  };
  /** @param {PointerEvent} event */
  const move = (event) => {
    if (!corner || !event.isPrimary) return;
    at = pointOf(event, layer.getBoundingClientRect());
    if (pressed && boxBetween(pressed.at, at)) corner = pressed.at; // a tap before a drag was astray
    show();
  };
  /** @param {PointerEvent} event */
  const up = (event) => {
    move(event);
    if (event.isPrimary) pressed = null;
    if (corner && at && boxBetween(corner, at)) give();
  };
  /** A finger that scrolls, or a second one that zooms, marks nothing. */
  const cancel = () => {
    if (!pressed) return;
    ({ at, corner } = pressed.was);
    change(pressed.was.mark);
    pressed = null;
  };
  /** @param {KeyboardEvent} event */
  const key = (event) => {
    const arrow = ARROWS[event.key];
    if (arrow && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      const step = event.shiftKey ? LARGE_STEP : STEP;
      const { x, y } = at ?? { x: MARK_UNITS / 2, y: MARK_UNITS / 2 };
      at = { x: within(x + step * arrow[0]), y: within(y + step * arrow[1]) };
      isMoved = true;
      show();
    } else if ((event.key === "Enter" || event.key === " ") && at && !event.repeat) {
      event.preventDefault();
      event.stopPropagation(); // it would press the primary button
      if (isMoved) give();
      else if (mark) onDone();
    }
  };
  layer.addEventListener("pointerdown", down);
  layer.addEventListener("pointermove", move);
  layer.addEventListener("pointerup", up);
  layer.addEventListener("pointercancel", cancel);
  layer.addEventListener("keydown", key);
  show();
  stage.append(layer);
  layer.focus({ preventScroll: true });
  return { end: () => layer.remove() };
}

/**
 * @param {HTMLElement} element
 * @param {number[]} place x, y, and the size of a box
 */
function place(element, [x, y, width, height]) {
  element.style.left = percent(x);
  element.style.top = percent(y);
  if (width === undefined) return;
  element.style.width = percent(width);
  element.style.height = percent(height);
}

/** @param {number} thousandths */
function percent(thousandths) {
  return `${(100 * thousandths) / MARK_UNITS}%`;
}

/** @param {number} value */
function within(value) {
  return Math.min(MARK_UNITS, Math.max(0, Math.round(value)));
}
