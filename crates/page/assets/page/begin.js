// The theme, and what happens when the page is there.

const THEMES = ["auto", "light", "dark"];

// A page from a file may have no storage.
const stored = {
    get() { try { return localStorage.getItem("truetail-theme"); } catch { return null; } },
    set(theme) { try { localStorage.setItem("truetail-theme", theme); } catch { /* the choice ends with the page */ } },
};

const redrawAll = () => every(chart => chart.draw());

function themeButton() {
    const button = html("button", { type: "button", class: "theme" });
    const set = theme => {
        document.documentElement.dataset.theme = theme;
        button.textContent = `Theme: ${theme}`;
        redrawAll();
    };
    button.addEventListener("click", () => {
        const next = THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length];
        set(next);
        stored.set(next);
    });
    set(THEMES.includes(stored.get()) ? stored.get() : "auto");
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
    return button;
}

function begin() {
    document.querySelector("body > header")?.prepend(themeButton());
    document.addEventListener("keydown", event => {
        if (event.key === "Escape") every(chart => chart.view.reset());
    });
    const element = document.getElementById("data");
    if (!element) return;
    const data = JSON.parse(element.textContent);
    show(data);
    if (data.live) live("/events");
}

window.truetail = {
    show, live, overTime, percentiles, html, ticks: { linear: linearTicks, log: logTicks },
    figures: { time, timeRange, rate, share, quantileName, roundTime },
};
if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
else begin();
