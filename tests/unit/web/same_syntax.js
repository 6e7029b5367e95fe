/**
 * Prints, as JSON, the names of the scripts in one folder whose syntax tree, or the line of one of its nodes,
 * differs from that of the script of the same name in another folder.
 *
 * `node same_syntax.js FOLDER OTHER`
 */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

/** @param {string} path */
function tree(path) {
  const source = ts.createSourceFile(
    path,
    readFileSync(path, "utf8"),
    ts.ScriptTarget.Latest,
    false,
    ts.ScriptKind.JS,
  );
  if (source.parseDiagnostics.length) return [path];
  /** @type {unknown[]} */
  const nodes = [];
  const visit = (node) => {
    const { line } = source.getLineAndCharacterOfPosition(node.end);
    nodes.push([node.kind, node.text, node.rawText, node.operator, node.flags, line]);
    ts.forEachChild(node, visit);
  };
  ts.forEachChild(source, visit);
  return nodes;
}

const [folder, other] = process.argv.slice(2);
const names = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".js"));
const differing = names.filter(
  (name) => JSON.stringify(tree(join(folder, name))) !== JSON.stringify(tree(join(other, name))),
);
process.stdout.write(JSON.stringify(differing));
