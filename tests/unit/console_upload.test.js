import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { crc32 } from "node:zlib";

import { Unreached } from "../../frontend/console/api.js";
import { crc32Hex } from "../../frontend/console/crc32.js";
import { chosen, dropped, handed, modelName, subfolders } from "../../frontend/console/files.js";
import { folderSource, makeUpload, zipSource } from "../../frontend/console/upload.js";

const PART = 5 * 1024 * 1024;
const sha256 = (data) => createHash("sha256").update(data).digest("hex");
const vectors = JSON.parse(readFileSync(new URL("./file_streams.json", import.meta.url), "utf8"));

/** What the vectors say of the content of files. */
const content = (path, size) =>
  new File([size ? Buffer.alloc(size, createHash("sha256").update(path).digest()) : ""], "x.png");

/** A server of uploads that keeps what it is sent; `cuts` answers PUTs in place of it, in order. */
class Server {
  received = new Map();
  requests = [];
  most = 0;
  now = 0;

  constructor(cuts = []) {
    this.cuts = cuts;
  }

  state() {
    const missing = this.begun.parts.map((_, i) => i).filter((i) => !this.received.has(i));
    return { upload: "u1", state: this.isComplete ? "complete" : "receiving", missing };
  }

  async post(path, body) {
    this.requests.push(path);
    if (path === "/api/uploads") this.begun ??= body;
    if (path.endsWith("/urls"))
      return { urls: body.parts.map((part) => ({ part, url: `/put/${part}`, headers: {} })) };
    if (path.endsWith("/complete")) this.isComplete = this.state().missing.length === 0;
    return this.state();
  }

  get = async () => this.state();

  put = async (url, _headers, body, onSent, signal) => {
    const cut = this.cuts.shift();
    this.now += 1;
    this.most = Math.max(this.most, this.now);
    await new Promise((resolve) => setTimeout(resolve, 1));
    this.now -= 1;
    if (typeof cut === "function") cut();
    if (signal.aborted) return { status: 0, code: "", message: "" };
    if (typeof cut === "object") return cut;
    if (typeof cut === "number") return { status: cut, code: "", message: "" };
    if (typeof cut === "string") return { status: 400, code: cut, message: "" };
    const part = Number(url.split("/")[2]);
    const data = Buffer.from(await body.arrayBuffer());
    assert.equal(crc32(data).toString(16).padStart(8, "0"), this.begun.parts[part]);
    onSent(data.length);
    this.received.set(part, data);
    return { status: 200, code: "", message: "" };
  };

  whole() {
    return Buffer.concat([...this.received].sort(([a], [b]) => a - b).map(([, data]) => data));
  }
}

function sending(server, source) {
  const seen = { progress: [], begun: [], pauses: [] };
  const upload = makeUpload({
    source,
    api: server,
    put: server.put,
    pause: async (ms) => seen.pauses.push(ms),
    onProgress: (progress) => seen.progress.push(progress),
    onBegun: (name) => seen.begun.push(name),
    now: () => 0,
    random: () => 0.5,
  });
  return { upload, seen };
}

const bytes = (length, value) => new File([Buffer.alloc(length, value)], `${value}.png`);
const folder = () =>
  folderSource([
    { path: "b/1.png", file: bytes(2 * PART, 1) },
    { path: "a.png", file: bytes(700, 2) },
    { path: "c.png", file: bytes(PART, 3) },
  ]);

for (const { why, files, list, bytes: length, sha256: expected } of vectors.streams) {
  test(`the stream of files is that of the client in Python: ${why}`, async () => {
    const contents = Object.entries(files).map(([path, size]) => ({ path, file: content(path, size) }));

    const whole = Buffer.from(await folderSource(contents).content.arrayBuffer());

    assert.equal(whole.subarray(0, Buffer.byteLength(list)).toString(), list);
    assert.deepEqual([whole.length, sha256(whole)], [length, expected]);
  });
}

test("names that cannot be sent, a name that stands twice and no files are refused", () => {
  for (const path of vectors.refused)
    assert.throws(() => folderSource([{ path, file: content(path, 1) }]), /cannot be sent/);
  const same = [1, 2].map((value) => ({ path: "a.png", file: bytes(9, value) }));
  assert.throws(() => folderSource(same), /a\.png stands twice/);
  assert.throws(() => folderSource([]), /no files/);
});

test("the checksum is the CRC-32 of zlib", () => {
  assert.equal(crc32Hex(Buffer.from("123456789")), "cbf43926"); // the check value of CRC-32/ISO-HDLC
  for (const length of [0, 1, 2, 3, 4, 7, 255, 70001])
    for (let i = 0; i < 20; i += 1) {
      const data = randomBytes(length);
      assert.equal(crc32Hex(data), crc32(data).toString(16).padStart(8, "0"));
    }
});

test("a folder arrives whole, at most three parts at a time", async () => {
  const server = new Server();
  const { upload, seen } = sending(server, folder());

  assert.equal(await upload.run(), "u1");

  assert.equal(sha256(server.whole()), sha256(Buffer.from(await folder().content.arrayBuffer())));
  assert.equal(server.most, 3);
  assert.deepEqual(seen.begun, ["u1"]);
  assert.equal(seen.progress.at(-1).stage, "complete");
  assert.ok(seen.progress.every(({ done, total }) => done <= total));
});

test("a zip is sent as it is", async () => {
  const server = new Server();
  const { upload } = sending(server, zipSource(bytes(PART + 5, 9)));

  await upload.run();

  assert.equal(server.begun.format, "zip");
  assert.equal(server.whole().length, PART + 5);
});

test("a connection that is cut ten times, and a busy server, lose nothing", async () => {
  const server = new Server([0, 0, 503, 0, 0, 429, 0, 0, 502, 0]);
  const { upload, seen } = sending(server, folder());

  assert.equal(await upload.run(), "u1");

  assert.equal(server.state().missing.length, 0);
  assert.equal(seen.pauses.length, 10);
  assert.ok(seen.progress.some(({ stage }) => stage === "waiting"));
});

test("what is there already is not sent again after a reload", async () => {
  const server = new Server();
  await sending(server, folder()).upload.run();
  const [kept] = server.received;
  server.received = new Map([kept]);
  server.isComplete = false;
  const sent = [];
  const put = server.put;
  server.put = (url, ...rest) => {
    sent.push(url);
    return put(url, ...rest);
  };

  await sending(server, folder()).upload.run();

  assert.equal(sent.length, server.begun.parts.length - 1);
  assert.ok(!sent.includes(`/put/${kept[0]}`));
});

test("paused, it stops; run again, it goes on without reading all again", async () => {
  let stop = () => {};
  const server = new Server([undefined, () => stop()]);
  const { upload, seen } = sending(server, folder());
  stop = () => upload.pause();

  assert.equal(await upload.run(), null);
  assert.equal(upload.progress.stage, "paused");
  const before = seen.progress.filter(({ stage }) => stage === "reading").length;
  assert.equal(await upload.run(), "u1");

  assert.equal(seen.progress.filter(({ stage }) => stage === "reading").length, before);
});

test("the API out of reach is waited for", async () => {
  const server = new Server();
  const post = server.post.bind(server);
  let failures = 3;
  server.post = async (...all) => {
    if (failures-- > 0) throw new Unreached("no");
    return post(...all);
  };
  const { upload, seen } = sending(server, folder());

  assert.equal(await upload.run(), "u1");
  assert.deepEqual(seen.pauses, [500, 1000, 2000]);
});

test("an address that has expired is asked for again", async () => {
  const server = new Server([403]);
  const { upload } = sending(server, folder());

  assert.equal(await upload.run(), "u1");
  assert.equal(server.requests.filter((path) => path.endsWith("/urls")).length, 2);
});

test("a picture changed in the meantime, and a server that refuses, are said", async () => {
  const changed = sending(new Server(["wrong_part"]), folder());
  const refused = sending(new Server([413]), folder());
  const broken = sending(new Server(Array(60).fill(500)), folder());

  assert.equal(await changed.upload.run(), null);
  assert.match(changed.upload.progress.problem, /was changed while it was being sent/);
  await refused.upload.run();
  assert.match(refused.upload.progress.problem, /status 413/);
  await broken.upload.run();
  assert.match(broken.upload.progress.problem, /several times/);
});

test("a file that can no longer be read is said, not taken for a lost connection", async () => {
  const source = folder();
  let isChanged = false;
  const slice = (start, stop) => {
    const part = source.content.slice(start, stop);
    if (isChanged)
      part.arrayBuffer = async () => Promise.reject(new DOMException("changed", "NotReadableError"));
    return part;
  };
  const server = new Server([0]);
  const { upload } = sending(server, { ...source, content: { size: source.content.size, slice } });
  const begin = server.post.bind(server);
  server.post = (path, body) => {
    isChanged = path === "/api/uploads" || isChanged;
    return begin(path, body);
  };

  assert.equal(await upload.run(), null);

  assert.match(upload.progress.problem, /can no longer be read/);
});

test("why the server takes no part is said in its own words", async () => {
  const full = { status: 503, code: "disk_full", message: "0.01 GB more do not fit on the server's disk" };
  const { upload } = sending(new Server(Array(60).fill(full)), folder());

  await upload.run();

  assert.equal(upload.progress.problem, full.message);
});

const inFolder = (path, data = "x") => {
  const file = new File([data], path.slice(path.lastIndexOf("/") + 1));
  Object.defineProperty(file, "webkitRelativePath", { value: path });
  return file;
};

test("of a chosen folder the pictures are taken, with their paths within it", () => {
  const { name, items, others, isZip } = chosen(
    [
      "gan/cats/1.PNG",
      "gan/.DS_Store",
      "gan/cats/Thumbs.db",
      "gan/notes.txt",
      "gan/__MACOSX/._1.png",
      "gan/2.jpeg",
    ].map((path) => inFolder(path)),
  );

  assert.equal(name, "gan");
  assert.deepEqual(
    items.map(({ path }) => path),
    ["cats/1.PNG", "2.jpeg"],
  );
  assert.deepEqual(others, ["notes.txt"]);
  assert.equal(isZip, false);
});

test("a zip, loose pictures and nothing are told apart", () => {
  assert.deepEqual(
    [chosen([new File(["x"], "gan.zip")])].map(({ name, isZip }) => [name, isZip]),
    [["gan", true]],
  );
  assert.deepEqual(
    chosen([new File(["x"], "1.png"), new File(["x"], "2.png")]).items.map(({ path }) => path),
    ["1.png", "2.png"],
  );
  assert.equal(chosen([]), null);
});

test("folders within a folder are several models or classes, unless a picture lies beside them", () => {
  const folders = handed(
    "all",
    ["a/1.png", "a/x/2.png", "b/1.png"].map((path) => ({ path, file: inFolder(path) })),
  );
  const mixed = handed(
    "all",
    ["a/1.png", "1.png"].map((path) => ({ path, file: inFolder(path) })),
  );

  assert.deepEqual(
    subfolders(folders).map(({ name, items }) => [name, items.map(({ path }) => path)]),
    [
      ["a", ["1.png", "x/2.png"]],
      ["b", ["1.png"]],
    ],
  );
  assert.deepEqual(subfolders(mixed), []);
});

test("a dropped folder of more than a hundred pictures is read to its end", async () => {
  const file = (name) => ({ name, isDirectory: false, file: (resolve) => resolve(new File(["x"], name)) });
  const folderEntry = (name, entries) => ({
    name,
    isDirectory: true,
    createReader() {
      const left = [...entries];
      return { readEntries: (resolve) => resolve(left.splice(0, 100)) };
    },
  });
  const many = Array.from({ length: 250 }, (_, i) => file(`${i}.png`));
  const entries = [
    folderEntry("gan", [folderEntry("cats", many), file("1.png")]),
    file("real.zip"),
    file("2.png"),
  ];

  const found = await dropped({ items: entries.map((entry) => ({ webkitGetAsEntry: () => entry })) });

  assert.deepEqual(
    found.map(({ name, items, isZip }) => [name, items.length, isZip]),
    [
      ["gan", 251, false],
      ["real", 1, true],
      ["", 1, false],
    ],
  );
});

test("a dropped file that cannot be read is named, not left out", async () => {
  const locked = {
    name: "1.png",
    fullPath: "/gan/1.png",
    isDirectory: false,
    file: (_resolve, reject) => reject(new DOMException("no", "NotReadableError")),
  };
  const left = [locked];
  const folder = {
    name: "gan",
    isDirectory: true,
    createReader: () => ({ readEntries: (resolve) => resolve(left.splice(0)) }),
  };

  await assert.rejects(
    dropped({ items: [{ webkitGetAsEntry: () => folder }] }),
    /gan\/1\.png cannot be read/,
  );
});

test("a folder's name becomes a name that a model can have", () => {
  assert.deepEqual(["stylegan2", "Modèle à 3", "_x/y ", "模型", "a".repeat(150)].map(modelName), [
    "stylegan2",
    "Modele a 3",
    "x-y",
    "",
    "a".repeat(100),
  ]);
});
