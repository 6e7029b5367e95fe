// @ts-check
/** What a study can be, as a person chooses: one of the methods, or a qualification. */

import { callSettings } from "./setting_names.js";

/** @typedef {import("../../types/api.js").MethodChoice} Method */

const QUALIFICATION = "qualification";

/** @type {Method[]} HYPE's own first */
export const METHODS = [];

/**
 * Fill `METHODS` with those of the server, and learn what settings are called, once.
 * @param {Pick<import("./api.js").Api, "get">} api
 */
export async function loadMethods(api) {
  if (METHODS.length) return;
  const { methods, settings } = await api.get("/api/methods");
  METHODS.push(...methods);
  callSettings(settings);
}

/** @typedef {{kind?: string, method?: string}} Order what of an order says what the study is */

/**
 * Return what an order of a study asks for, among `METHODS`.
 * @param {Order} order
 */
export function methodOf({ kind, method }) {
  const name = kind === QUALIFICATION ? QUALIFICATION : method;
  return METHODS.find((each) => each.method === name) ?? METHODS[0];
}

/**
 * Return what an order says if one of `METHODS` is chosen.
 * @param {string} name
 * @returns {{kind: string, method: string}}
 */
export function ordered(name) {
  return name === QUALIFICATION
    ? { kind: QUALIFICATION, method: METHODS[0].method }
    : { kind: "study", method: name };
}
