// The report of scenario 02 in a browser, opened from a file.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { browser, drag, figure, folder, isTime, json, openedFile, place, quantileName, reading, texts, truetail } from "./support.mjs";

const files = folder();
const report = files.in("out/report.html");
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let chromium;

before(async () => {
    await truetail(files.path, "simulate", "02", "--out", "out");
    chromium = await browser();
});
after(async () => {
    await chromium?.close();
    files.remove();
});

/** Opens the report, and asserts at the end that nothing went wrong on it. */
const opened = (options, check) => openedFile(chromium, report, { colorScheme: "light", ...options }, check);

const lanes = figure("lanes");
const slider = `${lanes} [role=slider]`;

test("it opens without network and without an error, and says how long that took", async t => {
    await opened({}, async page => {
        const drawn = await page.locator("figure.drawn").count();
        assert.ok(drawn >= 4, `the script drew ${drawn} pictures`);
        const [navigation] = await page.evaluate(() => performance.getEntriesByType("navigation").map(entry => entry.toJSON()));
        t.diagnostic(`loaded in ${Math.round(navigation.loadEventEnd)} ms`);
        assert.ok(navigation.loadEventEnd < 20_000);
    });
});

test("it reads without the script", async () => {
    await opened({ javaScriptEnabled: false }, async page => {
        for (const name of ["books", "heat", "lanes", "percentiles"]) {
            assert.ok(await page.locator(`${figure(name)} .picture > svg`).isVisible(), name);
        }
    });
});

test("hovering reads a value in every lane at the same time", async () => {
    await opened({}, async page => {
        const box = await place(page, `${lanes} .plot >> nth=1`);
        await page.mouse.move(box.x + box.width / 2, box.y + 20);
        const panels = page.locator(`${figure("heat")} .panel, ${lanes} .panel`);
        const positions = new Set();
        let read = 0;
        for (let i = 0; i < await panels.count(); i++) {
            // The generator was never late, so its panel has no values.
            const values = await panels.nth(i).locator(".entry .value").allInnerTexts();
            assert.ok(values.every(value => value !== ""), `panel ${i}: ${values}`);
            read += values.length > 0;
            const line = panels.nth(i).locator(".cursor-line");
            assert.equal(await line.getAttribute("visibility"), "visible");
            positions.add(await line.getAttribute("x1"));
        }
        assert.deepEqual([positions.size, read], [1, 4]);
        const planned = page.locator(`${lanes} .entry`, { hasText: "planned" }).locator(".value");
        assert.equal(await planned.innerText(), "1000/s");
        await page.mouse.move(2, 2);
        assert.equal(await planned.innerText(), "");
    });
});

test("the keyboard reads the same", async () => {
    await opened({}, async page => {
        await page.locator(slider).focus();
        const first = await page.locator(slider).getAttribute("aria-valuetext");
        assert.match(first, /^at 0\.0…0\.5s; Requests per second: .*planned 1000\/s/);
        for (let i = 0; i < 60; i++) await page.keyboard.press("ArrowRight");
        const stall = await page.locator(slider).getAttribute("aria-valuetext");
        assert.match(stall, /^at 30\.0…30\.5s; .*Response time: .*max 1\.0\d\ds/);
        await page.keyboard.press("End");
        assert.match(await page.locator(slider).innerText(), /^at 59\.5…60\.0s$/);
    });
});

test("a drag zooms all pictures over time; double click, Escape and the button end it", async () => {
    await opened({}, async page => {
        const ticks = () => texts(page, `${lanes} .panel:last-child .tick.middle`);
        const whole = await ticks();
        const ends = [
            () => page.locator(`${lanes} .plot`).first().dblclick(),
            () => page.keyboard.press("Escape"),
            () => page.locator(lanes).getByRole("button", { name: "Reset zoom" }).click(),
        ];
        for (const end of ends) {
            await drag(page, `${lanes} .plot`, 0.45, 0.6);
            assert.notDeepEqual(await ticks(), whole);
            assert.ok((await ticks()).includes("30 s"), (await ticks()).join());
            assert.ok(await page.locator(figure("heat")).getByRole("button", { name: "Reset zoom" }).isVisible());
            await end();
            assert.deepEqual(await ticks(), whole);
        }
    });
});

test("series are switched off and on, and scales turned", async () => {
    await opened({}, async page => {
        const curve = page.locator(`${figure("percentiles")} .drawing path.s-response[stroke]`).first();
        const button = page.locator(figure("percentiles")).getByRole("button", { name: /^response time$/ });
        assert.ok(await curve.isVisible());
        await button.click();
        assert.ok(!await curve.isVisible());
        assert.equal(await button.getAttribute("aria-pressed"), "false");
        await button.click();
        const path = await curve.getAttribute("d");
        await page.locator(figure("percentiles")).getByRole("button", { name: "Linear scale" }).click();
        assert.notEqual(await curve.getAttribute("d"), path);
        await page.locator(figure("percentiles")).getByRole("button", { name: "Log scale" }).click();
        assert.equal(await curve.getAttribute("d"), path);
    });
});

test("the theme follows the system, and the button", async () => {
    const paper = page => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const cell = `${figure("heat")} .drawing path.s-heat-7`;
    const heat = page => page.locator(cell).evaluate(cell => getComputedStyle(cell).stroke);
    await opened({}, async page => {
        const light = [await paper(page), await heat(page)];
        await page.emulateMedia({ colorScheme: "dark" });
        await page.waitForFunction(([cell, before]) => getComputedStyle(document.querySelector(cell)).stroke !== before,
            [cell, light[1]], { timeout: 10_000 });
        const dark = [await paper(page), await heat(page)];
        assert.notEqual(dark[0], light[0]);
        assert.notEqual(dark[1], light[1]);
        const button = page.getByRole("button", { name: /^Theme/ });
        await button.click();
        assert.deepEqual([await button.innerText(), await paper(page), await heat(page)], ["Theme: light", ...light]);
        await button.click();
        await page.emulateMedia({ colorScheme: "light" });
        assert.deepEqual([await button.innerText(), await paper(page), await heat(page)], ["Theme: dark", ...dark]);
    });
});

test("paper gets the static pictures in light colours", async () => {
    await opened({ colorScheme: "dark" }, async page => {
        await page.emulateMedia({ media: "print" });
        assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
        assert.equal(await page.locator(".interactive:visible").count(), 0);
        assert.ok(await page.locator(`${figure("percentiles")} .picture > svg`).isVisible());
        const pdf = await page.pdf({ format: "A4", printBackground: true });
        assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
    });
});

test("each picture is saved as SVG and PNG", async () => {
    await opened({ colorScheme: "dark", acceptDownloads: true }, async page => {
        const drawn = await page.locator("figure.drawn").evaluateAll(figures => figures.map(figure => figure.dataset.picture));
        assert.ok(["heat", "lanes", "percentiles"].every(name => drawn.includes(name)), drawn.join());
        for (const name of drawn) {
            const saved = {};
            for (const type of ["SVG", "PNG"]) {
                const download = page.waitForEvent("download");
                await page.locator(figure(name)).getByRole("button", { name: `Save ${type}` }).click();
                const file = await download;
                assert.equal(file.suggestedFilename(), `truetail-${name}.${type.toLowerCase()}`);
                saved[type] = readFileSync(await file.path());
            }
            const svg = saved.SVG.toString();
            assert.match(svg, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"[^>]*>\s*<title>/);
            assert.ok(svg.includes('fill="#FFFFFF"') && !svg.includes("class=") && !svg.includes("var("), name);
            assert.equal(saved.PNG.subarray(1, 4).toString(), "PNG");
            assert.equal(saved.PNG.readUInt32BE(16), 2 * Number(svg.match(/<rect width="(\d+)"/)[1]));
            assert.ok(saved.PNG.length > 5_000, `${name}: ${saved.PNG.length} bytes`);
        }
    });
});

test("its numbers are those of run.json", async () => {
    const run = json(files.in("out/run.json"));
    await opened({}, async page => {
        const { stops, panels: [{ layers }] } = await reading(page, "percentiles");
        const curve = layers.find(({ name }) => name === "response time");
        const rows = await page.locator("#times table tbody tr").evaluateAll(rows => rows.map(row =>
            [...row.querySelectorAll("th, td")].map(cell => cell.textContent.trim())));
        let compared = 0;
        for (const { q, value_ns, supported, at_least } of run.response_time.quantiles) {
            if (!supported || at_least) continue;
            const name = quantileName(q);
            const row = rows.find(([first]) => first === name);
            assert.ok(row, `${name} has a row`);
            assert.ok(isTime(row[1], value_ns), `${name}: ${row[1]}`);
            if (stops.includes(name)) assert.equal(curve.texts[stops.indexOf(name)], row[1], name);
            compared++;
        }
        assert.ok(compared >= 5, `${compared} percentiles`);
        const { panels: [heat] } = await reading(page, "heat");
        assert.equal(heat.cells.counts.flat().reduce((sum, [, n]) => sum + n, 0), run.tally.responses);
    });
});

test("a checker of accessibility finds nothing serious", async () => {
    for (const colorScheme of ["light", "dark"]) {
        for (const width of [1280, 390]) {
            await opened({ colorScheme, viewport: { width, height: 900 } }, async page => {
                await page.evaluate(axe);
                const { violations } = await page.evaluate(() => globalThis.axe.run());
                const serious = violations.filter(({ impact }) => ["serious", "critical"].includes(impact));
                const found = serious.map(({ id, nodes }) => `${id}: ${nodes.map(node => node.html).slice(0, 3).join(" | ")}`);
                assert.deepEqual(found, [], `${colorScheme}, ${width} px`);
            });
        }
    }
});

test("a narrow window scrolls nothing sideways but tables", async () => {
    await opened({ viewport: { width: 390, height: 800 } }, async page => {
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= 390));
    });
});

test("a run of an hour is redrawn, and it says how fast", async t => {
    writeFileSync(files.in("long.toml"), `name = "long"
[workload]
rate = 20
duration = "1h"
[service]
baseline = "10ms"
variation = "exponential"
`);
    await truetail(files.path, "simulate", "long.toml", "--out", "long");
    await openedFile(chromium, files.in("long/report.html"), {}, async page => {
        const { stops } = await reading(page, "heat");
        assert.ok(stops.length > 150, `${stops.length} columns`);
        const times = await page.evaluate(() => {
            const chart = name => document.querySelector(`figure[data-picture="${name}"]`);
            return Array.from({ length: 20 }, () => {
                const began = performance.now();
                ["heat", "lanes"].forEach(name => truetail.show(chart(name)));
                document.body.getBoundingClientRect();
                return performance.now() - began;
            });
        });
        const [median] = times.sort((a, b) => a - b).slice(10);
        t.diagnostic(`heat map and lanes redrawn in ${median.toFixed(1)} ms (median of 20)`);
        assert.ok(median < 500);
    });
});

test("pictures for the README", { skip: !process.env.TRUETAIL_SCREENSHOTS && "TRUETAIL_SCREENSHOTS is not set" }, async () => {
    const into = process.env.TRUETAIL_SCREENSHOTS;
    mkdirSync(into, { recursive: true });
    for (const colorScheme of ["light", "dark"]) {
        for (const width of [1280, 390]) {
            await opened({ colorScheme, viewport: { width, height: 900 } }, async page => {
                await page.screenshot({ path: join(into, `report-${width}-${colorScheme}.png`), fullPage: true });
            });
        }
    }
});
