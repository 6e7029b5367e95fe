// @ts-check
/** The path below which the server's pages stand, such as `/hype`, where a proxy puts them below one. */

/** From the address of this module, `BASE/assets/VERSION/shared/…`; "" at the top, or without a server. */
export const BASE = baseOf(new URL(import.meta.url).pathname);

/** Whether the page stands in a preview of a study, which leaves nothing behind. */
export const IS_PREVIEW = /\/preview\/[\w-]{32}$/.test(BASE);

/**
 * Return what stands before the last `/assets/` of a file's path; "" if there is none.
 * @param {string} path
 */
export function baseOf(path) {
  return path.slice(0, Math.max(path.lastIndexOf("/assets/"), 0));
}

/**
 * Return a path of the server as browsers reach it; one that is below the base already stays as it is.
 * @param {string} path
 * @param {string} [base]
 */
export function addressOf(path, base = BASE) {
  return path.startsWith("/") && !(base && path.startsWith(`${base}/`)) ? `${base}${path}` : path;
}

/**
 * Return the path of an address as the server knows it, without the base.
 * @param {{pathname: string}} [address]
 * @param {string} [base]
 */
export function serverPath({ pathname } = location, base = BASE) {
  return base && (pathname === base || pathname.startsWith(`${base}/`))
    ? pathname.slice(base.length) || "/"
    : pathname;
}
