//! Which load tools are here.

use crate::style::Style;
use crate::table::{Align, Table};

/// One tool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ToolLine<'a> {
    /// Its name.
    pub tool: &'a str,
    /// Its version; `None` where it is not here.
    pub version: Option<&'a str>,
    /// The load model that its documentation claims.
    pub model: &'a str,
    /// Where it comes from.
    pub origin: &'a str,
    /// The line that installs it.
    pub install: &'a str,
}

/// A line a tool.
pub fn tools_table(tools: &[ToolLine<'_>], style: Style) -> String {
    let columns = ["tool", "state", "version", "label", "origin", "to get it"].map(|head| (head, Align::Left));
    let mut table = Table::new(&columns);
    for tool in tools {
        let state = if tool.version.is_some() { "here" } else { "missing" };
        let version = tool.version.unwrap_or("–");
        table.row([tool.tool, state, version, tool.model, tool.origin, tool.install].map(str::to_owned).to_vec());
    }
    table.lines(2, style).join("\n") + "\n"
}
