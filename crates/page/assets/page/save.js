// Saving a picture as a file: as truetail drew it, whole and in light colours.

async function save(figure, type) {
    const picture = figure.querySelector(":scope > .picture > svg");
    const copy = picture.cloneNode(true);
    copy.querySelectorAll("[class]").forEach(element => element.removeAttribute("class"));
    const text = new XMLSerializer().serializeToString(copy);
    const [, , width, height] = picture.getAttribute("viewBox").split(" ").map(Number);
    const source = type === "svg" ? new Blob([text], { type: "image/svg+xml" }) : await png(text, width, height);
    download(source, `truetail-${figure.dataset.picture}.${type}`);
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
