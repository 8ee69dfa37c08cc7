//! Errors of clap as one line for the user.

use clap::error::{ContextKind, ErrorKind};

/// Converts an error of clap to one line.
pub(crate) fn in_one_line(error: &clap::Error) -> String {
    if let (ErrorKind::ValueValidation, Some(flag), Some(problem)) =
        (error.kind(), error.get(ContextKind::InvalidArg), std::error::Error::source(error))
    {
        return format!("{}: {problem}", name_of(&flag.to_string()));
    }
    if let Some(line) = foreign_option_hint(error) {
        return line;
    }
    let text = error.render().to_string();
    let told = text.lines().take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more information"));
    // clap suggests that an unknown flag may be meant as a value, which is never true here.
    let helps = |line: &&str| !line.contains("as a value, use");
    let words = told.filter(helps).map(|line| line.trim().trim_start_matches("error: ").replacen("tip: ", "; ", 1));
    let line = words.collect::<Vec<_>>().join(" ").split_whitespace().collect::<Vec<_>>().join(" ").replace(" ;", ";");
    format!("{line}; see --help")
}

/// Options of other load tools, and the options of `truetail run` with the same meaning.
const ELSEWHERE: [(&[&str], &str); 6] = [
    (&["--vus", "--virtual-users", "--clients"], "--users, and --model closed"),
    (&["--rps", "--qps", "--arrival-rate", "-q", "-R"], "--rate (-r)"),
    (&["--concurrency", "--connection"], "--connections (-c), or --users with --model closed"),
    (
        &["-t"],
        "--timeout for how long an answer may take, --threads for threads and --duration (-d) for the length of the run",
    ),
    (&["-z", "--time", "--run-time"], "--duration (-d)"),
    (&["--threshold", "--thresholds"], "--slo"),
];

/// Returns a hint for an unknown option that other tools have. The same spelling may have another meaning.
fn foreign_option_hint(error: &clap::Error) -> Option<String> {
    let unknown =
        error.get(ContextKind::InvalidArg).filter(|_| error.kind() == ErrorKind::UnknownArgument)?.to_string();
    let (_, ours) = ELSEWHERE.iter().find(|(names, _)| names.contains(&&*unknown))?;
    Some(format!("unexpected argument '{unknown}' found; 'truetail run' has {ours}; see --help"))
}

/// Returns `--rate` for `--rate <RATE>`.
fn name_of(argument: &str) -> &str {
    argument.split_once(' ').map_or(argument, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::run_options::definition;

    #[test]
    fn options_of_other_tools_have_a_name_here() {
        for (names, ours) in ELSEWHERE {
            for name in names {
                let error = definition().try_get_matches_from([name, "5"]).expect_err(name);
                let line = in_one_line(&error);
                assert!(line.contains(ours) && !line.contains('\n'), "{line}");
            }
            let known = definition();
            let long = |word: &str| word.trim_start_matches("--").to_owned();
            let options = ours.split([' ', ',']).filter(|word| word.starts_with("--")).map(long);
            for option in options {
                let is_known = known.get_arguments().any(|argument| argument.get_long() == Some(&*option));
                assert!(is_known, "--{option}");
            }
        }
    }
}
