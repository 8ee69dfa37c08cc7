// The section for streams on a report, opened from a file: scenario 06, a language model that stalls.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { browser, figure, folder, openedFile, place, truetail } from "./support.mjs";

const files = folder();
let chromium;

before(async () => {
    await truetail(files.path, "simulate", "06", "--out", "out");
    chromium = await browser();
});
after(async () => {
    await chromium?.close();
    files.remove();
});

const opened = (options, check) => openedFile(chromium, files.in("out/report.html"), options, check);

/** Whether a picture has the colours of its scheme: the paper and the first label. */
const colours = (page, name) => page.locator(`${figure(name)} .picture > svg`).evaluate(picture => ({
    paper: getComputedStyle(picture.querySelector(".paper")).fill,
    ink: getComputedStyle(picture.querySelector("text.ink")).fill,
}));

test("its pictures are there without the script, in both schemes", async () => {
    const seen = [];
    for (const colorScheme of ["light", "dark"]) {
        await opened({ javaScriptEnabled: true, colorScheme }, async page => seen.push(await colours(page, "streams")));
        await opened({ javaScriptEnabled: false, colorScheme }, async page => {
            for (const name of ["event-gaps", "streams"]) {
                assert.ok(await page.locator(`${figure(name)} .picture > svg`).isVisible(), `${colorScheme} ${name}`);
            }
        });
    }
    const [light, dark] = seen;
    assert.notEqual(light.paper, dark.paper);
    assert.notEqual(light.ink, dark.ink);
});

test("the gaps can be read where the decode loop stood still", async () => {
    await opened({}, async page => {
        const plot = `${figure("event-gaps")} .plot`;
        const slider = page.locator(`${figure("event-gaps")} [role=slider]`);
        const box = await place(page, plot);
        const texts = [];
        // All gaps of the stall end when it does, at 47 s of about 62. A column is half a second.
        for (let step = 0; step < 60; step++) {
            await page.mouse.move(box.x + 58 + (box.width - 72) * (0.6 + step * 0.006), box.y + box.height / 2);
            texts.push(await slider.getAttribute("aria-valuetext") ?? "");
        }
        // The stall takes seconds; no other gap takes as much as one.
        const longest = texts.map(text => Number(/gaps \d+ in [^;,]*…([\d.]+)s/.exec(text)?.[1] ?? 0));
        assert.ok(Math.max(...longest) > 2, texts.slice(0, 3).join());
        assert.ok(await page.locator(`${figure("event-gaps")} .drawing path[class^=s-heat]`).count() > 1);
    });
});

test("a stream has its row in the picture and in the table", async () => {
    await opened({}, async page => {
        const rows = await page.locator(`${figure("streams")} tbody tr`).count();
        const named = page.locator(`${figure("streams")} svg text`, { hasText: /^due at / });
        assert.equal(await named.count(), rows);
        assert.ok(rows >= 5, `${rows}`);
        await page.locator(`${figure("streams")} summary`).click();
        assert.ok(await page.locator(`${figure("streams")} table`).isVisible());
    });
});
