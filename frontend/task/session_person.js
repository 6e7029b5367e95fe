// @ts-check
/**
 * Who sits at the screen, as far as the link says it: what the browser stored for one person is not used for
 * another. A link without ids names nobody; several people can then share a computer if the study allows it.
 */

import { hexDigest } from "../shared/api.js";
import { keepToken } from "./held_token.js";
import { el } from "../shared/elements.js";
import { ask } from "./screens.js";
import { forgetPerson, storeFor } from "./storage.js";
import { text } from "../texts/texts.js";

/** @typedef {import("../../types/api.js").PublicStudy} PublicStudy */

const FNV_OFFSET = 0xcbf29ce484222325n;
const FNV_PRIME = 0x100000001b3n;

/**
 * Use what this browser stored for the person whom the link names.
 * @param {PublicStudy} study
 */
export async function recognise(study) {
  const ids = idsOf(study);
  if (!ids.some(Boolean)) return storeFor("");
  const words = JSON.stringify(ids);
  storeFor(globalThis.crypto?.subtle ? await hexDigest(words) : shortDigest(words));
}

/**
 * @param {PublicStudy} study
 * @returns {string[]}
 */
function idsOf({ person_parameters }) {
  const query = new URLSearchParams(location.search);
  return person_parameters.map((/** @type {string} */ name) => query.get(name) ?? "");
}

/**
 * Return a digest for pages without a secure context, which have no other (FNV-1a of 64 bits).
 * @param {string} words
 */
export function shortDigest(words) {
  let digest = FNV_OFFSET;
  for (const byte of new TextEncoder().encode(words))
    digest = BigInt.asUintN(64, (digest ^ BigInt(byte)) * FNV_PRIME);
  return digest.toString(16);
}

/**
 * Return whether several people take part in this browser by the same link.
 * @param {PublicStudy} study
 */
function isShared(study) {
  return study.shared_computer && !idsOf(study).some(Boolean);
}

/**
 * Return the action by which the next person at a shared computer begins; none elsewhere.
 * @param {PublicStudy} study
 */
export function nextPersonActions(study) {
  return isShared(study) ? [{ label: text("shared.someone_else"), value: "next" }] : [];
}

/**
 * Begin afresh for the next person; the page is left.
 * @param {PublicStudy} study
 * @returns {Promise<never>}
 */
export function beginNextPerson({ study, qualification }) {
  const studies = [study, ...(qualification ? [qualification.study] : [])];
  for (const each of studies) keepToken(each, null);
  forgetPerson(studies);
  location.reload();
  return new Promise(() => {});
}

/**
 * Ask at a shared computer whether the person is the one who began; where not, the next one begins afresh.
 * @param {PublicStudy} study
 */
export async function askWhetherTheSame(study) {
  if (!isShared(study)) return;
  const answer = await ask(
    "instructions",
    text("shared.begun"),
    [el("p", {}, text("shared.begun_help"))],
    [{ label: text("shared.go_on"), value: "on", primary: true }, ...nextPersonActions(study)],
  );
  if (answer === "next") await beginNextPerson(study);
}
