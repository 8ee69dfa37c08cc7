//! Options of the verbs that read result files of other tools.

use std::path::PathBuf;

use clap::Args;

use super::values::count;

/// Facts about a result file.
#[derive(Args, Debug)]
pub(crate) struct ForeignOptions {
    /// Format of the file, such as jmeter-csv; without it, the content decides. An unknown name lists all of them
    #[arg(long, value_name = "NAME", help_heading = "Reading")]
    pub format: Option<String>,
    /// Columns of a table or of JSON lines that no format covers: 'start=at,duration=took,status=code'. Also end,
    /// worker, error and bytes
    #[arg(long, value_name = "WHAT=COLUMN,…", value_delimiter = ',', value_parser = pair, help_heading = "Reading")]
    pub columns: Vec<(String, String)>,
    /// Units of these columns: 'start=ms,duration=us'. One of ns, us, ms and s
    #[arg(long, value_name = "WHAT=UNIT,…", value_delimiter = ',', value_parser = pair, help_heading = "Reading")]
    pub units: Vec<(String, String)>,
    /// Number of users, threads or connections that sent the requests, if the file does not say
    #[arg(long, value_name = "N", value_parser = count::<u32>, help_heading = "Load")]
    pub users: Option<u32>,
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (what, value) = text.split_once('=').ok_or(format!("'{text}' has no '='; write what=name"))?;
    Ok((what.trim().to_owned(), value.trim().to_owned()))
}

/// Returns true if the path means standard input.
pub(crate) fn is_stdin(path: &PathBuf) -> bool {
    path == &PathBuf::from("-")
}
