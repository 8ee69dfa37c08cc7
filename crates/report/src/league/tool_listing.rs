//! Listing of the installed load tools.

use crate::style::Style;
use crate::table::{Align, TextTable};

/// A load tool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ToolListing<'a> {
    /// Name of the tool.
    pub tool: &'a str,
    /// Its version; `None` if it is not installed.
    pub version: Option<&'a str>,
    /// Load model that its documentation claims.
    pub model: &'a str,
    /// Source of the tool.
    pub origin: &'a str,
    /// Command that installs it.
    pub install: &'a str,
}

/// Returns one row per tool, and the commands that install missing ones, unwrapped so that they can be copied.
pub fn tools_table(tools: &[ToolListing<'_>], style: Style) -> String {
    let columns = ["tool", "state", "version", "label", "origin"].map(|head| (head, Align::Left));
    let mut table = TextTable::new(&columns);
    for tool in tools {
        let state = if tool.version.is_some() { "installed" } else { "missing" };
        let version = tool.version.unwrap_or("–");
        table.row([tool.tool, state, version, tool.model, tool.origin].map(str::to_owned).to_vec());
    }
    let mut lines = table.fitting(style.width.saturating_sub(2), &[4, 3], style).lines(2, style);
    let missing: Vec<_> = tools.iter().filter(|tool| tool.version.is_none()).collect();
    if !missing.is_empty() {
        lines.extend([String::new(), "  To install the missing ones:".to_owned()]);
        lines.extend(missing.iter().map(|tool| format!("  {}: {}", tool.tool, tool.install)));
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_missing_has_an_install_line() {
        let line =
            |tool, version| ToolListing { tool, version, model: "open", origin: "apt", install: "apt-get install it" };
        let text = tools_table(&[line("ab", Some("2.3")), line("hey", None)], Style::default());
        assert_eq!(text.matches("apt-get").count(), 1, "{text}");
        assert!(text.contains("hey: apt-get install it"), "{text}");
    }
}
