#!/usr/bin/env python3
"""Builds the documents as a site in target/docs-site, with the mdBook that tools/install.sh installs.

docs/SUMMARY.md lists the pages. They are copied, with the files that they link to, to a folder that is laid out like the
repository, so that every link works on both. mdBook makes the site, and the site is checked: each link leads to a file and,
after '#', to a heading; and nothing is loaded from another host.
"""

import html.parser
import os
import pathlib
import posixpath
import re
import shutil
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
BOOK = ROOT / "target" / "docs-book"
SITE = ROOT / "target" / "docs-site"

LINK = re.compile(r"(\]\()([^)\s]+)(\))")
CODE = re.compile(r"^```.*?^```|``.*?``|`[^`\n]*`|^    .*?$", re.MULTILINE | re.DOTALL)


def main():
    build_source()
    shutil.rmtree(SITE, ignore_errors=True)
    subprocess.run([mdbook(), "build", "--dest-dir", str(SITE), str(BOOK)], check=True)
    problems, pages, links = check()
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        sys.exit(f"{len(problems)} broken links or foreign files in {SITE}")
    print(f"{SITE}/index.html: {pages} pages, {links} links, all of them lead somewhere, and nothing is loaded from elsewhere")


def mdbook():
    cache = os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))
    return os.path.join(os.environ.get("TRUETAIL_TOOLS", f"{cache}/truetail/tools"), "bin", "mdbook")


def build_source():
    """Lays the pages and what they link to out in BOOK/src."""
    shutil.rmtree(BOOK, ignore_errors=True)
    summary = (ROOT / "docs" / "SUMMARY.md").read_text()
    pages = {normal("docs", path) for _, path, _ in LINK.findall(summary)}
    write("SUMMARY.md", LINK.sub(lambda link: link[1] + page_name(normal("docs", link[2])) + link[3], summary))
    for settings in ("book.toml", "book.css"):
        shutil.copy(ROOT / "docs" / settings, BOOK / settings)
    for page in sorted(pages):
        text = (ROOT / page).read_text()
        for target in local_links(text):
            linked = normal(posixpath.dirname(page), target)
            if linked in pages:
                continue
            if linked.endswith(".md"):
                sys.exit(f"{page} links to {linked}, which docs/SUMMARY.md does not list")
            if not (ROOT / linked).is_file():
                sys.exit(f"{page} links to {linked}, which is no file")
            copy = BOOK / "src" / linked
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / linked, copy)
        write(page_name(page), outside_code(text, rename_link))


def write(name, text):
    path = BOOK / "src" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def normal(folder, target):
    """The path of a link's target, from the root of the repository."""
    return posixpath.normpath(posixpath.join(folder, target.split("#")[0]))


def page_name(path):
    """mdBook makes index.html of index.md."""
    return re.sub(r"(^|/)README\.md$", r"\1index.md", path)


def rename_link(link):
    target, hash_mark, heading = link[2].partition("#")
    return link[1] + (link[2] if is_foreign(target) else page_name(target) + hash_mark + heading) + link[3]


def outside_code(text, replace):
    """The text with `replace` applied to its links, but not in code."""
    parts, end = [], 0
    for code in CODE.finditer(text):
        parts += [LINK.sub(replace, text[end:code.start()]), code[0]]
        end = code.end()
    return "".join(parts) + LINK.sub(replace, text[end:])


def local_links(text):
    found = []
    outside_code(text, lambda link: found.append(link[2]) or link[0])
    return [target for target in found if not is_foreign(target) and not target.startswith("#")]


def is_foreign(target):
    return urllib.parse.urlsplit(target).scheme != "" or target.startswith("//")


class Page(html.parser.HTMLParser):
    """What an HTML page links to, what it loads, and its headings."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loads, self.names = [], [], set()
        text = path.read_text()
        self.feed(text)
        self.loads += [target for target in re.findall(r"url\(['\"]?([^'\")]+)", text) if not target.startswith("data:")]

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.names |= {values[name] for name in ("id", "name") if values.get(name)}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        elif tag == "pre" and "playground" in (values.get("class") or ""):
            self.loads.append("https://play.rust-lang.org")
        elif tag == "link" and values.get("rel") != "canonical":
            self.loads.append(values.get("href", ""))
        for attribute in ("src", "data", "poster", "action"):
            if values.get(attribute):
                self.loads.append(values[attribute])


def check():
    """What is wrong with the site, and the numbers of pages and of links."""
    # print.html repeats all pages in one, and 404.html has links for the root of a host.
    files = [file for file in sorted(SITE.rglob("*.html")) if file.name not in ("print.html", "404.html")]
    pages = {file: Page(file) for file in files}
    problems, links = [], 0
    for file, page in pages.items():
        for target in page.loads + page.links:
            links += 1
            problem = wrong_with(target, file, page, pages, is_link=target in page.links)
            if problem:
                problems.append(f"{file.relative_to(SITE)}: {target}: {problem}")
    for style in SITE.rglob("*.css"):
        for target in re.findall(r"(?:url\(|@import )['\"]?([^'\");]+)", style.read_text()):
            if is_foreign(target) and not target.startswith("data:"):
                problems.append(f"{style.relative_to(SITE)}: {target}: loaded from another host")
    if len(pages) < 50:
        problems.append(f"only {len(pages)} pages")
    return problems, len(pages), links


def wrong_with(target, file, page, pages, is_link):
    if is_foreign(target):
        return None if is_link or target.startswith("data:") else "loaded from another host"
    path, _, heading = target.partition("#")
    path = urllib.parse.unquote(path.split("?")[0])
    linked = file if path == "" else (file.parent / path).resolve()
    if linked.is_dir():
        linked /= "index.html"
    if not linked.exists():
        return "no such file"
    names = pages[linked].names if linked in pages else None
    if heading and names is not None and urllib.parse.unquote(heading) not in names:
        return "no such heading"
    return None


main()
