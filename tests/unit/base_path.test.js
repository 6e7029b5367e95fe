/** Addresses of pages below a path of the server. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { BASE, IS_PREVIEW, addressOf, baseOf, serverPath } from "../../frontend/shared/base_path.js";

test("the base is what stands before the files of the page, and nothing outside a server", () => {
  assert.deepEqual([BASE, IS_PREVIEW], ["", false]);
  assert.equal(baseOf("/assets/0123/base_path.js"), "");
  assert.equal(baseOf("/lab/hype/assets/0123/base_path.js"), "/lab/hype");
  assert.equal(baseOf("/assets/hype/assets/0123/base_path.js"), "/assets/hype");
});

test("a path gets the base once, and other addresses do not", () => {
  assert.equal(addressOf("/api/studies", "/hype"), "/hype/api/studies");
  assert.equal(addressOf("/hype/i/faces/1.png", "/hype"), "/hype/i/faces/1.png");
  assert.equal(addressOf("/hyper", "/hype"), "/hype/hyper");
  assert.equal(addressOf("https://a.example/x", "/hype"), "https://a.example/x");
  assert.equal(addressOf("study.json", "/hype"), "study.json");
  assert.equal(addressOf("/s/faces", ""), "/s/faces");
});

test("the server's path is an address without the base", () => {
  assert.equal(serverPath({ pathname: "/hype/s/faces" }, "/hype"), "/s/faces");
  assert.equal(serverPath({ pathname: "/hype" }, "/hype"), "/");
  assert.equal(serverPath({ pathname: "/hyper/s" }, "/hype"), "/hyper/s");
  assert.equal(serverPath({ pathname: "/s/faces" }, ""), "/s/faces");
});
