//! A certificate for a terminal.

use truetail_analysis::league::Certificate;

use crate::style::{Ink, Style};

/// What kind of generator `program` is, why, and whether it kept its schedule, where that could be told.
pub fn certificate(program: &str, certificate: &Certificate, style: Style) -> String {
    let head = format!("{program} is {}", certificate.kind.describe());
    let mut lines: Vec<String> = hanging(&head, style).iter().map(|line| style.paint(Ink::Bold, line)).collect();
    lines.push(String::new());
    lines.extend(certificate.evidence.iter().flat_map(|sentence| hanging(sentence, style)));
    if let Some(kept) = certificate.kept_schedule {
        let (words, ink) =
            if kept { ("It kept its schedule.", Ink::Good) } else { ("It did not keep its schedule.", Ink::Bad) };
        lines.extend([String::new(), format!("  {}", style.paint(ink, words))]);
    }
    lines.join("\n") + "\n"
}

/// Lines of which all but the first stand further in.
fn hanging(text: &str, style: Style) -> Vec<String> {
    let lines = style.wrap(text, style.columns() - 4);
    lines.into_iter().enumerate().map(|(n, line)| format!("{}{line}", if n == 0 { "  " } else { "    " })).collect()
}
