// A browser for the tests, pages made by the binary, and what the tests ask of a page.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

export const TRUETAIL = process.env.TRUETAIL;
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"];

/** A browser with a profile of its own, which goes with it. */
export const browser = () => chromium.launch({ executablePath: process.env.TRUETAIL_CHROMIUM, headless: true, args: FLAGS });

/** A folder for the files of a test; `remove` takes it away. */
export function folder() {
    const path = mkdtempSync(join(tmpdir(), "truetail-browser-"));
    return { path, in: name => join(path, name), remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Runs truetail in the folder `cwd` and returns its output. Exit codes that report a finding are no failure. */
export function truetail(cwd, ...args) {
    return new Promise((resolve, reject) => execFile(TRUETAIL, args, { cwd }, (error, stdout, stderr) => {
        if (!error || error.code === 3 || error.code === 4) resolve(stdout);
        else reject(new Error(`truetail ${args.join(" ")} ended with ${error.code}: ${stderr}`));
    }));
}

/** Starts truetail and waits for the first line of its errors that `pattern` fits. Returns the process and the match. */
export function started(args, pattern) {
    const process = spawn(TRUETAIL, args, { stdio: ["ignore", "pipe", "pipe"] });
    const ended = new Promise(resolve => process.on("exit", resolve));
    return new Promise((resolve, reject) => {
        let said = "";
        const look = chunk => {
            said += chunk;
            const match = said.match(pattern);
            if (match) resolve({ process, match, ended });
        };
        process.stdout.on("data", look);
        process.stderr.on("data", look);
        ended.then(code => reject(new Error(`truetail ${args.join(" ")} ended with ${code}: ${said}`)));
    });
}

/** A page and everything that went wrong on it. `trouble` is empty on a page that is well. */
export async function watched(context) {
    const page = await context.newPage();
    const trouble = [];
    page.on("console", message => ["error", "warning"].includes(message.type()) && trouble.push(`console: ${message.text()}`));
    page.on("pageerror", error => trouble.push(`error: ${error.message}`));
    page.on("dialog", dialog => { trouble.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
    page.on("request", request => {
        if (!/^(file|data|blob):/.test(request.url())) trouble.push(`request: ${request.url()}`);
    });
    return { page, trouble };
}

/** Opens a file in a context of its own, looks at its page, and expects no trouble with it. */
export async function openedFile(launched, path, options, check) {
    const context = await launched.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    const { page, trouble } = await watched(context);
    await page.goto(fileUrl(path));
    await check(page, context);
    assert.deepEqual(trouble, []);
    await context.close();
}

/** The figure of a picture on a report. */
export const figure = name => `figure[data-picture="${name}"]`;

export const fileUrl = path => pathToFileURL(path).href;

export const json = path => JSON.parse(readFileSync(path, "utf8"));

/** How truetail writes the name of a quantile. */
export const quantileName = q => q >= 1 ? "max" : `p${Math.round(q * 1e6) / 1e4}`;

/** Whether `text` is a time in ns, written with four digits. */
export function isTime(text, ns) {
    const [, number, unit] = /^([\d.]+)(ns|µs|ms|s)$/.exec(text) ?? [];
    const written = Number(number) * { ns: 1, "µs": 1e3, ms: 1e6, s: 1e9 }[unit];
    return Math.abs(written - ns) <= Math.max(0.5, ns * 0.0005);
}

/** The data with which the picture of a figure is read. */
export async function reading(page, picture) {
    const data = JSON.parse(await page.locator(`${figure(picture)} .picture > script`).textContent());
    const split = layer => ({ ...layer, texts: layer.texts?.split("|") });
    return { stops: data.axis.texts.split("|"), panels: data.panels.map(panel => ({ ...panel, layers: panel.layers.map(split) })) };
}

/** The text of each element that `selector` finds. */
export const texts = (page, selector) => page.locator(selector).allTextContents();

/** Where a drawing is, in pixels of the window, after it was scrolled to. */
export async function place(page, selector) {
    const element = page.locator(selector).first();
    await element.scrollIntoViewIfNeeded();
    return element.boundingBox();
}

/** Drags from one part of the width of `selector` to another. */
export async function drag(page, selector, from, to) {
    const box = await place(page, selector);
    const y = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width * from, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * (from + to) / 2, y, { steps: 3 });
    await page.mouse.move(box.x + box.width * to, y, { steps: 3 });
    await page.mouse.up();
}
