//! `truetail browse`, used like a browser does.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use super::runs::{template, write};
use super::support::{ServeProcess, TestDir, TestProcess};

/// Text that must stay text everywhere.
const HOSTILE: &str = "</title></script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&\u{1b}[31m\u{202e}|";
/// Time limit for an event, which needs a look at the folder: a second, or more on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The running site, killed on drop.
struct Site {
    child: Child,
    address: String,
}

impl Site {
    fn start(dir: &TestDir, arguments: &[&str]) -> Site {
        let mut command = dir.command(&[&["browse"], arguments].concat());
        let mut child = command.stderr(Stdio::null()).spawn().expect("it starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
        let address = line.trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
        assert!(address.starts_with("127.0.0.1:"), "{line}");
        Site { child, address }
    }

    /// Sends a request, and returns the connection with its answer.
    fn send(&self, method: &str, path: &str, headers: &str) -> TcpStream {
        let host = if headers.contains("Host:") { String::new() } else { format!("Host: {}\r\n", self.address) };
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        let request = format!("{method} {path} HTTP/1.1\r\n{host}Connection: close\r\n{headers}\r\n");
        stream.write_all(request.as_bytes()).expect("it reads");
        stream
    }

    /// Returns the status and the body of an answer.
    fn ask(&self, method: &str, path: &str, headers: &str) -> (u16, String) {
        let mut answer = String::new();
        self.send(method, path, headers).read_to_string(&mut answer).expect("it answers");
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        (status, answer.split_once("\r\n\r\n").expect("a body").1.to_owned())
    }

    /// Returns a page, which must exist.
    fn page(&self, path: &str) -> String {
        let (status, page) = self.ask("GET", path, "");
        assert_eq!(status, 200, "{path}: {page}");
        page
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Saves `n` whole runs called `checkout` under `truetail-runs`, a day apart, the newest with the largest number.
/// Returns the run that they are copies of.
fn days(dir: &TestDir, n: u64) -> Value {
    let template = template(dir);
    let mut run = template.clone();
    run["scenario"]["name"] = "checkout".into();
    for day in 0..n {
        run["started_at_unix_ns"] = (1_767_225_600_000_000_000 + day * 86_400_000_000_000).into();
        run["tags"] = json!({"build": day.to_string()});
        save(dir, &format!("run-{day}"), &run);
    }
    template
}

/// Saves a whole run: `run` beside the other files of the template.
fn save(dir: &TestDir, name: &str, run: &Value) {
    write(dir, name, run);
    for entry in fs::read_dir(dir.path().join("template")).expect("a folder") {
        let file = entry.expect("an entry").path();
        let kept = ["run.json", "report.html"].iter().any(|name| file.ends_with(name));
        if !kept {
            fs::copy(&file, runs(dir).join(name).join(file.file_name().expect("a name"))).expect("a copy");
        }
    }
}

fn runs(dir: &TestDir) -> PathBuf {
    dir.path().join("truetail-runs")
}

/// Returns the folders of the runs on a page of the list, in order.
fn listed(page: &str) -> Vec<&str> {
    page.split("href=\"/run/").skip(1).map(|rest| rest.split('"').next().expect("it ends")).collect()
}

#[test]
fn runs_are_listed_filtered_opened_and_compared() {
    let dir = TestDir::new();
    let mut other = days(&dir, 3);
    other["scenario"]["name"] = "search".into();
    other["scenario"]["profile"] = "100/s".into();
    save(&dir, "other", &other);
    let site = Site::start(&dir, &[]);
    let all = site.page("/");
    assert_eq!(listed(&all), ["run-2", "run-1", "run-0", "other"]);
    assert!(all.contains("<svg class=\"spark\"") && all.contains("form-action 'self'"));
    for (query, expected) in [
        ("target=SEARCH", &["other"][..]),
        ("verdict=valid&tag=build%3D1", &["run-1"]),
        ("since=2026-01-02&before=2026-01-03", &["run-1"]),
        ("target=&since=&before=&verdict=&tag=&sort=started", &["run-2", "run-1", "run-0", "other"]),
        ("tag=none", &[]),
    ] {
        assert_eq!(listed(&site.page(&format!("/?{query}"))), expected, "{query}");
    }
    let wrong = site.page("/?since=yesterday");
    assert!(wrong.contains("is no time; write a time ago") && listed(&wrong).len() == 4);
    let run = site.page("/run/run-1");
    let compare = "/compare?run=run-0&amp;run=run-1";
    assert!(run.contains("<h1>checkout") && run.contains(compare) && run.contains("/series?of=checkout"), "{run}");
    let pair = site.page("/compare?run=run-2&run=run-0");
    assert!(pair.contains("A: run-0. B: run-2.") && pair.contains("no difference shown"), "the older run is A");
    assert!(pair.contains("truetail compare truetail-runs/run-0 truetail-runs/run-2"));
    let differing = site.page("/compare?run=run-2&run=other");
    assert!(differing.contains("Not compared:") && differing.contains("Compare them all the same"), "{differing}");
    assert!(site.page("/compare?run=run-2&run=other&anyway=yes").contains("Compared anyway:"));
    let series = site.page("/series?of=checkout");
    assert!(series.contains("3 runs of one load") && series.contains("6 are needed"), "{series}");
}

#[test]
fn what_is_not_in_the_list_is_not_shown() {
    let dir = TestDir::new();
    days(&dir, 2);
    fs::write(runs(&dir).join("run-0/report.html"), "<script>stolen()</script>").expect("a file");
    fs::write(runs(&dir).join("secret.json"), "hidden words").expect("a file");
    std::os::unix::fs::symlink(dir.path().join("template"), runs(&dir).join("linked")).expect("a link");
    let samples = runs(&dir).join("run-1/samples.csv");
    fs::remove_file(&samples).expect("it is there");
    std::os::unix::fs::symlink(dir.path().join("template/samples.csv"), &samples).expect("a link");
    let site = Site::start(&dir, &[]);
    for path in [
        "/run/",
        "/run/none",
        "/run/linked",
        "/run/secret.json",
        "/run/run-0/report.html",
        "/run/run-0/..",
        "/run/../template",
        "/run/%2e%2e%2ftemplate",
        "/run/run-0%00",
        "/run//etc",
        "/events/run/none",
        "/compare?run=run-0&run=..%2Ftemplate",
        "/series?of=none",
        "/series",
        "/truetail-runs/run-0/run.json",
        "/favicon.ico",
    ] {
        let (status, page) = site.ask("GET", path, "");
        assert!(status == 404 && !page.contains("stolen") && !page.contains("hidden words"), "{path}: {status} {page}");
    }
    assert!(!site.page("/run/run-0").contains("stolen"), "a stored page may hold any script");
    let (status, page) = site.ask("GET", "/run/run-1", "");
    assert!(status == 403 && page.contains("symbolic link"), "{status} {page}");
    for query in ["", "run=run-0", "run=run-0&run=run-1&run=run-0"] {
        assert_eq!(site.ask("GET", &format!("/compare?{query}"), "").0, 400, "{query}");
    }
}

#[test]
fn nothing_is_written_and_no_other_site_reads() {
    let dir = TestDir::new();
    days(&dir, 2);
    let site = Site::start(&dir, &[]);
    let before = fs::read_dir(runs(&dir)).expect("a folder").count();
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"] {
        for path in ["/", "/run/run-0", "/compare?run=run-0&run=run-1"] {
            assert_eq!(site.ask(method, path, "Content-Length: 0\r\n").0, 405, "{method} {path}");
        }
    }
    for headers in [
        "Origin: http://evil.example\r\n",
        "Origin: null\r\n",
        "Host: evil.example\r\n",
        "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n",
        "Sec-Fetch-Site: same-site\r\nSec-Fetch-Mode: cors\r\n",
    ] {
        assert_eq!(site.ask("GET", "/run/run-0", headers).0, 403, "{headers}");
    }
    let link_from_elsewhere = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n";
    assert_eq!(site.ask("GET", "/run/run-0", link_from_elsewhere).0, 200);
    let (status, body) = site.ask("HEAD", "/", "");
    assert_eq!((status, body.as_str()), (200, ""));
    assert_eq!(fs::read_dir(runs(&dir)).expect("a folder").count(), before, "only the index was there already");
}

/// Returns the token of the page that asks whether to remove a run.
fn token(site: &Site) -> String {
    let page = site.page("/remove?run=run-0");
    let token = page.split("name=\"token\" value=\"").nth(1).and_then(|rest| rest.split('"').next());
    token.expect("a token").to_owned()
}

fn post(site: &Site, headers: &str, body: &str) -> (u16, String) {
    let length = body.len();
    let mut stream = site.send("POST", "/remove", &format!("Content-Length: {length}\r\n{headers}"));
    stream.write_all(body.as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    (status, answer)
}

#[test]
fn runs_are_removed_only_by_a_page_of_the_site_and_only_if_that_was_allowed() {
    let dir = TestDir::new();
    days(&dir, 4);
    let forbidden = Site::start(&dir, &[]);
    assert!(!forbidden.page("/").contains("Remove picked"));
    assert_eq!(forbidden.ask("GET", "/remove?run=run-0", "").0, 404);
    assert_eq!(post(&forbidden, "", "token=&run=run-0").0, 404);
    let open = dir.truetail(&["browse", "--allow-remove", "--listen", "0.0.0.0:0"]);
    assert_eq!((open.code, open.stderr.lines().count()), (Some(2), 1), "{open:?}");

    let site = Site::start(&dir, &["--allow-remove"]);
    assert!(site.page("/").contains("Remove picked runs"));
    let token = token(&site);
    assert_ne!(token, self::token(&Site::start(&dir, &["--allow-remove"])), "each start has its own");
    let own = format!("Origin: http://{}\r\nSec-Fetch-Site: same-origin\r\n", site.address);
    let body = format!("token={token}&run=run-0");
    for (headers, body) in [
        (own.as_str(), "run=run-0"),
        (&own, "token=&run=run-0"),
        (&own, "token=0123456789abcdef0123456789abcdef&run=run-0"),
        ("Origin: http://evil.example\r\n", &body),
        ("Origin: null\r\n", &body),
        ("Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n", &body),
        ("Sec-Fetch-Site: same-site\r\nSec-Fetch-Mode: navigate\r\n", &body),
        ("Host: evil.example\r\n", &body),
    ] {
        assert_eq!(post(&site, headers, body).0, 403, "{headers}{body}");
    }
    for (folder, status) in [("..%2Ftemplate", 404), ("none", 404)] {
        assert_eq!(post(&site, &own, &format!("token={token}&run={folder}")).0, status, "{folder}");
    }
    assert_eq!(post(&site, &own, &format!("token={token}")).0, 400);
    assert_eq!(site.ask("GET", &format!("/remove?{body}"), "").0, 200, "a question only");
    assert!((0..4).all(|day| runs(&dir).join(format!("run-{day}/run.json")).is_file()));

    fs::write(runs(&dir).join("run-1/notes.txt"), "mine").expect("a file");
    let claimed = fs::File::open(runs(&dir).join("run-2")).expect("a folder");
    claimed.lock().expect("a lock");
    let (status, page) = post(&site, &own, &format!("{body}&run=run-1&run=run-2"));
    assert_eq!(status, 200, "{page}");
    for part in ["Run-0 is removed", "run-1 is removed, but its folder has the file 'notes.txt'", "has not ended"] {
        assert!(page.contains(part), "{part} in {page}");
    }
    assert!(!runs(&dir).join("run-0").exists() && !runs(&dir).join("run-1/run.json").exists());
    assert!(runs(&dir).join("run-1/notes.txt").is_file() && runs(&dir).join("run-2/run.json").is_file());
    assert_eq!(listed(&site.page("/")), ["run-3", "run-2"], "the list is read again at once");
    assert!(dir.path().join("template/run.json").is_file());
}

#[test]
fn names_stay_text() {
    let dir = TestDir::new();
    let mut run = template(&dir);
    run["scenario"]["name"] = HOSTILE.into();
    run["scenario"]["url"] = HOSTILE.into();
    run["scenario"]["profile"] = HOSTILE.into();
    run["tags"] = json!({"commit": HOSTILE, "branch": HOSTILE});
    run["gates"] = json!([{"text": HOSTILE, "state": "open", "value_ns": null, "limit_ns": null, "message": HOSTILE}]);
    for day in 0..7u64 {
        run["started_at_unix_ns"] = (1_767_225_600_000_000_000 + day * 86_400_000_000_000).into();
        save(&dir, &format!("<b>\"'&#{day} %2e"), &run);
    }
    fs::create_dir(runs(&dir).join("<i>broken")).expect("a folder");
    fs::write(runs(&dir).join("<i>broken/run.json"), "{<script>").expect("a file");
    let site = Site::start(&dir, &[]);
    let list = site.page("/");
    let links = listed(&list);
    assert_eq!(links.len(), 7, "{links:?}");
    let series = list.split("href=\"/series?of=").nth(1).and_then(|rest| rest.split('"').next()).expect("a series");
    let hostile_query = "target=%3Cscript%3Ealert(1)&tag=%22%3E%3Cimg%20src%3Dx%3E&since=%3Cb%3E";
    let pages = [
        list.clone(),
        site.page(&format!("/run/{}", links[0])),
        site.page(&format!("/series?of={series}")),
        site.page(&format!("/compare?run={}&run={}", links[0], links[1])),
        site.page(&format!("/?{hostile_query}")),
        site.ask("GET", "/run/%3Cscript%3Ealert(1)%3C%2Fscript%3E", "").1,
    ];
    for page in pages {
        for tag in ["<img", "<b>", "<i>", "<script>alert", "onerror=alert(2)>\""] {
            assert!(!page.contains(tag), "{tag} in {page}");
        }
        assert!(!page.chars().any(|c| c.is_control() && c != '\n') && !page.contains('\u{202e}'));
    }
}

#[test]
fn a_run_in_progress_is_followed_to_its_end() {
    let dir = TestDir::new();
    days(&dir, 1);
    let served = ServeProcess::start(&dir, "01-healthy");
    let out = runs(&dir).join("now");
    let mut running = TestProcess::start(dir.command(&[
        "run",
        &served.api(),
        "-r",
        "100",
        "-d",
        "10m",
        "--out",
        &out.display().to_string(),
    ]));
    running.wait_for_stderr("in flight");
    running.wait_for_file(&out.join("checkpoint.pack"));
    let site = Site::start(&dir, &[]);
    let list = site.page("/");
    assert!(list.contains("in progress") && list.contains("data-live=\"/events?seen="), "{list}");
    assert!(site.page("/run/now").contains("data-live=\"/events/run/now\""));
    let of_run = site.send("GET", "/events/run/now", "");
    let events = list.split("data-live=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("an address");
    let of_list = site.send("GET", &events.replace("&amp;", "&"), "");
    running.signal(Signal::SIGINT);
    assert_eq!(running.end().code, Some(130));
    let mut said = BufReader::new(of_run).lines().map_while(Result::ok);
    assert!(said.any(|line| line == "event: end"), "the page of the ended run");
    let last = said.next().expect("its data");
    assert!(last.contains("Compare with the run before") || last.contains("All runs"), "{last}");
    let mut said = BufReader::new(of_list).lines().map_while(Result::ok);
    assert!(said.any(|line| line == "event: update"), "a list without a run in progress");
    let data = said.find(|line| line.starts_with("data: ") && !line.contains("in progress"));
    assert!(data.is_some_and(|data| data.contains("/run/now")));
    assert!(!site.page("/run/now").contains("data-live=\""));
}

#[test]
fn ctrl_c_ends_it_and_what_makes_no_sense_is_one_line() {
    let dir = TestDir::new();
    days(&dir, 1);
    let mut site = Site::start(&dir, &["truetail-runs", "--tag", "build=0"]);
    assert_eq!(listed(&site.page("/")), ["run-0"]);
    kill(Pid::from_raw(site.child.id() as i32), Signal::SIGINT).expect("it is still there");
    assert_eq!(site.child.wait().expect("it ends").code(), Some(0));
    for (arguments, code, part) in [
        (&["missing"][..], 1, "there is no folder missing"),
        (&["truetail-runs/run-0"], 2, "is a run, not a folder of runs"),
        (&["--listen", "nowhere"], 2, "write ADDRESS:PORT"),
        (&["--last", "3"], 2, "--export"),
        (&["--export", "site", "--open"], 2, "--open"),
    ] {
        let output = dir.truetail(&[&["browse"], arguments].concat());
        assert_eq!((output.code, output.stderr.lines().count()), (Some(code), 1), "{output:?}");
        assert!(output.stderr.contains(part), "{}", output.stderr);
    }
}

/// Returns the paths of all files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Every link of the exported pages leads to an exported file, and the newest runs have pages.
#[test]
fn an_export_is_whole_and_touches_no_foreign_file() {
    let dir = TestDir::new();
    days(&dir, 4);
    let exported = dir.truetail(&["browse", "--export", "site", "--last", "3"]);
    assert_eq!((exported.code, exported.stdout.as_str()), (Some(0), "site/index.html\n"), "{exported:?}");
    let site = dir.path().join("site");
    let all = files(&site);
    let names: Vec<&Path> = all.iter().map(|file| file.strip_prefix(&site).expect("below it")).collect();
    for expected in ["index.html", "run/run-3/index.html", "run/run-1/index.html", "series/1.html", "compare/1.html"] {
        assert!(names.contains(&Path::new(expected)), "{expected} in {names:?}");
    }
    assert!(!site.join("run/run-0").exists(), "the oldest has none");
    for file in &all {
        let page = fs::read_to_string(file).expect("a page");
        assert!(!page.contains("data-live=\"") && page.contains("form-action 'none'"), "{}", file.display());
        let links = page.split("href=\"").skip(1).map(|rest| rest.split('"').next().expect("it ends"));
        for link in links.filter(|link| !link.starts_with('#')) {
            let target = file.parent().expect("a folder").join(link);
            assert!(!link.starts_with('/') && target.is_file(), "{} links to {link}", file.display());
        }
    }
    assert_eq!(dir.truetail(&["browse", "--export", "site"]).code, Some(0), "its own pages are replaced");
    assert!(site.join("run/run-0/index.html").is_file());
    fs::write(site.join("index.html"), "mine").expect("a file");
    let before = fs::metadata(site.join("run/run-3/index.html")).and_then(|page| page.modified()).expect("a page");
    let refused = dir.truetail(&["browse", "--export", "site"]);
    assert_eq!((refused.code, refused.stderr.lines().count()), (Some(1), 1), "{refused:?}");
    assert!(refused.stderr.contains("was not exported by truetail browse"), "{refused:?}");
    assert_eq!(fs::read_to_string(site.join("index.html")).expect("a file"), "mine");
    let after = fs::metadata(site.join("run/run-3/index.html")).and_then(|page| page.modified()).expect("a page");
    assert_eq!(after, before, "nothing was written");
}
