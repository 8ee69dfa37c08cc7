//! Number formats of Python that are not valid JSON.

/// Replaces the words `NaN`, `Infinity` and `-Infinity` by empty strings and spaces of the same length, so that the
/// result is valid JSON with unchanged positions.
pub fn without_python_numbers(bytes: &[u8]) -> Vec<u8> {
    const WORDS: [&[u8]; 3] = [b"-Infinity", b"Infinity", b"NaN"];
    let mut bytes = bytes.to_vec();
    let mut at = 0;
    let mut in_text = false;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if in_text => at += 1,
            b'"' => in_text = !in_text,
            b'-' | b'I' | b'N' if !in_text => {
                if let Some(word) = WORDS.into_iter().find(|word| bytes[at..].starts_with(word)) {
                    let room = &mut bytes[at..at + word.len()];
                    room.fill(b' ');
                    room[..2].copy_from_slice(b"\"\"");
                    at += word.len() - 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_python_are_replaced_outside_of_texts() {
        let read = without_python_numbers(br#"{"a":NaN,"b":[-Infinity,Infinity],"c":"\"NaN"}"#);
        assert_eq!(String::from_utf8_lossy(&read), r#"{"a":"" ,"b":[""       ,""      ],"c":"\"NaN"}"#);
    }
}
