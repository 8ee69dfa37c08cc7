//! Errors of clap as the one line that the user reads.

use clap::error::{ContextKind, ErrorKind};

/// An error of clap in one line.
pub fn in_one_line(error: &clap::Error) -> String {
    if let (ErrorKind::ValueValidation, Some(flag), Some(problem)) =
        (error.kind(), error.get(ContextKind::InvalidArg), std::error::Error::source(error))
    {
        return format!("{}: {problem}", name_of(&flag.to_string()));
    }
    let text = error.render().to_string();
    let told = text.lines().take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more information"));
    // clap suggests that an unknown flag might be meant as a value, which is never so here.
    let helps = |line: &&str| !line.contains("as a value, use");
    let words = told.filter(helps).map(|line| line.trim().trim_start_matches("error: ").replacen("tip: ", "; ", 1));
    let line = words.collect::<Vec<_>>().join(" ").split_whitespace().collect::<Vec<_>>().join(" ").replace(" ;", ";");
    format!("{line}; see --help")
}

/// `--rate` of `--rate <RATE>`.
fn name_of(argument: &str) -> &str {
    argument.split_once(' ').map_or(argument, |(name, _)| name)
}
