// @ts-check
/** Elements that pages have in common. */

/**
 * Create an element.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, string>} attributes
 * @param {...(Node | string)} children
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** @param {string} words the researcher's, in any language: paragraphs separated by empty lines */
export function paragraphs(words) {
  return words.split(/\n\s*\n/).map((part) => el("p", { dir: "auto" }, part.trim()));
}

/**
 * Return a code or an id, which no translator of pages may alter.
 * @param {string} value
 */
export function verbatim(value) {
  return el("bdi", { translate: "no" }, value);
}

/**
 * Return a list of names and values, side by side.
 * @param {(Node | string)[][]} rows
 */
export function facts(rows) {
  return el(
    "dl",
    { class: "facts" },
    ...rows.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]),
  );
}

/**
 * Return the contact for evaluators, as a link if possible.
 * @param {string} contact an e-mail address, a URL or a text
 */
export function contactLink(contact) {
  if (/^https?:\/\//.test(contact))
    return el(
      "a",
      { href: contact, target: "_blank", rel: "noopener noreferrer", dir: "ltr", translate: "no" },
      contact,
    );
  if (/^[^\s@:/?]+@[^\s@:/?]+\.[^\s@:/?]+$/.test(contact))
    return el("a", { href: `mailto:${contact}`, dir: "ltr", translate: "no" }, contact);
  return el("bdi", {}, contact);
}

/** @param {string} words */
export function notice(words) {
  const place = byId("notice");
  if (place.textContent !== words) place.textContent = words;
}

/** @param {string} id */
export function byId(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}
