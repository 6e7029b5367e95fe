// @ts-check
/** Paths of the console: which screen a path names, and with which parameters; pure. */

/**
 * Return the parameters of a path by a pattern such as `/console/studies/:study`, or null if it has another
 * form. A parameter is one part of the path, decoded; a trailing slash makes no difference.
 * @param {string} pattern
 * @param {string} path
 * @returns {Record<string, string> | null}
 */
export function parametersOf(pattern, path) {
  const wanted = parts(pattern);
  const found = parts(path);
  if (wanted.length !== found.length) return null;
  /** @type {Record<string, string>} */
  const parameters = {};
  for (const [i, part] of wanted.entries()) {
    const name = part.startsWith(":") ? part.slice(1) : "";
    const value = name ? decoded(found[i]) : found[i];
    if (name ? value === null : value !== part) return null;
    if (name && value !== null) parameters[name] = value;
  }
  return parameters;
}

/**
 * Return the first entry of a table whose pattern fits, with the parameters; null if none does.
 * @template Entry
 * @param {[string, Entry][]} table patterns and what they stand for
 * @param {string} path
 * @returns {{entry: Entry, parameters: Record<string, string>} | null}
 */
export function found(table, path) {
  for (const [pattern, entry] of table) {
    const parameters = parametersOf(pattern, path);
    if (parameters) return { entry, parameters };
  }
  return null;
}

/**
 * Return a path with its parts escaped: ``pathTo`/console/studies/${study}` ``.
 * @param {TemplateStringsArray} strings
 * @param {...(string | number)} values
 */
export function pathTo(strings, ...values) {
  return strings.reduce((path, part, i) => `${path}${encodeURIComponent(values[i - 1])}${part}`);
}

/** @param {string} path */
function parts(path) {
  return path.replace(/\/+$/, "").split("/").slice(1);
}

/** @param {string} part */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return null; // `%` without two digits
  }
}
