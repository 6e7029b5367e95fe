// @ts-check
/** Reads the list of who was paid by hand, as the server writes it and as spreadsheets save it; pure. */

const SEPARATORS = [",", ";", "\t"];

/**
 * @typedef {{evaluator: string, usd_cents: number, completion_code: string, account: string}} Paid
 */

/**
 * Return the rows of a list.
 * @param {string} text CSV with a header
 * @returns {Paid[]}
 * @throws {Error} naming the line that cannot be read, and what it should be
 */
export function paidRows(text) {
  const [header, ...lines] = linesOf(text.replace(/^\uFEFF/, ""));
  const columns = (header?.cells ?? []).map((name) => name.trim().toLowerCase());
  if (!columns.includes("evaluator") || !columns.includes("usd_cents"))
    throw new Error(
      "this is not a list of payments: its first line must name the columns evaluator and usd_cents",
    );
  return lines.map(({ cells, number }) => {
    const cell = (/** @type {string} */ name) => (cells[columns.indexOf(name)] ?? "").trim();
    const cents = cell("usd_cents");
    if (!cell("evaluator")) throw new Error(`line ${number}: no evaluator is named`);
    if (!/^[0-9]{1,9}$/.test(cents))
      throw new Error(`line ${number}: usd_cents must be a whole number of cents, not “${cents}”`);
    return {
      evaluator: cell("evaluator"),
      usd_cents: Number(cents),
      completion_code: cell("completion_code"),
      account: cell("account"),
    };
  });
}

/**
 * Return the lines of a text that are not empty, with their numbers from 1; what is quoted may have
 * separators and ends of lines in it.
 * @param {string} text
 */
function linesOf(text) {
  const end = text.search(/[\r\n]|$/);
  const separator = SEPARATORS.find((each) => text.slice(0, end).includes(each)) ?? ",";
  /** @type {{cells: string[], number: number}[]} */
  const lines = [];
  let cells = [""];
  let number = 1;
  let begun = 1;
  let isQuoted = false;
  const finish = () => {
    if (cells.some((cell) => cell.trim())) lines.push({ cells, number: begun });
    cells = [""];
    begun = number;
  };
  for (let i = 0; i < text.length; i += 1) {
    const letter = text[i];
    if (letter === "\n") number += 1;
    if (letter === '"' && isQuoted && text[i + 1] === '"') {
      cells[cells.length - 1] += letter;
      i += 1;
    } else if (letter === '"' && (isQuoted || cells[cells.length - 1] === "")) isQuoted = !isQuoted;
    else if (isQuoted) cells[cells.length - 1] += letter;
    else if (letter === separator) cells.push("");
    else if (letter === "\n") finish();
    else if (letter !== "\r") cells[cells.length - 1] += letter;
  }
  finish();
  return lines;
}
