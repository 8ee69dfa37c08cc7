//! `truetail k8s`: the Job, driven with a fake kubectl whose pods are processes of this machine.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;
use nix::sys::signal::Signal;
use serde_json::Value;

use super::missing::missing;
use super::support::{CommandOutput, ServeProcess, TestDir, TestProcess, assert_balanced};

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

#[test]
fn a_job_is_rendered_from_the_options_of_run() {
    let dir = TestDir::new();
    let line = "k8s render http://api:8080/items -r 100 -d 10s -H Accept:text/html --shards 8 --image truetail:1 --cpu 2 \
                --namespace load --start-at 2099-01-01T00:00:00Z";
    let output = dir.truetail(&words(line));
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
    let job = output.json();
    assert!(output.stdout.starts_with("{\n  \"apiVersion\": \"batch/v1\",\n"), "{output:?}");
    assert_eq!((job["kind"].as_str(), job["metadata"]["namespace"].as_str()), (Some("Job"), Some("load")));
    let pod = &job["spec"]["template"]["spec"];
    assert_eq!(pod["automountServiceAccountToken"].as_bool(), Some(false));
    let container = &pod["containers"][0];
    assert_eq!(container["resources"]["requests"]["cpu"].as_str(), Some("2"), "a text, as Kubernetes wants it");
    let arguments: Vec<_> = container["args"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    for word in ["run", "http://api:8080/items", "Accept:text/html", "--stripe=$(JOB_COMPLETION_INDEX)+1/8", "--pack"] {
        assert!(arguments.contains(&word), "{word} in {arguments:?}");
    }
    assert!(arguments.contains(&"--start-at=2099-01-01T00:00:00.000000000Z"), "{arguments:?}");
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_created() {
    let dir = TestDir::new();
    for (line, says) in [
        ("render http://a/ --shards 2 --image i --start-at 2020-01-01T00:00:00Z", "--start-at is over"),
        ("render http://a/ --shards 0 --image i --start-at +9s", "--shards"),
        ("render --shards 2 --image i --start-at +9s", "no URL given"),
        ("render http://a/ --shards 2 --image i --start-at +9s --fail-if p99>1s", "--fail-if"),
        (
            "render http://a/ --shards 8 --image i --start-at +9s -c 4",
            "--connections 4 cannot be dealt out over 8 machines",
        ),
        ("render http://a/ --shards 8 --image i --start-at +9s --warmup auto", "--warmup auto"),
        ("render http://a/ --shards 8 --image i --start-at +9s --name A_b", "no name of a Job"),
        ("run http://a/ --shards 2 --image i --memory much", "no amount"),
        ("run http://a/ --shards 2 --image i --until p99±5%", "--until"),
        ("run http://a/ --shards 2 --image i --fail-if check-failures>1%", "needs a check"),
        ("run http://a/ --shards 2 --image i -d 1s --fail-if p99.9>1s", "this load plans 100"),
    ] {
        let output = dir.truetail(&[&["k8s"], &words(line)[..], &["-r", "100"]].concat());
        assert_eq!((output.code, output.stderr.lines().count()), (Some(2), 1), "{line}: {output:?}");
        assert!(output.stderr.contains(says), "{line}: {output:?}");
    }
    let output = dir.truetail(&words("k8s run http://a/ -r 9 --shards 2 --image i --kubectl ./none --no-save"));
    assert_eq!((output.code, output.stderr.lines().count()), (Some(1), 1), "{output:?}");
    assert!(output.stderr.contains("install kubectl"), "{output:?}");
}

/// A server, and a cluster of processes.
struct Stage {
    dir: TestDir,
    server: ServeProcess,
}

impl Stage {
    /// Returns `None` without Python.
    fn new() -> Option<Stage> {
        let python = Command::new("python3").args(["-c", "import sys; sys.exit(sys.version_info < (3, 10))"]).status();
        if !python.is_ok_and(|status| status.success()) {
            missing("python3 (3.10 or later)", "apt-get install python3");
            return None;
        }
        let dir = TestDir::new();
        std::fs::create_dir(dir.path().join("cluster")).unwrap();
        let server = ServeProcess::start(&dir, "01");
        Some(Stage { dir, server })
    }

    fn command(&self, url: &str, more: &str, environment: &[(&str, &str)]) -> Command {
        let kubectl = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/k8s/kubectl.py");
        let line = format!(
            "k8s run {url} --shards 3 --image i --namespace load --kubectl {kubectl} --lead 3s --out here {more}"
        );
        let mut command = self.dir.command(&words(&line));
        command.env("FAKE_KUBE", self.dir.path().join("cluster")).env("FAKE_PROGRAM", env!("CARGO_BIN_EXE_truetail"));
        command.envs(environment.iter().copied());
        command
    }

    fn run_file(&self) -> Value {
        serde_json::from_str(&std::fs::read_to_string(self.dir.path().join("here/run.json")).unwrap()).unwrap()
    }

    /// Kills the second of three pods in a load of `planned` arrivals, and checks that a third of them is never issued.
    fn lose_a_pod(&self, url: &str, more: &str, planned: u64) -> (CommandOutput, Value) {
        let output = TestProcess::start(self.command(url, more, &[("FAKE_DIES", "1")])).end();
        let run = self.run_file();
        assert_eq!(
            (&run["shards"]["missing"], &run["tally"]["planned"]),
            (&serde_json::json!([2]), &planned.into()),
            "{output:?}"
        );
        assert!(run["tally"]["never_issued"].as_u64() >= Some(planned / 3), "{}", run["tally"]);
        self.assert_clean();
        (output, run)
    }

    /// Checks that nothing of the cluster is left except the list of calls.
    fn assert_clean(&self) {
        let left = std::fs::read_dir(self.dir.path().join("cluster")).unwrap();
        let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["calls"], "something stayed behind");
    }
}

#[test]
fn three_pods_offer_one_load_and_the_result_is_one_run() {
    let Some(stage) = Stage::new() else { return };
    let output = TestProcess::start(stage.command(&stage.server.api(), "-r 150 -d 2s --fail-if p50>20s", &[])).end();
    let run = stage.run_file();
    assert!(output.stdout.contains("3/3") && output.stderr.contains("all 3 pods are ready"), "{output:?}");
    assert_eq!((&run["tally"]["planned"], &run["shards"]["of"]), (&300.into(), &3.into()));
    // If the machine stalled, some arrivals were never sent, and the gate may stay open.
    let code = match run["gates"][0]["state"].as_str() {
        Some("holds") => 0,
        Some("open") => 4,
        other => panic!("{other:?}: {output:?}"),
    };
    assert_eq!(output.code, Some(code), "{output:?}");
    assert_balanced(&run);
    let notes = run["notes"].to_string();
    assert!(notes.contains("the clocks of 3 of 3 pods were read"), "{notes}");
    assert!(run["command"].as_str().is_some_and(|command| command.starts_with("truetail k8s run ")), "{run}");
    let samples = std::fs::read_to_string(stage.dir.path().join("here/samples.csv")).unwrap();
    let column = samples.lines().next().unwrap().split(',').position(|name| name == "index").unwrap();
    let indexes: BTreeSet<u64> =
        samples.lines().skip(1).map(|row| row.split(',').nth(column).unwrap().parse().unwrap()).collect();
    assert_eq!(indexes, (0..300).collect(), "each arrival of the load, once");
    stage.assert_clean();
    // The output of the pods is kept, and can be merged again.
    let again = stage.dir.truetail(&words(
        "merge here.shards/stripe-1.log here.shards/stripe-2.log here.shards/stripe-3.log --out again",
    ));
    assert!(again.stdout.contains("merged from 3 runs"), "{again:?}");
    // The server's truth log does not count preflights.
    assert_eq!(stage.server.stop().1.len() as u64, run["tally"]["issued"].as_u64().unwrap());
}

#[test]
fn files_that_options_name_are_carried_to_the_pods() {
    let Some(stage) = Stage::new() else { return };
    let url = stage.server.api();
    let origin = url.strip_suffix("/api").unwrap();
    std::fs::create_dir(stage.dir.path().join("parts")).unwrap();
    // A flow with a file, and a row for each session. Each pod runs the setup.
    stage.dir.file("parts/order.json", "{\"a\": 1}");
    stage.dir.file("rows.csv", "id\n7\n8\n9\n");
    stage.dir.file("login.hurl", "GET {{host}}/login\nHTTP 200\n[Captures]\ntoken: status\n");
    stage.dir.file(
        "parts/shop.hurl",
        "POST {{host}}/order/{{id}}\nX-Token: {{token}}\nfile,order.json;\nHTTP 200\n\nGET {{host}}/bye\nHTTP 200\n",
    );
    let files = "--flow parts/shop.hurl --setup login.hurl --data-from rows.csv";
    // Without a URL: the flow names the server.
    let mut command = stage.command("", &format!("{files} --variable host={origin} -r 30 -d 2s"), &[]);
    command.args(["--fail-if", "session-time p50 > 20s"]);
    let output = TestProcess::start(command).end();
    let run = stage.run_file();
    let sessions = &run["sessions"]["tally"];
    assert_eq!((&sessions["planned"], &run["shards"]["of"]), (&60.into(), &3.into()), "{output:?}");
    assert_eq!(sessions["completed"], sessions["begun"], "{output:?}");
    assert!(matches!(run["gates"][0]["state"].as_str(), Some("holds" | "open")), "{}", run["gates"]);
    stage.assert_clean();
    let calls = std::fs::read_to_string(stage.dir.path().join("cluster/calls")).unwrap();
    assert!(calls.contains("delete secret ") && !calls.contains("order.json"), "{calls}");
    // Three setups, and two requests a session. The server logs all of them, and the books count only the load.
    let issued = run["tally"]["issued"].as_u64().unwrap();
    assert_eq!(stage.server.stop().1.len() as u64, issued + 3);
}

#[test]
fn what_cannot_be_carried_is_refused_before_anything_is_created() {
    let dir = TestDir::new();
    dir.file("large.csv", &format!("id\n{}", "1234567\n".repeat(140_000)));
    std::fs::create_dir(dir.path().join("in")).unwrap();
    dir.file("in/up.hurl", "POST http://a/\nfile,../secret;\n");
    dir.file("secret", "x");
    dir.file("plain.hurl", "GET http://a/\n");
    dir.file("bodies.txt", "POST http://a/\n@/etc/hostname\n");
    for (line, code, says) in [
        (
            "render http://a/{{id}} --data-from large.csv",
            2,
            "a Secret holds 1048576; put the large ones into the image",
        ),
        ("render --flow in/up.hurl", 2, "in/../secret is not in in: a flow reads files there and below only"),
        ("render --targets bodies.txt", 1, "bodies.txt names /etc/hostname:"),
        ("render http://a/ --data-file -", 2, "pods have no standard input of yours"),
        ("render --flow none.hurl", 1, "cannot read none.hurl"),
        ("render --flow plain.hurl --stream sse", 2, "no step of the flow is a stream"),
    ] {
        let rest = "--shards 2 --image i --start-at +99s -r 9 -d 1s";
        let output = dir.truetail(&words(&format!("k8s {line} {rest}")));
        assert_eq!((output.code, output.stderr.lines().count()), (Some(code), 1), "{line}: {output:?}");
        assert!(output.stderr.contains(says) && output.stdout.is_empty(), "{line}: {output:?}");
    }
    // A file that is not on this machine may be in the image.
    let line = "k8s render http://a/{{id}} --data-from /in/image.csv --shards 2 --image i --start-at +99s -r 9 -d 1s";
    let output = dir.truetail(&words(line));
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(output.stderr.contains("/in/image.csv is not here; the pods read it in their image"), "{output:?}");
    assert!(!output.stdout.contains("kind: Secret") && output.stdout.contains("/in/image.csv"), "{output:?}");
    // A recording determines the load, so it must be on this machine.
    dir.file("times.txt", "0\n0.5\n1.5\n");
    let line = "k8s render http://a/ --profile trace:times.txt --shards 2 --image i --start-at +99s";
    let output = dir.truetail(&words(line));
    assert!(output.stdout.contains("trace:/run/truetail-files/.profile-1/times.txt"), "{output:?}");
    let output = dir.truetail(&words(&line.replace("times", "none")));
    assert_eq!((output.code, output.stderr.contains("cannot read none.txt")), (Some(1), true), "{output:?}");
    dir.file("t.txt", "POST http://a/\n@in/body\n");
    dir.file("in/body", "x");
    dir.file("in/trace.jsonl", "{\"timestamp\": 1, \"input_length\": 9, \"output_length\": 9}\n");
    let line = "k8s render http://a/ --llm tgi --prompts mooncake:in/trace.jsonl,block=64 --shards 2 --image i --start-at +99s";
    let carried = dir.truetail(&words(line));
    assert!(carried.stdout.contains("mooncake:/run/truetail-files/.prompts-1/trace.jsonl,block=64"), "{carried:?}");
    let line = "k8s render http://a/ -r 9 -d 1s --llm tgi --prompts synthetic:input=9,output=9 --shards 2 --image i --start-at +99s";
    assert_eq!(dir.truetail(&words(line)).code, Some(0));
    let output = dir.truetail(&words("k8s render --targets t.txt --shards 2 --image i --start-at +99s -r 9 -d 1s"));
    let list = output.json();
    assert_eq!((list["apiVersion"].as_str(), list["kind"].as_str()), (Some("v1"), Some("List")), "{output:?}");
    let [secret, job] = &list["items"].as_array().unwrap()[..] else { panic!("{output:?}") };
    assert_eq!((secret["kind"].as_str(), job["kind"].as_str()), (Some("Secret"), Some("Job")), "{output:?}");
    assert_eq!(secret["data"]["file-1"].as_str(), Some("eA=="), "{output:?}");
    let pod = &job["spec"]["template"]["spec"];
    assert_eq!(pod["volumes"][0]["secret"]["items"][0]["path"].as_str(), Some("in/body"));
    assert_eq!(pod["containers"][0]["workingDir"].as_str(), Some("/run/truetail-files"));
}

#[test]
fn a_killed_pod_is_named_and_the_rest_is_merged() {
    let Some(stage) = Stage::new() else { return };
    let (output, run) = stage.lose_a_pod(&stage.server.api(), "-r 150 -d 6s", 900);
    assert!(run["notes"].to_string().contains("stripe 2/3 (pod truetail-"), "{}", run["notes"]);
    assert_eq!((output.code, &run["verdict"]["state"]), (Some(4), &"INVALID".into()), "{output:?}");
    assert!(output.stderr.contains("lost: stripe 2/3"), "{output:?}");
}

/// The stripe of a lost pod is known from the recording, which is on this machine.
#[test]
fn a_recording_is_dealt_out_and_a_lost_pod_is_counted() {
    let Some(stage) = Stage::new() else { return };
    let url = stage.server.api();
    let (origin, path) = url.split_at(url.len() - "/api".len());
    let lines: String = (0..600).map(|n| format!("{},GET {path}?n={n}\n", f64::from(n) * 0.02)).collect();
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(lines.as_bytes()).unwrap();
    std::fs::write(stage.dir.path().join("hour.replay.gz"), packed.finish().unwrap()).unwrap();
    let (_, run) = stage.lose_a_pod(origin, "--replay hour.replay.gz --speed 2", 600);
    assert!(run["notes"].to_string().contains("at 2 times the recorded speed"), "{}", run["notes"]);
}

#[test]
fn ctrl_c_drains_all_pods_and_leaves_nothing() {
    let Some(stage) = Stage::new() else { return };
    let mut running = TestProcess::start(stage.command(&stage.server.api(), "-r 150 -d 10m", &[]));
    running.wait_for_stderr("of 3 results");
    running.signal(Signal::SIGINT);
    let output = running.end();
    assert_eq!(output.code, Some(130), "{output:?}");
    let run = stage.run_file();
    assert_balanced(&run);
    assert_eq!((&run["interrupted"], &run["shards"]["missing"]), (&true.into(), &Value::Null), "{output:?}");
    assert!(run["tally"]["issued"].as_u64().unwrap() > 0);
    assert_eq!(run["tally"]["responses"], run["tally"]["issued"], "what was sent was waited for");
    stage.assert_clean();
}

#[test]
fn where_nothing_answers_nothing_is_sent() {
    let Some(stage) = Stage::new() else { return };
    let output = TestProcess::start(stage.command("http://127.0.0.1:1/", "-r 150 -d 2s", &[])).end();
    assert_eq!(output.code, Some(1), "{output:?}");
    let last = output.stderr.lines().last().unwrap_or_default();
    assert!(last.contains("ended before the load began") && last.ends_with("nothing was sent"), "{output:?}");
    assert!(!stage.dir.path().join("here").exists(), "no folder for a run that was none");
    stage.assert_clean();
}

/// `truetail run --pack`, and the verbs that read its output.
#[test]
fn a_packed_run_is_read_like_a_folder() {
    let dir = TestDir::new();
    let server = ServeProcess::start(&dir, "01");
    let packed = dir.truetail(&["run", &server.api(), "-r", "100", "-d", "1s", "--stripe", "0+1/2", "--pack"]);
    assert_eq!(packed.code, Some(0), "{packed:?}");
    assert!(packed.stdout.starts_with("truetail.pack/1 name=stripe-1 bytes="), "{packed:?}");
    assert!(packed.stderr.lines().all(|line| line.starts_with("truetail")), "{packed:?}");
    assert!(dir.runs().is_empty(), "it is not saved elsewhere");
    // As in a container log: with the other output.
    dir.file("one.log", &format!("{}{}", packed.stderr, packed.stdout));
    let report = dir.truetail(&["report", "one.log", "--json"]);
    assert_eq!(report.json()["tally"]["planned"], 50);
    let merged = dir.truetail(&["merge", "one.log", "--partial", "--out", "merged"]);
    assert!(merged.stdout.contains("2"), "{merged:?}");
    for (name, text, says) in [
        ("cut.log", packed.stdout[..packed.stdout.len() / 2].to_owned(), "is cut off"),
        ("twice.log", packed.stdout.repeat(2), "it holds 2 packed runs"),
        ("changed.log", packed.stdout.replacen("H4sI", "H5sI", 1), "is damaged"),
        ("none.log", "truetail: x\n".to_owned(), "is not a run"),
    ] {
        dir.file(name, &text);
        let output = dir.truetail(&["report", name]);
        assert_eq!((output.code, output.stderr.lines().count()), (Some(1), 1), "{output:?}");
        assert!(output.stderr.contains(says) && output.stderr.contains(name), "{output:?}");
    }
    let both = dir.truetail(&["run", &server.api(), "-r", "100", "--pack", "--json"]);
    assert_eq!((both.code, both.stderr.lines().count()), (Some(2), 1), "{both:?}");
}

#[test]
fn a_run_waits_for_a_file_with_the_instant() {
    let dir = TestDir::new();
    let server = ServeProcess::start(&dir, "01");
    let line = format!("run {} -r 100 -d 500ms --start-at @begin --out here", server.api());
    let mut running = TestProcess::start(dir.command(&words(&line)));
    running.wait_for_stderr("waiting for an instant in begin");
    let attend = super::support::feed(dir.command(&["k8s", "attend", "begin"]), "clock\nbegin 1000000000\n");
    assert_eq!((attend.code, attend.stdout.lines().last()), (Some(0), Some("ok")), "{attend:?}");
    assert!(attend.stdout.lines().next().unwrap().parse::<u64>().unwrap() > 1_700_000_000_000_000_000);
    let output = running.end();
    let run: Value = serde_json::from_str(&std::fs::read_to_string(dir.path().join("here/run.json")).unwrap()).unwrap();
    assert_eq!(run["start"]["at_unix_ns"], 1_000_000_000, "{output:?}");
    assert_eq!(
        (&run["start"]["missed"], &run["tally"]["never_issued"]),
        (&50.into(), &50.into()),
        "all was over long ago"
    );

    let line = format!("run {} -r 100 -d 500ms --start-at @later --out there", server.api());
    let mut stopped = TestProcess::start(dir.command(&words(&line)));
    stopped.wait_for_stderr("waiting for an instant");
    let attend = super::support::feed(dir.command(&["k8s", "attend", "later"]), "stop\n");
    assert_eq!(attend.code, Some(0), "{attend:?}");
    let output = stopped.end();
    assert_eq!(output.code, Some(143), "{output:?}");
    assert!(!dir.path().join("there").exists());
}
