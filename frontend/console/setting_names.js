// @ts-check
/** Settings in messages of the server, which have the names of the API: what the console calls them. */

/** @typedef {import("../../types/api.js").SettingNames} Names */

/** @type {Map<string, Names>} */
const known = new Map();
const TRUTH = /** @type {Record<string, string>} */ ({ true: "yes", false: "no" });
const WITH_VALUE = /`?\b([a-z]\w*)=([\w.:-]*\w)`?/g;
const OF_SEVERAL_WORDS = /[`'"]?\b([a-z]+(?:_[a-z\d]+)+)\b[`'"]?/g;
const ONE_WORD = /(^|: |the setting )`?([a-z]+)`?(?= (?:must|goes|do|has)\b|$)|`([a-z]+)`/g;

/** @param {Record<string, Names>} settings by their names */
export function callSettings(settings) {
  for (const [name, words] of Object.entries(settings)) known.set(name, words);
}

/**
 * Return what the console calls a setting.
 * @param {string} name
 */
export function labelOf(name) {
  return known.get(name)?.label ?? name;
}

/**
 * Return a message in which settings and their values are called as in the console.
 * @param {string} message
 */
export function inPlainNames(message) {
  return message
    .replace(WITH_VALUE, (whole, name, value) => {
      const words = known.get(name)?.choices[value] ?? TRUTH[value] ?? value;
      return quoted(name, whole, ` (${words})`);
    })
    .replace(OF_SEVERAL_WORDS, (whole, name) => quoted(name, whole))
    .replace(
      ONE_WORD,
      (whole, before = "", name = "", code = "") => before + quoted(name || code, name || whole),
    );
}

/**
 * @param {string} name
 * @param {string} otherwise
 * @param {string} [after]
 */
function quoted(name, otherwise, after = "") {
  return known.has(name) ? `“${labelOf(name)}”${after}` : otherwise;
}
