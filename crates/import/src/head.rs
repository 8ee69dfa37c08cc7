use crate::rows::lines::MAX_ROW;

/// Bytes at the start of a file that are used to recognise it.
pub(crate) const HEAD: usize = 64 << 10;

/// Returns the first line that is not empty, without its line break and without a UTF-8 byte order mark.
pub(crate) fn first_line(head: &[u8]) -> &[u8] {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let line = head.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    let line = &line[..line.len().min(MAX_ROW)];
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Describes the start of a file for users.
pub(crate) fn looks_like(head: &[u8]) -> String {
    let line = first_line(head);
    match line.first() {
        None => "the file is empty".to_owned(),
        _ if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") => {
            "it is text in UTF-16; convert it, for example with 'iconv -f UTF-16 -t UTF-8'".to_owned()
        }
        _ if head.starts_with(b"SQLite format 3\0") => "it is an SQLite database".to_owned(),
        _ if head.starts_with(b"PAR1") => "it is a Parquet file".to_owned(),
        _ if line.iter().any(|byte| *byte < b' ' && *byte != b'\t') => "it is a binary file".to_owned(),
        Some(b'{') => "it looks like JSON".to_owned(),
        Some(b'[') => "it looks like a JSON array or a log".to_owned(),
        Some(b'<') => "it looks like XML or HTML".to_owned(),
        Some(_) => table_or_text(line),
    }
}

fn table_or_text(line: &[u8]) -> String {
    const MOST: usize = 20;
    let header = crate::tables::Header::guess(line);
    match header.len() {
        0..=2 => format!("it looks like text that begins with '{}'", shortened(&String::from_utf8_lossy(line))),
        n => {
            let names: Vec<_> = header.names().take(MOST).map(|name| shortened(&name)).collect();
            let more = if n > MOST { " …" } else { "" };
            format!("it looks like a table of {n} columns: {}{more}", names.join(", "))
        }
    }
}

/// Returns at most 60 characters, without control characters.
fn shortened(text: &str) -> String {
    let clean: String = text.chars().map(|char| if char.is_control() { ' ' } else { char }).take(61).collect();
    match clean.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &clean[..end]),
        None => clean,
    }
}
