//! A load that several machines share: `run --stripe`, `--start-at` and `merge`.

use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::missing::missing_everywhere;
use super::support::{ServeProcess, TestDir};

fn run_file(dir: &TestDir, run: &str) -> Value {
    let text = std::fs::read_to_string(dir.path().join(run).join("run.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn instant(from_now: i64) -> String {
    let now = SystemTime::now();
    let shift = Duration::from_secs(from_now.unsigned_abs());
    let then = if from_now < 0 { now - shift } else { now + shift };
    humantime::format_rfc3339_seconds(then).to_string()
}

/// The stripes of a load with targets, and the same load undivided.
#[test]
fn stripes_are_merged_into_the_undivided_run() {
    let dir = TestDir::new();
    let server = ServeProcess::start(&dir, "01");
    let url = server.url.trim_end_matches('/');
    dir.file("targets.txt", &format!("GET {url}/a\n\n# weight: 3\nGET {url}/{{{{id}}}}\n"));
    dir.file("ids.csv", "id\n1\n2\n3\n");
    let load = "-r 100 -d 1s --spacing poisson --targets targets.txt --data-from ids.csv --quiet --seed 7";
    let run = |more: &str| dir.truetail(&format!("run {load} {more}").split_whitespace().collect::<Vec<_>>());
    run("--out whole");
    for stripe in 1..=3 {
        run(&format!("--stripe {stripe}/3 --out part{stripe}"));
    }
    let merged = dir.truetail(&["merge", "part3", "part1", "part2", "--out", "merged"]);
    assert!(merged.stdout.contains("lag p99") && merged.stdout.contains("3/3"), "{merged:?}");
    let whole = run_file(&dir, "whole");
    let merged = run_file(&dir, "merged");
    // This hash is a sum over every index and intended start.
    assert_eq!(merged["schedule_hash"], whole["schedule_hash"]);
    assert_eq!(merged["tally"]["planned"], whole["tally"]["planned"]);
    let planned = |run: &Value| {
        let books = run["by_target"].as_array().unwrap().iter();
        books.map(|target| target["tally"]["planned"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(planned(&merged), planned(&whole));
    assert_eq!(merged["shards"]["of"], 3);
    assert_eq!(merged["stripe"], Value::Null);
    assert_eq!(run_file(&dir, "part2")["stripe"]["index"], 2);

    let refused = |arguments: &[&str], parts: &[&str]| {
        let output = dir.truetail(arguments);
        assert_eq!((output.code, output.stderr.lines().count()), (Some(1), 1), "{output:?}");
        assert!(parts.iter().all(|part| output.stderr.contains(part)), "{output:?}");
    };
    refused(&["merge", "part1", "part3", "--out", "x"], &["1 stripe of 3 missing: 2", "--partial"]);
    dir.file("times.txt", "0\n1\n");
    refused(
        &["merge", "part1", "part3", "--partial", "--trace", "times.txt", "--out", "x"],
        &["replayed no recording"],
    );
    refused(&["merge", "part1", "whole", "--out", "x"], &["not both stripes", "run 2 is whole"]);
    refused(&["merge", "merged", "merged", "--out", "x"], &["is the merged run of stripes"]);
    run("--stripe 2/3 --out again");
    refused(&["merge", "part1", "part2", "again", "--out", "x"], &["both stripe 2/3", "part2", "again"]);
    let other = |name: &str, more: &str| {
        let words = format!("run {url} -d 200ms --quiet --stripe 2/3 --out {name} {more}");
        dir.truetail(&words.split_whitespace().collect::<Vec<_>>());
    };
    other("r100", "-r 100 --spacing poisson");
    other("r200", "-r 200 --spacing poisson");
    other("seed", "-r 100 --spacing poisson --seed 2");
    refused(&["merge", "r100", "r200", "--out", "x"], &["scenario.profile", "100/s", "200/s"]);
    refused(&["merge", "r100", "seed", "--out", "x"], &["seed is 1 in run 1 and 2 in run 2"]);
    let changed = std::fs::read_to_string(dir.path().join("part2/run.json")).unwrap();
    std::fs::write(dir.path().join("part2/run.json"), changed.replacen("\"version\": \"", "\"version\": \"9.", 1))
        .unwrap();
    refused(&["merge", "part1", "part2", "--out", "x"], &["version is"]);
    for file in ["run.json", "histograms.hlog", "timeline.csv", "samples.csv"] {
        let path = dir.path().join("part3").join(file);
        let written = std::fs::read(&path).unwrap();
        std::fs::write(&path, &written[..written.len() / 2]).unwrap();
        refused(&["merge", "part1", "part3", "--out", "x"], &[&format!("part3/{file}")]);
        std::fs::write(&path, written).unwrap();
    }
    std::fs::remove_file(dir.path().join("part3/histograms.hlog")).unwrap();
    refused(&["merge", "part1", "part3", "--out", "x"], &["part3/histograms.hlog"]);
    std::fs::remove_file(dir.path().join("part3/run.json")).unwrap();
    refused(&["merge", "part1", "part3", "--out", "x"], &["part3 is not a run", "run.json"]);

    dir.truetail(&["merge", "r100", "--partial", "--out", "partial"]);
    let partial = run_file(&dir, "partial");
    assert_eq!(partial["shards"]["missing"], serde_json::json!([1, 3]));
    assert_eq!(partial["verdict"]["state"], "INVALID", "two thirds of the load never came");
    let tally = &partial["tally"];
    assert_eq!(
        tally["planned"].as_u64().unwrap(),
        tally["never_issued"].as_u64().unwrap() + run_file(&dir, "r100")["tally"]["issued"].as_u64().unwrap()
    );
}

/// Each stripe is simulated separately, on a service whose queue gets the whole load.
#[test]
fn simulated_stripes_are_merged_into_the_undivided_simulation() {
    let dir = TestDir::new();
    dir.file(
        "queue.toml",
        "name = \"queue\"\n\n[service]\nbaseline = \"8ms\"\nvariation = \"exponential\"\nconcurrency = 1\n\n\
         [workload]\nmodel = \"open\"\nrate = \"100\"\nspacing = \"poisson\"\nduration = \"20s\"\n",
    );
    let simulate = |more: &str| {
        let words = format!("simulate queue.toml {more}");
        let output = dir.truetail(&words.split_whitespace().collect::<Vec<_>>());
        assert_eq!(output.code, Some(0), "{output:?}");
    };
    simulate("--out whole");
    (1..=3).for_each(|stripe| simulate(&format!("--stripe {stripe}/3 --out part{stripe}")));
    let merged = dir.truetail(&["merge", "part2", "part3", "part1", "--out", "merged"]);
    assert!(merged.stdout.contains("3/3"), "{merged:?}");
    let whole = run_file(&dir, "whole");
    let merged = run_file(&dir, "merged");
    for field in ["schedule_hash", "tally", "response_time", "start_delay", "statuses"] {
        assert_eq!(merged[field], whole[field], "{field}");
    }
    assert!(whole["response_time"]["max_ns"].as_u64().unwrap() > 50_000_000, "requests waited for one another");
}

#[test]
fn a_late_machine_leaves_out_what_it_missed() {
    let dir = TestDir::new();
    let server = ServeProcess::start(&dir, "01");
    let words =
        format!("run {} -r 100 -d 1h --stripe 1/2 --start-at {} --quiet --out late", server.url, instant(-1_790));
    // Ends by count, to save the rest of the hour.
    let output = dir.truetail(&format!("{words} -n 179500").split_whitespace().collect::<Vec<_>>());
    let late = run_file(&dir, "late");
    let start = &late["start"];
    let late_ns = start["late_ns"].as_u64().unwrap();
    let missed = start["missed"].as_u64().unwrap();
    assert!(late_ns >= 1_790_000_000_000, "{start}");
    // Every second arrival of 100/s, starting with the first: (late / 20 ms) of them, rounded up.
    assert_eq!(missed.min(89_750), late_ns.div_ceil(20_000_000).min(89_750), "{output:?}");
    let tally = &late["tally"];
    assert_eq!(tally["planned"], 89_750, "the schedule is not shifted");
    assert_eq!(tally["never_issued"].as_u64().unwrap(), missed);
    let codes: Vec<&str> =
        late["verdict"]["reasons"].as_array().unwrap().iter().map(|reason| reason["code"].as_str().unwrap()).collect();
    assert!(codes.contains(&"started_late"), "{codes:?}");
    assert!(output.stderr.contains("requests that were due by then were never sent"), "{output:?}");
}

#[test]
fn a_run_begins_when_it_was_told_to() {
    let dir = TestDir::new();
    let server = ServeProcess::start(&dir, "01");
    let at = instant(15);
    dir.truetail(&["run", &server.url, "-r", "50", "-d", "200ms", "--start-at", &at, "--quiet", "--out", "a"]);
    let run = run_file(&dir, "a");
    let asked =
        humantime::parse_rfc3339(&at).unwrap().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos() as u64;
    assert_eq!(run["started_at_unix_ns"].as_u64(), Some(asked));
    assert_eq!(run["start"]["at_unix_ns"].as_u64(), Some(asked));
    assert_eq!(run["tally"]["planned"], 10);
}

/// Runs a script of examples/, with replacements for the parts of a cluster that it needs.
fn script(dir: &TestDir, script: &str, arguments: &[&str], environment: &[(&str, &str)]) -> std::process::Child {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/");
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_truetail")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    std::process::Command::new("sh")
        .arg(format!("{examples}{script}"))
        .args(arguments)
        .envs(environment.iter().copied())
        .env("PATH", path)
        .current_dir(dir.path())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn an_array_of_jobs_has_every_stripe() {
    let dir = TestDir::new();
    let server = ServeProcess::start(&dir, "01");
    let out = dir.path().join("runs").display().to_string();
    let start = instant(3);
    // A late job still offers its stripe.
    let load = [server.url.as_str(), "-r", "100", "-n", "50"];
    let jobs = ["1", "2", "3"].map(|task| {
        let environment = [
            ("SLURM_ARRAY_TASK_ID", task),
            ("SLURM_ARRAY_TASK_COUNT", "3"),
            ("OUT", out.as_str()),
            ("START", start.as_str()),
        ];
        script(&dir, "slurm/stripes.sbatch", &load, &environment)
    });
    for mut job in jobs {
        job.wait().unwrap();
    }
    dir.truetail(&["merge", "runs/stripe-1", "runs/stripe-2", "runs/stripe-3", "--out", "merged"]);
    assert_eq!(run_file(&dir, "merged")["tally"]["planned"], 50);
}

#[test]
fn hosts_of_a_file_share_a_load() {
    let dir = TestDir::new();
    let server = ServeProcess::start(&dir, "01");
    dir.file("hosts", "one\ntwo\n");
    // Replaces ssh: runs the command on this machine.
    dir.file("ssh", "#!/bin/sh\nshift\nexec sh -c \"$*\"\n");
    let load = format!("{} -r 100 -n 50", server.url);
    let environment = [("SSH", "sh ./ssh"), ("LEAD", "4")];
    script(&dir, "ssh/stripes.sh", &["hosts", "runs", &load], &environment).wait().unwrap();
    let merged = run_file(&dir, "runs/merged");
    assert_eq!((&merged["tally"]["planned"], &merged["shards"]["of"]), (&Value::from(50), &Value::from(2)));
}

#[test]
fn gnu_parallel_runs_every_stripe() {
    let has_it = std::process::Command::new("parallel").arg("--version").output();
    if !has_it.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("GNU parallel")) {
        return missing_everywhere("GNU parallel", "apt-get install parallel");
    }
    let dir = TestDir::new();
    let server = ServeProcess::start(&dir, "01");
    let arguments = ["3", "runs", &server.url, "-r", "100", "-n", "50"];
    script(&dir, "parallel/stripes.sh", &arguments, &[("LEAD", "4")]).wait().unwrap();
    assert_eq!(run_file(&dir, "runs/merged")["tally"]["planned"], 50);
}
