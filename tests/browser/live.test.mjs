// The page of a run that goes on: it moves, and ends as the report.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { browser, folder, started } from "./support.mjs";

const files = folder();
let chromium, server;

before(async () => {
    chromium = await browser();
    server = await started(["serve", "--listen", "127.0.0.1:0"], /http:\/\/127\.0\.0\.1:\d+/);
});
after(async () => {
    await chromium?.close();
    server?.process.kill();
    files.remove();
});

test("a live page moves, and ends as the report", async () => {
    const run = await started(["run", `${server.match[0]}/`, "-r", "200", "-d", "8s", "--live", "127.0.0.1:0",
        "--out", files.in("run")], /live page on (http:\S+)/);
    const page = await (await chromium.newContext()).newPage();
    const trouble = [];
    page.on("pageerror", error => trouble.push(error.message));
    page.on("console", message => message.type() === "error" && trouble.push(message.text()));
    await page.goto(run.match[1]);
    const planned = () => page.locator("#books").innerText();
    const first = await planned();
    await page.waitForFunction(first => document.querySelector("#books").innerText !== first, first);
    await page.waitForFunction(() => document.querySelector("figure.drawn .cursor"));
    const width = () => page.locator("figure[data-picture=lanes] .drawing").first().innerHTML();
    const before = await width();
    // A machine that stood still may have drawn the lanes for the first time when the run was over.
    await page.waitForFunction(before => document.querySelector("figure[data-picture=lanes] .drawing").innerHTML !== before
        || !("live" in document.querySelector("main").dataset), before);
    await page.waitForFunction(() => !("live" in document.querySelector("main").dataset));
    await run.ended;
    const report = await (await chromium.newContext()).newPage();
    await report.setContent(readFileSync(files.in("run/report.html"), "utf8"));
    const text = page => page.evaluate(() => document.body.innerText);
    assert.equal(await text(page), await text(report));
    assert.deepEqual(trouble, []);
});
