//! A certificate for a terminal.

use truetail_analysis::league::Certificate;

use crate::style::{Ink, Style};

/// What kind of generator `program` is, why, and whether it kept its schedule.
pub fn certificate(program: &str, certificate: &Certificate, style: Style) -> String {
    let head = format!("{program} is {}", certificate.kind.words());
    let mut lines: Vec<String> = hanging(&head, style).iter().map(|line| style.paint(Ink::Bold, line)).collect();
    lines.push(String::new());
    lines.extend(certificate.evidence.iter().flat_map(|sentence| hanging(sentence, style)));
    lines.push(String::new());
    let (words, ink) = match certificate.kept_schedule {
        true => ("It kept its schedule.", Ink::Good),
        false => ("It did not keep its schedule.", Ink::Bad),
    };
    lines.push(format!("  {}", style.paint(ink, words)));
    lines.join("\n") + "\n"
}

/// Lines of which all but the first stand further in.
fn hanging(text: &str, style: Style) -> Vec<String> {
    let lines = style.wrap(text, style.columns() - 4);
    lines.into_iter().enumerate().map(|(n, line)| format!("{}{line}", if n == 0 { "  " } else { "    " })).collect()
}
