// @ts-check
/**
 * What a system or an extension altered in how pictures and their surround are painted. The style sheet
 * refuses what it can; this finds what is left. Read after an answer, never during a flash.
 */

const GRAY = "rgb(128, 128, 128)"; // of the stage (painting.js) and of the page around it (style.css)
const WHITE = "rgb(255, 255, 255)";
const DOUBT_CSS = 1;
/** Properties that change how an element and what is in it are painted, with the values that do not. */
const PAINTING = {
  filter: { filter: "none", backdropFilter: "none", clipPath: "none", maskImage: "none" },
  opacity: { opacity: "1" },
  blend: { mixBlendMode: "normal" },
  transform: { transform: "none", rotate: "none", scale: "none", translate: "none", zoom: "1" },
};
const EXTENSION =
  "html[data-darkreader-mode], html[data-darkreader-scheme], html[nighteye], meta[name=darkreader], " +
  "style.darkreader";

/**
 * Return what is altered, as the words of the column `surround`.
 * @param {HTMLElement} stage
 * @returns {string[]}
 */
export function alterations(stage) {
  const words = new Set([
    ...(matchMedia("(forced-colors: active)").matches ? ["forced_colors"] : []),
    ...(matchMedia("(inverted-colors: inverted)").matches ? ["inverted_colors"] : []),
    ...(isDarkened() ? ["darkened"] : []),
    ...(document.querySelector(EXTENSION) ? ["extension"] : []),
    ...(isCovered(stage) ? ["overlay"] : []),
  ]);
  const shown = [...stage.querySelectorAll("canvas, iframe")];
  for (const picture of shown) if (isResized(/** @type {HTMLElement} */ (picture))) words.add("size");
  for (const element of [...shown, ...withAncestors(stage)])
    for (const word of painted(element)) words.add(word);
  if (hasOtherBackground(stage)) words.add("background");
  return [...words];
}

/** @param {Element} element */
function withAncestors(element) {
  const all = [];
  for (let each = /** @type {Element | null} */ (element); each; each = each.parentElement) all.push(each);
  return all;
}

/**
 * @param {Element} element
 * @returns {string[]}
 */
function painted(element) {
  const style = /** @type {Record<string, any>} */ (/** @type {unknown} */ (getComputedStyle(element)));
  return Object.entries(PAINTING)
    .filter(([word]) => word !== "transform" || !element.classList.contains("pinned")) // window_fit.js
    .filter(([_, values]) =>
      Object.entries(values).some(([name, usual]) => !["", undefined, usual].includes(style[name])),
    )
    .map(([word]) => word);
}

/**
 * Return whether what stands behind the pictures is not the gray of the page.
 * @param {HTMLElement} stage
 */
function hasOtherBackground(stage) {
  const all = withAncestors(stage).filter((element) => document.body.contains(element)); // body covers html
  return all.some((element) => {
    const { backgroundColor, backgroundImage } = getComputedStyle(element);
    const isClear = element !== document.body && backgroundColor === "rgba(0, 0, 0, 0)";
    return backgroundImage !== "none" || (backgroundColor !== GRAY && !isClear);
  });
}

/** Return whether the browser darkens pages that ask for light colours, as it may on phones. */
function isDarkened() {
  const probe = document.createElement("i");
  Object.assign(probe.style, { position: "absolute", backgroundColor: "canvas", forcedColorAdjust: "none" });
  document.body.append(probe);
  const { backgroundColor } = getComputedStyle(probe);
  probe.remove();
  return !matchMedia("(forced-colors: active)").matches && backgroundColor !== WHITE;
}

/**
 * Return whether a style sheet of others gave a picture another size.
 * @param {HTMLElement} picture
 */
function isResized(picture) {
  const { width, height } = picture.style;
  return (
    Math.abs(picture.offsetWidth - Number.parseFloat(width)) > DOUBT_CSS ||
    Math.abs(picture.offsetHeight - Number.parseFloat(height)) > DOUBT_CSS
  );
}

/**
 * Return whether an element that is not the page's lies over the pictures and paints something.
 * @param {HTMLElement} stage
 */
function isCovered(stage) {
  const box = stage.getBoundingClientRect();
  const own = "head,body,#bar,#notice,#main,dialog,script,style,link";
  return [...document.documentElement.children, ...document.body.children].some((element) => {
    if (element.matches(own)) return false;
    const { left, top, right, bottom } = element.getBoundingClientRect();
    if (left >= box.right || right <= box.left || top >= box.bottom || bottom <= box.top) return false;
    const { visibility, opacity, backgroundColor, backgroundImage } = getComputedStyle(element);
    const isClear = /, 0\)$/.test(backgroundColor) && backgroundImage === "none" && !element.textContent;
    return visibility === "visible" && opacity !== "0" && (!isClear || painted(element).length > 0);
  });
}
