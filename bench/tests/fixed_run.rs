//! The run for counting instructions is the same each time, and all its requests are answered.

use std::process::{Command, Output};

fn fixed_run(argument: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bench-instructions")).arg(argument).output().expect("it runs")
}

#[test]
fn it_is_the_same_each_time() {
    let [first, second] = ["2000", "2000"].map(|requests| fixed_run(requests).stdout);
    assert_eq!(String::from_utf8(first.clone()), String::from_utf8(second));
    assert!(first.starts_with(b"2000 responses, schedule "), "{first:?}");
}

#[test]
fn without_a_number_it_says_how_it_is_called() {
    let told = fixed_run("many");
    assert_eq!(told.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&told.stderr).starts_with("usage: bench-instructions REQUESTS"), "{told:?}");
}
