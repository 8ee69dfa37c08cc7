//! Header fields of an answer, as text.

/// Header fields in the order of arrival. Clearing and refilling a list allocates nothing.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct FieldList {
    bytes: Vec<u8>,
    /// For each field, the end of its name and the end of its value in `bytes`.
    ends: Vec<(usize, usize)>,
}

impl FieldList {
    /// Adds a field.
    pub fn push(&mut self, name: &[u8], value: &[u8]) {
        self.bytes.extend_from_slice(name);
        let name_end = self.bytes.len();
        self.bytes.extend_from_slice(value);
        self.ends.push((name_end, self.bytes.len()));
    }

    /// Adds a field whose value may be folded over several lines: line breaks become spaces (RFC 9112, section 5.2).
    pub(crate) fn push_unfolded(&mut self, name: &[u8], value: &[u8]) {
        self.push(name, value);
        let start = self.bytes.len() - value.len();
        self.bytes[start..].iter_mut().filter(|byte| matches!(byte, b'\r' | b'\n')).for_each(|byte| *byte = b' ');
    }

    /// Removes all fields and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Returns name and value of all fields.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|(_, end)| *end));
        starts.zip(&self.ends).map(|(start, (name, value))| (&self.bytes[start..*name], &self.bytes[*name..*value]))
    }

    /// Returns the values of all fields with this name, in any case.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.iter().filter(move |(other, _)| other.eq_ignore_ascii_case(name.as_bytes())).map(|(_, value)| value)
    }

    /// Returns the number of bytes of all names and values.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_as_they_came() {
        let mut list = FieldList::default();
        list.push(b"Set-Cookie", b"a");
        list.push(b"Empty", b"");
        list.push_unfolded(b"set-cookie", b"b\r\n c");
        let fields: Vec<_> = list.iter().collect();
        assert_eq!(fields, [(&b"Set-Cookie"[..], &b"a"[..]), (b"Empty", b""), (b"set-cookie", b"b   c")]);
        assert_eq!(list.all("SET-COOKIE").collect::<Vec<_>>(), [&b"a"[..], b"b   c"]);
        assert_eq!(list.all("cookie").count(), 0);
        list.clear();
        assert_eq!((list.iter().count(), list.size()), (0, 0));
    }
}
