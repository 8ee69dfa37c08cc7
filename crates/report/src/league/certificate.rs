//! The certificate of a load tool, for a terminal.

use truetail_analysis::league::Certificate;

use crate::style::{Emphasis, Style};

/// Formats the kind of load generator that `program` is, the evidence, and if known, whether it kept its schedule.
pub fn certificate(program: &str, certificate: &Certificate, style: Style) -> String {
    let head = format!("{program} is {}", certificate.kind.describe());
    let mut lines: Vec<String> =
        hanging(&head, style).iter().map(|line| style.emphasize(Emphasis::Bold, line)).collect();
    lines.push(String::new());
    lines.extend(certificate.evidence.iter().flat_map(|sentence| hanging(sentence, style)));
    if let Some(kept) = certificate.kept_schedule {
        let (words, ink) = if kept {
            ("It kept its schedule.", Emphasis::Good)
        } else {
            ("It did not keep its schedule.", Emphasis::Bad)
        };
        lines.extend([String::new(), format!("  {}", style.emphasize(ink, words))]);
    }
    lines.join("\n") + "\n"
}

/// Wraps text with a hanging indent.
fn hanging(text: &str, style: Style) -> Vec<String> {
    let lines = style.wrap(text, style.columns() - 4);
    lines.into_iter().enumerate().map(|(n, line)| format!("{}{line}", if n == 0 { "  " } else { "    " })).collect()
}
