// Presets and the link that holds the settings.

const preset = byId("preset");
const sorted = text => text.split("&").sort().join("&");

/** Which preset the settings are, by value. */
function named(text) {
    return presets.find(({ settings }) => sorted(settings) === sorted(text));
}

function showPreset(text) {
    const found = named(text);
    preset.value = found?.name ?? "";
    byId("about").textContent = found ? `${found.about}.`.replace(/\.\.$/, ".") : "Your own settings; the link of this page holds them.";
}

preset.addEventListener("change", () => {
    const chosen = presets.find(({ name }) => name === preset.value);
    if (!chosen) return;
    apply(chosen.settings);
    changed();
});

const view = byId("view");
view.addEventListener("change", changed);

const link = () => `#${settings()}${view.value === "whole" ? "&view=whole" : ""}`;

byId("copy-link").addEventListener("click", async () => {
    history.replaceState(null, "", link());
    try {
        await navigator.clipboard.writeText(location.href);
        byId("copied").textContent = "Copied.";
    } catch {
        byId("copied").textContent = "The address of this page is the link.";
    }
});

window.addEventListener("hashchange", () => {
    apply(location.hash.slice(1));
    changed();
});
