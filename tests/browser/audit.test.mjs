// The page of an audit in a browser, opened from a file.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { browser, folder, openedFile, texts, truetail } from "./support.mjs";

const files = folder();
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const SCREENSHOTS = process.env.TRUETAIL_SCREENSHOTS;
let chromium;

/** Rows of 10 users who wait 10 ms for each answer, and `stall` ms for one of 1,000. */
function table(stall) {
    const rows = ["at,took,user"];
    for (let turn = 0, at = 0; turn < 1_000; turn++) {
        const took = turn === 500 ? stall : 10;
        for (let user = 0; user < 10; user++) rows.push(`${at},${took},${user}`);
        at += took;
    }
    return rows.join("\n") + "\n";
}

before(async () => {
    chromium = await browser();
    writeFileSync(files.in("stall.csv"), table(1_000));
    writeFileSync(files.in("healthy.csv"), table(10));
    const columns = ["--columns", "start=at,duration=took,worker=user", "--units", "start=ms,duration=ms"];
    await truetail(files.path, "audit", "stall.csv", ...columns, "--html", "one.html");
    await truetail(files.path, "audit", "stall.csv", "healthy.csv", ...columns, "--html", "two.html");
});
after(async () => {
    await chromium?.close();
    files.remove();
});

/** Opens a page, and asserts at the end that nothing went wrong on it. */
const opened = (name, options, check) =>
    openedFile(chromium, files.in(name), { viewport: { width: 1000, height: 900 }, ...options }, check);

test("the finding, its evidence and both pictures are there, with and without the script", async () => {
    for (const javaScriptEnabled of [true, false]) {
        await opened("one.html", { javaScriptEnabled }, async page => {
            assert.deepEqual(await texts(page, ".state strong"), ["CERTAIN"]);
            assert.ok((await texts(page, ".reasons code")).includes("sends_stop_while_slow"));
            const pictures = page.locator(javaScriptEnabled ? "figure.drawn .drawing, figure:not(.drawn) .picture > svg" : ".picture > svg");
            assert.equal(await pictures.count(), javaScriptEnabled ? 4 : 2, "three lanes and the percentiles");
            for (const picture of await pictures.all()) assert.ok(await picture.isVisible());
            assert.equal(await page.locator("#over-time .picture rect.s-pause-server").count(), 4, "three lanes and the legend");
        });
    }
});

test("of two files each has its own finding", async () => {
    await opened("two.html", {}, async page => {
        assert.deepEqual(await texts(page, "#summary td.w"), ["CERTAIN", "NONE SEEN"]);
        assert.deepEqual(await texts(page, "#files .state strong"), ["CERTAIN", "NONE SEEN"]);
    });
});

test("it is fit for everybody in light and dark, on wide and narrow windows", async () => {
    for (const colorScheme of ["light", "dark"]) {
        for (const width of [1000, 390]) {
            await opened("two.html", { colorScheme, viewport: { width, height: 800 }, bypassCSP: true }, async page => {
                assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${width} px`);
                await page.evaluate(axe);
                const { violations } = await page.evaluate(() => globalThis.axe.run());
                const serious = violations.filter(({ impact }) => ["serious", "critical"].includes(impact));
                const found = serious.map(({ id, nodes }) => `${id}: ${nodes.map(node => node.html).slice(0, 3).join(" | ")}`);
                assert.deepEqual(found, [], `${colorScheme}, ${width} px`);
            });
        }
    }
});

test("pictures of it", { skip: !SCREENSHOTS }, async () => {
    mkdirSync(SCREENSHOTS, { recursive: true });
    for (const colorScheme of ["light", "dark"]) {
        await opened("one.html", { colorScheme }, async page => {
            await page.screenshot({ path: join(SCREENSHOTS, `audit-${colorScheme}.png`), fullPage: true });
        });
    }
});
