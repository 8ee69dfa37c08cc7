//! `run --watch` in a terminal: its view, its keys, and the terminal afterwards.
//!
//! The terminal is tmux, which `make test-tools` installs. `make test` runs only the test that does not need it.

#[allow(dead_code, reason = "the other tests use the rest of it")]
#[path = "../cli/support.rs"]
mod support;

#[path = "../../../../tests/missing.rs"]
mod missing;
mod tmux;

use nix::sys::signal::Signal;
use serde_json::Value;
use support::{ServeProcess, TestDir, assert_balanced, assert_complete};
use tmux::Tmux;

/// Starts a run of ten minutes in a terminal of this size, and waits for its first results.
fn watching(width: u16, height: u16, environment: &str, more: &str) -> Option<(Tmux, ServeProcess)> {
    let tmux = Tmux::start(width, height)?;
    let served = ServeProcess::start(tmux.dir(), "01-healthy");
    let url = served.api();
    tmux.enter(&format!("{environment} truetail run {url} -r 200 -d 10m --watch --out here {more}"));
    tmux.wait_for("offered");
    tmux.wait_for("p99");
    Some((tmux, served))
}

/// Checks that the shell has its own screen back: earlier text is there, and input is echoed.
fn assert_restored(tmux: &Tmux) {
    tmux.enter("echo code $? and; stty -a | grep -ow -e '-\\?echo' -e '-\\?icanon' -e '-\\?isig'; echo all seen");
    let screen = tmux.wait_for("\nall seen");
    for mode in ["echo", "icanon", "isig"] {
        assert!(screen.lines().any(|line| line == mode), "no {mode} in\n{screen}");
    }
    assert_eq!(tmux.ask("#{alternate_on} #{cursor_flag} #{wrap_flag}"), "0 1 1", "{screen}");
}

fn saved(tmux: &Tmux) -> Value {
    let run = assert_complete(&tmux.dir().path().join("here"));
    assert_balanced(&run);
    assert_eq!((&run["interrupted"], &run["cut_short"]), (&true.into(), &true.into()));
    run
}

fn notes(run: &Value) -> String {
    run["notes"].to_string()
}

#[test]
fn without_a_terminal_it_is_refused_before_anything_is_done() {
    let dir = TestDir::new();
    let output = dir.truetail(&["run", "http://127.0.0.1:1/", "-r", "10", "--watch"]);
    assert_eq!(output.code, Some(2), "{output:?}");
    assert!(output.stderr.contains("--watch draws on standard error, which is not a terminal"), "{output:?}");
    assert_eq!(output.stderr.lines().count(), 1, "{output:?}");
    assert!(dir.runs().is_empty());
    let output = dir.truetail(&["run", "http://127.0.0.1:1/", "-r", "10", "--watch", "--quiet"]);
    assert_eq!((output.code, output.stderr.lines().count()), (Some(2), 1), "{output:?}");
}

#[test]
#[ignore = "needs tmux: make test-tools"]
fn q_stops_the_run_reports_it_and_gives_the_terminal_back() {
    let Some((tmux, served)) = watching(80, 24, "", "") else { return };
    let screen = tmux.screen();
    for part in ["GET http://127.0.0.1", "/ 600s", "Measurement", "response time", "in flight", "q stop", "? help"] {
        assert!(screen.contains(part), "no '{part}' in\n{screen}");
    }
    tmux.keys("q");
    tmux.wait_for("Saved");
    let all = tmux.everything();
    assert!(all.contains("Answers") && all.contains("truetail: stopping"), "{all}");
    assert_restored(&tmux);
    tmux.wait_for("code 130 and");
    let run = saved(&tmux);
    assert!(notes(&run).contains("(q)"), "{}", run["notes"]);
    assert_eq!(run["tally"]["responses"], run["tally"]["issued"], "what was sent was waited for");
    assert_eq!(served.stop().1.len() as u64, run["tally"]["issued"].as_u64().expect("a count"));
}

#[test]
#[ignore = "needs tmux: make test-tools"]
fn ctrl_c_does_what_the_signal_does() {
    let Some((tmux, _served)) = watching(80, 24, "", "") else { return };
    tmux.keys("C-c");
    tmux.wait_for("Saved");
    assert_restored(&tmux);
    tmux.wait_for("code 130 and");
    assert!(notes(&saved(&tmux)).contains("(Ctrl-C)"));
}

#[test]
#[ignore = "needs tmux: make test-tools"]
fn sigterm_gives_the_terminal_back() {
    let Some((tmux, _served)) = watching(80, 24, "", "") else { return };
    tmux.signal(Signal::SIGTERM);
    tmux.wait_for("Saved");
    assert_restored(&tmux);
    tmux.wait_for("code 143 and");
    assert!(notes(&saved(&tmux)).contains("(SIGTERM)"));
}

#[test]
#[ignore = "needs tmux: make test-tools"]
fn ctrl_c_twice_stops_at_once() {
    let Some(tmux) = Tmux::start(80, 24) else { return };
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    // Nothing answers, so the drain continues.
    tmux.enter(&format!("truetail run {url} -r 50 -d 10m --watch --no-preflight --no-save --timeout none --drain 10m"));
    // A run with nothing in flight would end with the first Ctrl-C.
    tmux.wait_for_screen(|screen| screen.contains(" in flight ·") && !screen.contains("· 0 in flight ·"));
    tmux.keys("C-c");
    tmux.wait_for("stopping:");
    // Otherwise it would wait for answers for ten minutes.
    tmux.keys("C-c");
    tmux.wait_for_screen(|screen| screen.ends_with('$'));
    assert!(tmux.everything().contains("truetail: stopping at once"), "{}", tmux.everything());
    assert_restored(&tmux);
}

#[test]
#[ignore = "needs tmux: make test-tools"]
fn it_follows_the_size_of_the_terminal_and_turns_pages() {
    let Some((tmux, _served)) = watching(80, 24, "", "") else { return };
    tmux.resize(200, 50);
    // A frame comes in pieces, and the screen may be seen between two of them.
    tmux.wait_for_screen(|screen| {
        let is_wide = screen.lines().any(|line| line.chars().count() > 150);
        is_wide && screen.contains("Measurement") && screen.contains("Statuses")
    });
    tmux.resize(40, 12);
    let small = tmux.wait_for_screen(|screen| screen.lines().count() <= 12 && screen.contains("p99"));
    assert!(small.lines().all(|line| line.chars().count() <= 40), "{small}");
    tmux.resize(80, 24);
    tmux.keys("?");
    tmux.wait_for("Shift-Tab");
    tmux.keys("Escape");
    tmux.wait_for_screen(|screen| !screen.contains("Shift-Tab") && screen.contains("offered"));
    tmux.keys("Tab");
    tmux.wait_for_screen(|screen| screen.contains("Tab answers") && !screen.contains("offered"));
    tmux.keys("q");
    tmux.wait_for("Saved");
    assert_restored(&tmux);
}

#[test]
#[ignore = "needs tmux: make test-tools"]
fn the_result_goes_to_standard_output_alone() {
    let Some((tmux, _served)) = watching(80, 24, "", "--json > run.json") else { return };
    tmux.keys("q");
    tmux.wait_for("truetail: stopping");
    assert_restored(&tmux);
    let text = std::fs::read_to_string(tmux.dir().path().join("run.json")).expect("the result");
    let run: Value = serde_json::from_str(&text).expect("JSON and nothing else");
    assert_eq!(run, saved(&tmux));
}

#[test]
#[ignore = "needs tmux: make test-tools"]
fn colors_are_left_out_on_request() {
    let Some((tmux, _served)) = watching(120, 40, "", "") else { return };
    assert!(tmux.screen_with_colors().contains("\x1b[38;5;"), "the heat map is coloured");
    tmux.keys("q");
    tmux.wait_for("Saved");
    drop(tmux);
    let Some((tmux, _served)) = watching(120, 40, "NO_COLOR=1 LC_ALL=C.ISO-8859-1", "") else { return };
    let screen = tmux.screen_with_colors();
    let colored = |code: u8| screen.contains(&format!("\x1b[{code}")) || screen.contains(&format!(";{code}m"));
    assert!(!(31..=38).any(colored), "{screen:?}");
    assert!(tmux.screen().is_ascii(), "{screen}");
}

/// As when a connection breaks: the run is saved, and the process ends.
#[test]
#[ignore = "needs tmux: make test-tools"]
fn the_end_of_the_terminal_ends_the_run() {
    let Some((tmux, _served)) = watching(80, 24, "", "") else { return };
    let program = tmux.program();
    tmux.close_window();
    tmux.wait_for_end_of(program);
    assert!(notes(&saved(&tmux)).contains("(SIGHUP)"));
}
