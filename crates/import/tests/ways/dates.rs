//! Dates of logs, archives and options, which one function reads.

use std::time::{Duration, UNIX_EPOCH};

use proptest::prelude::*;
use truetail_import::ways::unix_ns;

proptest! {
    /// Dates that the crate humantime writes are read, with every number of digits and in every zone.
    #[test]
    fn what_is_written_is_read(ns in any::<u64>(), digits in 1usize..=9, minutes in -1439i64..=1439) {
        let text = humantime::format_rfc3339_nanos(UNIX_EPOCH + Duration::from_nanos(ns)).to_string();
        prop_assert_eq!(unix_ns(&text), Some(ns), "{}", text);
        let step = 10u64.pow(9 - digits as u32);
        let cut = &text[..20 + digits];
        prop_assert_eq!(unix_ns(&format!("{cut}Z")), Some(ns - ns % step), "{}", cut);
        let sign = if minutes < 0 { '-' } else { '+' };
        for colon in ["", ":"] {
            let zoned = format!("{cut}{sign}{:02}{colon}{:02}", minutes.abs() / 60, minutes.abs() % 60);
            let east_ns = i128::from(minutes) * 60_000_000_000;
            let wanted = u64::try_from(i128::from(ns - ns % step) - east_ns).ok();
            prop_assert_eq!(unix_ns(&zoned), wanted, "{}", zoned);
        }
    }

    #[test]
    fn any_text_is_a_date_or_not(text in any::<String>(), near in "[0-9]{1,4}[-/][0-9A-Za-z]{1,3}[-/: T][0-9:.,+-]{0,24}Z?") {
        let _ = (unix_ns(&text), unix_ns(&near));
    }
}

#[test]
fn days_and_times_that_do_not_exist_are_refused() {
    for (text, ns) in [
        ("2028-02-29T00:00:00Z", Some(1_835_395_200_000_000_000)),
        ("2026-02-29T00:00:00Z", None),
        ("2100-02-29T00:00:00Z", None),
        ("31/Apr/2026:00:00:00 +0000", None),
        ("2026-00-10T00:00:00Z", None),
        ("2026-04-00T00:00:00Z", None),
        ("2026-04-01T24:00:00Z", None),
        ("2026-04-01T00:60:00Z", None),
        ("2026-04-01T00:00:61Z", None),
        // A leap second is the first of the next minute, as in POSIX.
        ("2016-12-31T23:59:60Z", Some(1_483_228_800_000_000_000)),
        ("1969-12-31T23:59:59Z", None),
        ("1970-01-01T00:00:00+00:01", None),
        ("2600-01-01T00:00:00Z", None),
        ("2026-04-01T00:00:00+24:00", None),
        ("2026-04-01T00:00:00.1234567891Z", Some(1_775_001_600_123_456_789)),
    ] {
        assert_eq!(unix_ns(text), ns, "{text}");
    }
}
