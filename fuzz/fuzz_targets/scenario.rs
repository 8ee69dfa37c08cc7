//! A scenario in TOML: refused with its line, or written and read again as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use truetail_model::scenario::Scenario;

fuzz_target!(|text: &str| {
    let recording = |_: &str| Ok("0\n0.5\n1.25\n".to_owned());
    match Scenario::parse_with(text, "scenario.toml", &recording) {
        Ok(scenario) => {
            let written = scenario.to_toml();
            let again = Scenario::parse(&written, "again.toml");
            assert_eq!(again.as_ref(), Ok(&scenario), "{written}");
        }
        Err(error) => assert!(error.to_string().starts_with("scenario.toml"), "{error}"),
    }
});
