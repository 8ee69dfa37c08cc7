// Saving a chart as a file.

async function save(chart, type) {
    const text = inLight(() => {
        chart.draw();
        return picture(chart);
    });
    chart.draw();
    const source = new Blob([text], { type: "image/svg+xml" });
    download(type === "svg" ? source : await png(text, chart.width, chart.saved), `truetail-${chart.name}.${type}`);
}

/** All panels as one SVG that needs no style sheet. */
function picture(chart) {
    const fonts = "Inter, 'Helvetica Neue', Arial, sans-serif";
    const root = svg("svg", { xmlns: "http://www.w3.org/2000/svg", "font-family": fonts });
    let y = 8;
    chart.panels.forEach((panel, n) => {
        y += 16;
        let x = MARGIN.left;
        const write = (text, fill, weight) => {
            const left = x;
            x += text.length * 6.6 + 14;
            return svg("text", { x: px(left), y: px(y - 3), "font-size": 12, fill, "font-weight": weight }, text);
        };
        root.append(write(panel.title, getComputedStyle(panel.legend).color, 600));
        panel.layers.forEach((layer, l) => {
            if (!chart.isShown(n, layer) || layer.kind === "heat" || !panel.entries[l]) return;
            root.append(write(layer.name, getComputedStyle(panel.entries[l].swatch).color, 400));
        });
        if (panel.canvas && !panel.ramp.hidden) {
            const shades = `the darker, the more: 1 to ${panel.layers[0].map.largest}`;
            root.append(write(shades, getComputedStyle(panel.ramp).color, 400), svg("image", { x: MARGIN.left,
                y: y + MARGIN.top, width: chart.innerWidth, height: panel.height, href: panel.canvas.toDataURL() }));
        }
        root.append(filled(styled(panel.drawing), { y }, []));
        y += panel.size;
    });
    chart.saved = y + 8;
    const paper = getComputedStyle(document.body).backgroundColor;
    root.prepend(svg("rect", { width: chart.width, height: chart.saved, fill: paper }));
    filled(root, { width: chart.width, height: chart.saved, viewBox: `0 0 ${chart.width} ${chart.saved}` }, []);
    return new XMLSerializer().serializeToString(root);
}

/** What `work` returns while the page is light. */
function inLight(work) {
    const root = document.documentElement;
    root.style.colorScheme = "light";
    try { return work(); } finally { root.style.colorScheme = ""; }
}

/** A copy with the colours of the style sheet as attributes. */
function styled(drawing) {
    const copy = drawing.cloneNode(true);
    const [sources, targets] = [drawing.querySelectorAll("*"), copy.querySelectorAll("*")];
    const names = ["fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray", "stroke-linecap",
        "stroke-linejoin", "font-size", "text-anchor"];
    sources.forEach((source, i) => {
        const style = getComputedStyle(source);
        names.forEach(name => targets[i].setAttribute(name, style.getPropertyValue(name)));
        targets[i].removeAttribute("class");
    });
    copy.removeAttribute("class");
    copy.querySelectorAll("[visibility=hidden]").forEach(element => element.remove());
    return copy;
}

async function png(text, width, height) {
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
    await image.decode();
    const canvas = html("canvas", { width: width * 2, height: height * 2 });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return new Promise(done => canvas.toBlob(done, "image/png"));
}

function download(blob, name) {
    const href = URL.createObjectURL(blob);
    html("a", { href, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(href), 10_000);
}
