//! The value of a header `Server-Timing`, and the option that names a header.
#![no_main]

use libfuzzer_sys::fuzz_target;
use truetail_timing::{TimingSource, entries};

fuzz_target!(|input: &[u8]| {
    let mut count = 0;
    entries(input, &mut |entry| {
        count += 1;
        assert!(!entry.name.is_empty() && entry.name.len() <= input.len());
        assert!(entry.name.iter().all(u8::is_ascii_graphic));
    });
    assert!(count <= input.len() && count <= 64, "{count} entries");
    if let Ok(text) = std::str::from_utf8(input) {
        let _ = text.parse::<TimingSource>();
    }
});
