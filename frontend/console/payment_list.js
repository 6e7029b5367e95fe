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
  const [header, ...lines] = linesOf(text.replace(/^\uFEFF+/, ""));
  const columns = (header?.cells ?? []).map((name) => name.trim().toLowerCase());
  if (!columns.includes("evaluator") || !columns.includes("usd_cents"))
    throw new Error(
      "this is not a list of payments: its first line must name the columns evaluator and usd_cents",
    );
  const twice = columns.find((name, i) => name && columns.indexOf(name) < i);
  if (twice) throw new Error(`line 1: the header must name a column once; ${twice} repeated`);
  return lines.map(({ cells, number }) => {
    if (cells.length !== columns.length)
      throw new Error(`line ${number}: expected ${columns.length} cells, not ${cells.length}`);
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
 * @throws {Error} naming the line of which only a part could be read
 */
function linesOf(text) {
  const first = text.slice(0, text.search(/[\r\n]|$/));
  const stated = /^"?sep=(.)"?$/i.exec(first);
  const separator = stated?.[1] ?? SEPARATORS.find((each) => first.includes(each)) ?? ",";
  const next = new RegExp(
    `("[^"]*(?:""[^"]*)*"|(?!")[^\\${separator}\r\n]*)(\\${separator}|\r\n?|\n|$)`,
    "y",
  );
  /** @type {{cells: string[], number: number}[]} */
  const lines = [];
  let cells = [];
  let number = 1;
  let begin = 0;
  let end = separator;
  while (end) {
    const match = next.exec(text);
    if (!match) throw new Error(`line ${number}: a quote in this row does not close at the end of its cell`);
    end = match[2];
    cells.push(match[1].startsWith('"') ? match[1].slice(1, -1).replaceAll('""', '"') : match[1]);
    if (end === separator) continue;
    if (cells.some((cell) => cell.trim())) lines.push({ cells: whole(cells, separator, number), number });
    number += text.slice(begin, next.lastIndex).match(/\r\n?|\n/g)?.length ?? 0;
    begin = next.lastIndex;
    cells = [];
  }
  return lines.slice(stated ? 1 : 0);
}

/**
 * Return the cells of a row, unless it lost bytes, or a quote in it closes in another row.
 * @param {string[]} cells
 * @param {string} separator
 * @param {number} number of the line
 */
function whole(cells, separator, number) {
  if (cells.some((cell) => cell.includes("\0")))
    throw new Error(`line ${number}: must be text, without zero bytes`);
  const within = cells.flatMap((cell) => cell.split(/[\r\n]+/).slice(1)).map((line) => line.split(separator));
  if (within.some((row) => row.length === cells.length && row.some((cell, i) => cell && cell === cells[i])))
    throw new Error(`line ${number}: a quote in this row closes in another row`);
  return cells;
}
