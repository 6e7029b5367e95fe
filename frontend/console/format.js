// @ts-check
/** How the console writes numbers, sizes, times, messages, and what jobs do; pure. */

import { inPlainNames } from "./setting_names.js";

const BYTE_UNITS = ["bytes", "kB", "MB", "GB", "TB"];
const JOBS = /** @type {Record<string, string>} */ ({
  create: "Make the study from its pictures",
  audit: "Compare the sides of the pictures",
  join: "Take a submitted model into the study",
  join_model: "Take a model into the study",
  table: "Table of the competition",
  look: "Planned look",
  simulate: "Simulated evaluators",
  metrics: "Metrics of the pictures",
  agree: "Distances against people’s votes",
  correlate: "2AFC with JND",
  rerun: "Run the study again",
  replicate: "Runs against each other",
  opinions: "Metrics and opinion scores",
  pay: "Payment",
  update_sampling: "Which pictures need evaluators",
  delete: "Delete the study",
  download: "File to download",
  live: "Current scores",
});
const MINUTE_S = 60;
const HOUR_S = 3600;
const FOR_COMMANDS = / \((?:--[a-z]|`openhype )[^)]*\)/g;

/** @param {string} kind of a job */
export function jobName(kind) {
  return JOBS[kind] ?? kind;
}

/** @param {number} number */
export function count(number) {
  return number.toLocaleString("en");
}

/**
 * Return a number with its noun.
 * @param {number} number
 * @param {string} one the noun for one
 * @param {string} [many] the noun for any other number; by default with an "s"
 */
export function counted(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/**
 * Return a size in decimal units, with two or three digits.
 * @param {number} bytes
 */
export function size(bytes) {
  let unit = 0;
  let number = bytes;
  while (number >= 999.5 && unit < BYTE_UNITS.length - 1) {
    number /= 1000;
    unit += 1;
  }
  return `${unit && number < 9.95 ? number.toFixed(1) : Math.round(number)} ${BYTE_UNITS[unit]}`;
}

/**
 * Return how long something still takes, rounded to what is of use.
 * @param {number} seconds
 */
export function remaining(seconds) {
  if (seconds < 10) return "a few seconds";
  if (seconds < MINUTE_S) return `${10 * Math.ceil(seconds / 10)} seconds`;
  if (seconds < HOUR_S) return counted(Math.ceil(seconds / MINUTE_S), "minute");
  return counted(Math.ceil(seconds / HOUR_S), "hour");
}

/**
 * Return a stored time (ISO 8601, UTC) in the time zone of the browser, to the minute.
 * @param {string} iso
 * @param {string} [timeZone] by default that of the browser
 */
export function moment(iso, timeZone) {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  return at.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short", timeZone });
}

/**
 * Return a message of the server as a sentence: messages are written in lower case, without a full stop. What
 * stands in parentheses for the command line is left out: its options and commands. Settings are called as in
 * the console.
 * @param {string} message
 */
export function sentence(message) {
  const text = inPlainNames(message.replace(FOR_COMMANDS, "")).trim();
  if (!text) return "";
  return `${text[0].toUpperCase()}${text.slice(1)}${/[.!?…:]$/.test(text) ? "" : "."}`;
}
