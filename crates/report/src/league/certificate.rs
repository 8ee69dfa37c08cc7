//! The certificate of a load tool, for a terminal.

use truetail_analysis::league::Certificate;

use crate::style::{Emphasis, Style};

/// What kind of load generator `program` is, the evidence, and whether it kept its schedule, if that is known.
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

/// Wrapped lines with a hanging indent.
fn hanging(text: &str, style: Style) -> Vec<String> {
    let lines = style.wrap(text, style.columns() - 4);
    lines.into_iter().enumerate().map(|(n, line)| format!("{}{line}", if n == 0 { "  " } else { "    " })).collect()
}
