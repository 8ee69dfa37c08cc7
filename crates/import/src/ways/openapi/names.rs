//! Names of placeholders.

use std::collections::BTreeMap;

/// Placeholders so far: what each stands for, by its name. One that stands for another thing gets another name.
#[derive(Default)]
pub(super) struct Names(BTreeMap<String, String>);

impl Names {
    /// The placeholder for `what`, such as `path /users/`, that the description calls `wanted`, in the path `path`.
    pub(super) fn placeholder(&mut self, wanted: &str, what: &str, path: &str) -> String {
        let wanted = letters(wanted);
        let segment = path.split('/').rev().find(|part| !part.is_empty() && !part.starts_with('{'));
        let longer = format!("{}_{wanted}", letters(segment.unwrap_or("root")));
        let numbered = (2..).map(|n| format!("{longer}_{n}"));
        let mut candidates = [wanted.clone(), longer.clone()].into_iter().chain(numbered);
        let is_free = |name: &String| self.0.get(name).is_none_or(|stands_for| stands_for == what);
        let name = candidates.find(is_free).expect("there are always more numbers");
        self.0.insert(name.clone(), what.to_owned());
        format!("{{{{{name}}}}}")
    }

    /// All names, in order.
    pub(super) fn all(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }
}

/// What may stand in a name.
fn letters(text: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    text.chars().map(kept).collect()
}
