// @ts-check
/** The page's address. */

/**
 * Return the name at the end of the page's path, such as `faces` of `/s/faces`; an undecodable one as it is,
 * and "" if the address is of no study, waiting room or session.
 * @param {string} [path]
 */
export function nameInPath(path = location.pathname) {
  const name = /\/(?:s|wait|w)\/([^/]+)\/?$/.exec(path)?.[1] ?? "";
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
