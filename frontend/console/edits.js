// @ts-check
/** Edits that name the values they replace, and the choice between two if somebody else's came first. */

import { askInDialog, paragraph } from "./elements.js";
import { isDone } from "./forms.js";
import { facts } from "../shared/elements.js";

/** @typedef {Record<string, any>} Values */

/**
 * Store those of some values that differ from what was shown. If somebody else has changed one of them
 * since, ask which is to stay; what only they have changed stays theirs.
 * @param {Values} shown
 * @param {Values} wanted
 * @param {object} hooks
 * @param {(changes: Values, replaced: Values) => Promise<unknown>} hooks.send refused with the code `changed`
 *   if a value is none of `replaced`
 * @param {() => Promise<Values>} hooks.current what is stored now
 * @param {(name: string) => string} hooks.label
 * @param {(name: string, value: any) => string} hooks.inWords
 * @returns {Promise<"mine" | "theirs" | "">} whose is stored; "" if neither was chosen
 */
export async function edited(shown, wanted, { send, current, label, inWords }) {
  const mine = Object.entries(wanted).filter(([name, value]) => !isSame(value, shown[name]));
  const changes = Object.fromEntries(mine);
  let replaced = shown;
  while (!(await isDone(() => send(changes, replaced)))) {
    const now = await current();
    const disputed = mine.filter(
      ([name, value]) => !isSame(now[name], replaced[name]) && !isSame(now[name], value),
    );
    const rows = disputed.flatMap(([name, value]) => [
      [`${label(name)}: stored now`, inWords(name, now[name])],
      [`${label(name)}: yours`, inWords(name, value)],
    ]);
    const choice = rows.length ? await asked(rows) : "mine";
    if (choice !== "mine") return choice;
    replaced = now;
  }
  return "mine";
}

/**
 * @param {string[][]} rows
 * @returns {Promise<"mine" | "theirs" | "">}
 */
async function asked(rows) {
  const words = paragraph("Somebody else has changed this since you opened it. Nothing of yours was stored.");
  const choices = [
    { label: "Replace it with mine", value: "mine", primary: true },
    { label: "Keep what is stored", value: "theirs" },
  ];
  const choice = await askInDialog("Which one is to stay?", [words, facts(rows)], choices);
  return /** @type {"mine" | "theirs" | ""} */ (choice ?? "");
}

/**
 * @param {unknown} one
 * @param {unknown} other
 */
function isSame(one, other) {
  return JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
}
