//! The value of a condition `PATH == VALUE`.

use serde_json::Number;

/// A text, number, truth value or null that a description names.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Wanted {
    text: String,
    number: Option<Number>,
}

impl Wanted {
    pub(super) fn new(text: &str) -> Wanted {
        Wanted { text: text.to_owned(), number: serde_json::from_str(text).ok() }
    }

    pub(super) fn is(&self, value: &Scalar<'_>) -> bool {
        match value {
            Scalar::Text(text) => self.text == *text,
            Scalar::Truth(truth) => self.text == if *truth { "true" } else { "false" },
            Scalar::Null => self.text == "null",
            Scalar::Number(number) => self.number.as_ref().is_some_and(|wanted| is_same(wanted, number)),
        }
    }
}

/// A value of an event that is no list and no object.
pub(super) enum Scalar<'v> {
    Null,
    Truth(bool),
    Number(Number),
    Text(&'v str),
}

/// Some servers write whole numbers as 7.0.
fn is_same(one: &Number, other: &Number) -> bool {
    one == other || (one.is_f64() || other.is_f64()) && one.as_f64() == other.as_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_compared_as_a_number() {
        let number = |text: &str| Scalar::Number(serde_json::from_str(text).expect("a number"));
        for (wanted, value, is) in [
            ("-1", "-1", true),
            ("1", "-1", false),
            ("", "-1", false),
            ("", "1.5", false),
            ("1.5", "1.5", true),
            ("1.50", "1.5", true),
            ("3", "3.0", true),
            ("18446744073709551615", "18446744073709551615", true),
            ("18446744073709551614", "18446744073709551615", false),
            ("null", "0", false),
        ] {
            assert_eq!(Wanted::new(wanted).is(&number(value)), is, "{wanted} {value}");
        }
        assert!(Wanted::new("null").is(&Scalar::Null) && !Wanted::new("").is(&Scalar::Null));
        assert!(Wanted::new("true").is(&Scalar::Truth(true)) && !Wanted::new("true").is(&Scalar::Truth(false)));
        assert!(Wanted::new("").is(&Scalar::Text("")) && Wanted::new("3").is(&Scalar::Text("3")));
    }
}
