//! The width of text.

/// Advances of Inter Regular for the characters from space to tilde, in 1/2048 of the font size.
const ADVANCES: [u16; 95] = [
    576, 589, 954, 1297, 1314, 2011, 1319, 614, 747, 747, 1026, 1355, 590, 942, 590, 738, 1292, 833, 1249, 1265, 1323,
    1215, 1270, 1159, 1267, 1270, 590, 618, 1355, 1355, 1355, 1047, 1978, 1413, 1340, 1496, 1478, 1231, 1209, 1528,
    1522, 550, 1169, 1376, 1158, 1850, 1543, 1566, 1308, 1566, 1318, 1314, 1322, 1524, 1413, 2018, 1397, 1390, 1288,
    747, 738, 747, 965, 934, 661, 1150, 1254, 1170, 1254, 1194, 758, 1256, 1211, 496, 496, 1124, 496, 1794, 1210, 1228,
    1254, 1254, 771, 1081, 670, 1211, 1151, 1676, 1118, 1151, 1131, 873, 681, 873, 1355,
];
/// Advance of any other character: about that of a digit.
const OTHER: u16 = 1300;
/// Factor for substituted fonts, and for bold, which is wider.
const ROOM: f64 = 1.06;

/// Returns the width of `text` in units, rounded up by [`ROOM`].
pub(super) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(|c| advance(c, size)).sum()
}

/// Truncates `text` to at most `room` units, with an ellipsis if anything is missing.
pub(super) fn fitted(text: &str, size: f64, room: f64) -> String {
    let room_beside = room - advance('…', size);
    let mut taken = 0.0;
    let mut cut = 0;
    for (at, c) in text.char_indices() {
        taken += advance(c, size);
        if taken <= room_beside {
            cut = at + c.len_utf8();
        }
        if taken > room {
            return format!("{}…", text[..cut].trim_end());
        }
    }
    text.to_owned()
}

fn advance(c: char, size: f64) -> f64 {
    let index = (c as usize).checked_sub(' ' as usize);
    let advance = index.and_then(|index| ADVANCES.get(index)).copied().unwrap_or(OTHER);
    f64::from(advance) / 2048.0 * size * ROOM
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_where_there_is_no_room() {
        assert_eq!(fitted("open-loop", 15.0, 500.0), "open-loop");
        let cut = fitted(&"long ".repeat(100), 15.0, 200.0);
        assert!(cut.ends_with('…') && width(&cut, 15.0) <= 200.0, "{cut}");
        assert_eq!(fitted("", 15.0, 0.0), "");
    }

    #[test]
    fn an_m_is_wider_than_an_i() {
        assert!(width("mmm", 10.0) > 3.0 * width("i", 10.0));
        assert!(width("µ≥−", 10.0) > 15.0);
    }
}
