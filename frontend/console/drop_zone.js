// @ts-check
/** A place to drop pictures on, with buttons that do the same. */

import { alertLine, el, explained, paragraph } from "./elements.js";
import { chosen, dropped } from "./files.js";

/** @typedef {import("./files.js").Handed} Handed */

/**
 * Return a place to drop pictures on, with buttons that do the same.
 * @param {string} heading
 * @param {boolean} isMany
 * @param {(all: Handed[]) => unknown} onHanded
 */
export function dropZone(heading, isMany, onHanded) {
  const problem = alertLine();
  const reading = el("p", { class: "quiet", role: "status" });
  const zone = el(
    "div",
    { class: "drop-zone" },
    paragraph(isMany ? "Drop folders or zips here, or" : "Drop a folder or a zip here, or"),
    el("div", { class: "choosing" }, ...choosers(heading, (handed) => onHanded([handed]))),
    reading,
    problem,
  );
  let inside = 0;
  const move = (/** @type {number} */ step) => {
    inside += step;
    zone.classList.toggle("is-over", inside > 0);
  };
  zone.addEventListener("dragenter", () => move(1));
  zone.addEventListener("dragleave", () => move(-1));
  zone.addEventListener("dragover", (event) => event.preventDefault());
  zone.addEventListener("drop", async (event) => {
    event.preventDefault();
    inside = 0;
    zone.classList.remove("is-over");
    if (!event.dataTransfer) return;
    problem.textContent = "";
    reading.textContent = "Looking through what was dropped…"; // thousands of files take a moment
    try {
      const all = await dropped(event.dataTransfer);
      reading.textContent = "";
      await onHanded(all);
    } catch (error) {
      problem.textContent = explained(error);
    } finally {
      reading.textContent = "";
    }
  });
  return { element: zone, fail: (/** @type {string} */ words) => (problem.textContent = words) };
}

/**
 * Return buttons that choose a folder, or files.
 * @param {string} what for whom the buttons are, for screen readers
 * @param {(handed: Handed) => unknown} onChosen
 */
export function choosers(what, onChosen) {
  const hasFolders = "webkitdirectory" in HTMLInputElement.prototype;
  return [
    ...(hasFolders ? [chooser("Choose a folder", what, { webkitdirectory: "" }, onChosen)] : []),
    chooser("Choose files or a zip", what, { multiple: "", accept: "image/*,video/*,.clip,.zip" }, onChosen),
  ];
}

/**
 * @param {string} label
 * @param {string} what
 * @param {Record<string, string>} attributes
 * @param {(handed: Handed) => unknown} onChosen
 */
function chooser(label, what, attributes, onChosen) {
  const input = el("input", { type: "file", hidden: "", ...attributes });
  const button = el(
    "button",
    { type: "button", class: "plain" },
    label,
    el("span", { class: "unseen" }, `: ${what}`),
  );
  button.addEventListener("click", () => input.click());
  input.addEventListener("change", () => {
    const handed = chosen(input.files ?? []);
    input.value = ""; // so that the same folder can be chosen again
    if (handed) void onChosen(handed);
  });
  return el("span", {}, button, input);
}
