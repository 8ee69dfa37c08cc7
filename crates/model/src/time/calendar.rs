//! The Gregorian calendar.

/// Returns the days from 1970-01-01 to a day of the Gregorian calendar, or `None` if the calendar has no such day.
/// `month` and `day` count from 1; the year is from -9999 to 9999.
pub fn days_since_1970(year: i64, month: i64, day: i64) -> Option<i64> {
    let is_known = (-9_999..=9_999).contains(&year) && (1..=12).contains(&month);
    let next_month = || if month == 12 { days(year + 1, 1, 1) } else { days(year, month + 1, 1) };
    (is_known && day >= 1 && day <= next_month() - days(year, month, 1)).then(|| days(year, month, day))
}

/// Years begin in March here, so that a leap day comes last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + (153 * month + 2) / 5 + day - 719_469
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_day_follows_the_one_before() {
        let mut days = days_since_1970(1600, 1, 1).unwrap();
        for year in 1600..2600 {
            let is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
            let lengths = [31, 28 + i64::from(is_leap), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
            for (month, length) in (1..).zip(lengths) {
                for day in 1..=length {
                    assert_eq!(days_since_1970(year, month, day), Some(days), "{year}-{month}-{day}");
                    days += 1;
                }
                assert_eq!(days_since_1970(year, month, length + 1), None, "{year}-{month}");
            }
        }
        assert_eq!(days_since_1970(1970, 1, 1), Some(0));
    }

    #[test]
    fn what_no_calendar_has_is_refused() {
        for (year, month, day) in [(2026, 0, 1), (2026, 13, 1), (2026, 1, 0), (i64::MAX, 1, 1), (2026, 2, i64::MAX)] {
            assert_eq!(days_since_1970(year, month, day), None, "{year}-{month}-{day}");
        }
    }
}
