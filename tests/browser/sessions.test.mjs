// The section for sessions on a report, opened from a file: scenario 07, a login that stalls, and the flow beside it.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { browser, figure, folder, json, openedFile, texts, truetail } from "./support.mjs";

const FLOW = new URL("../../scenarios/07-login-that-stalls/shop.hurl", import.meta.url).pathname;
const files = folder();
let chromium;

before(async () => {
    await truetail(files.path, "simulate", "07", "--flow", FLOW, "--variable", "host=http://127.0.0.1:1", "--out", "out");
    chromium = await browser();
});
after(async () => {
    await chromium?.close();
    files.remove();
});

const opened = (options, check) => openedFile(chromium, files.in("out/report.html"), options, check);

test("its picture is there without the script, in both schemes", async () => {
    const papers = [];
    for (const colorScheme of ["light", "dark"]) {
        await opened({ javaScriptEnabled: false, colorScheme }, async page => {
            assert.ok(await page.locator(`${figure("sessions")} .picture > svg`).isVisible(), colorScheme);
        });
        await opened({ colorScheme }, async page => {
            const paper = page.locator(`${figure("sessions")} svg .paper`).first();
            papers.push(await paper.evaluate(element => getComputedStyle(element).fill));
        });
    }
    assert.notEqual(papers[0], papers[1]);
});

test("steps and books are those of run.json", async () => {
    const { sessions } = json(files.in("out/run.json"));
    await opened({}, async page => {
        const steps = await texts(page, '#sessions [aria-label^="Steps:"] tbody th');
        assert.deepEqual(steps, sessions.steps.map(step => step.name));
        const reached = await texts(page, '#sessions [aria-label^="Steps:"] tbody td:nth-child(2)');
        assert.deepEqual(reached.map(Number), sessions.steps.map(step => step.reached));
        const planned = await texts(page, '#sessions [aria-label^="Planned ="] tbody tr:first-child td:nth-child(2)');
        assert.deepEqual(planned.map(Number), [sessions.tally.planned]);
    });
});

test("a session has its row in the picture, and its requests in the table", async () => {
    const { slowest } = json(files.in("out/sessions.json"));
    await opened({}, async page => {
        const table = `${figure("sessions")} table`;
        const rows = await texts(page, `${table} tbody td:nth-child(2)`);
        const sessions = rows.filter(text => text === "the session").length;
        const named = page.locator(`${figure("sessions")} svg text`, { hasText: /^due at / });
        assert.equal(await named.count(), sessions);
        assert.equal(rows.length, sessions * (1 + slowest[0].requests.length));
        await page.locator(`${figure("sessions")} summary`).click();
        assert.ok(await page.locator(table).isVisible());
    });
});
