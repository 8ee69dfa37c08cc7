//! Messages of FIX: fields `TAG=VALUE`, each ended by SOH. Tags 8, 9 and 10 frame them.

use truetail_model::record::Cause;
use truetail_model::time::NANOS_PER_SECOND;

use super::limits::MAX_MESSAGE;

/// Ends each field.
const SOH: u8 = 1;
/// Ends each field in the texts of users, unless they have a SOH.
const BAR: u8 = b'|';
const USUAL_VERSION: &[u8] = b"FIX.4.4";
/// Longest beginning of a message: tags 8 and 9.
const MAX_HEAD: usize = 64;
/// Bytes of the field with the checksum.
const TRAILER: usize = 7;
/// Limit on a version, which leaves the length its place within [`MAX_HEAD`].
const MAX_VERSION: usize = 40;

const BEGIN_STRING: u32 = 8;
const BODY_LENGTH: u32 = 9;
const CHECKSUM: u32 = 10;
const NUMBER: u32 = 34;
const KIND: u32 = 35;
const SENDING_TIME: u32 = 52;
const TEST_ID: u32 = 112;

/// Returns the fields of a message as a user writes it.
fn fields(message: &[u8]) -> impl Iterator<Item = &[u8]> {
    let end = if message.contains(&SOH) { SOH } else { BAR };
    message.split(move |byte| *byte == end).filter(|field| !field.is_empty())
}

/// Splits a field into its tag and its value.
fn parts(field: &[u8]) -> Option<(u32, &[u8])> {
    let at = memchr::memchr(b'=', field)?;
    let digits = &field[..at];
    let is_tag = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let tag = if is_tag { std::str::from_utf8(digits).ok()?.parse().ok()? } else { return None };
    Some((tag, &field[at + 1..]))
}

/// Returns true if a message as a user writes it has this field.
pub(super) fn has_field(message: &[u8], tag: u32) -> bool {
    fields(message).filter_map(parts).any(|(its, _)| its == tag)
}

/// Returns true if a message has a value in this field when it is sent: its own, or one that [`put`] fills in.
pub(super) fn can_have_value(message: &[u8], tag: u32) -> bool {
    let is_it = |(its, value): (u32, &[u8])| its == tag && (tag == TEST_ID || !value.is_empty());
    matches!(tag, NUMBER | SENDING_TIME) || fields(message).filter_map(parts).any(is_it)
}

/// Returns the value of this field in a message as it is sent, if it is not empty.
pub(super) fn value(message: &[u8], tag: u32) -> Option<&[u8]> {
    let mut fields = message.split(|byte| *byte == SOH).filter_map(parts);
    fields.find(|(its, value)| *its == tag && !value.is_empty()).map(|(_, value)| value)
}

/// Returns the reason why a message cannot be sent; `None` if it can.
pub(super) fn refuses(message: &[u8]) -> Option<String> {
    let mut all = Vec::new();
    for field in fields(message) {
        match parts(field) {
            Some((BEGIN_STRING, version)) if version.len() > MAX_VERSION => {
                return Some(format!(
                    "tag 8 has {} bytes; a version, such as FIX.4.2, has at most {MAX_VERSION}",
                    version.len()
                ));
            }
            Some((tag, _)) => all.push(tag),
            None => return Some(format!("'{}' is no field; write TAG=VALUE, with | between", field.escape_ascii())),
        }
    }
    if let Some(own) = all.iter().find(|tag| matches!(**tag, BODY_LENGTH | CHECKSUM)) {
        return Some(format!("tag {own} is truetail's own with --framing fix; leave it out"));
    }
    let begins =
        all.iter().position(|tag| *tag == KIND).is_some_and(|at| all[..at].iter().all(|tag| *tag == BEGIN_STRING));
    (!begins).then(|| "a FIX message begins with its kind, such as 35=D, after 8=FIX.4.2 if that is given".to_owned())
}

/// Appends a message with the number `number` of its channel, sent at `unix_ns`. MsgSeqNum (34) and SendingTime (52)
/// follow the kind, unless the message has a place for them. TestReqID (112) becomes the number, if the message has it.
pub(super) fn put(message: &[u8], number: u64, unix_ns: u64, out: &mut Vec<u8>) {
    let number = number.to_string();
    let time = utc(unix_ns);
    let mut version = USUAL_VERSION;
    let mut body = Vec::with_capacity(message.len() + 64);
    let mut add = |tag: u32, value: &[u8]| {
        body.extend_from_slice(tag.to_string().as_bytes());
        body.push(b'=');
        body.extend_from_slice(value);
        body.push(SOH);
    };
    for (tag, value) in fields(message).filter_map(parts) {
        match tag {
            BEGIN_STRING => version = value,
            NUMBER | TEST_ID => add(tag, number.as_bytes()),
            SENDING_TIME => add(tag, time.as_bytes()),
            KIND => {
                add(tag, value);
                let own = [(NUMBER, &number), (SENDING_TIME, &time)];
                own.into_iter().filter(|(own, _)| !has_field(message, *own)).for_each(|(own, value)| {
                    add(own, value.as_bytes());
                });
            }
            _ => add(tag, value),
        }
    }
    let from = out.len();
    out.extend_from_slice(b"8=");
    out.extend_from_slice(version);
    out.extend_from_slice(format!("\x019={}\x01", body.len()).as_bytes());
    out.extend_from_slice(&body);
    let sum = sum(&out[from..]);
    out.extend_from_slice(format!("10={sum:03}\x01").as_bytes());
}

fn sum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte))
}

/// Returns a time as FIX writes it: `20261127-10:00:00.000`. Days become a date as in Howard Hinnant's
/// `civil_from_days`, with years that begin in March.
fn utc(unix_ns: u64) -> String {
    let seconds = unix_ns / NANOS_PER_SECOND;
    let days = seconds / 86_400 + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let second = seconds % 86_400;
    let ms = unix_ns % NANOS_PER_SECOND / 1_000_000;
    format!("{year:04}{month:02}{day:02}-{:02}:{:02}:{:02}.{ms:03}", second / 3_600, second / 60 % 60, second % 60)
}

/// Progress within a message that is being received.
#[derive(Clone, Default, Debug)]
pub(super) struct FixReader {
    /// Tags 8 and 9, as far as they were received.
    head: Vec<u8>,
    /// Bytes of the body that are missing, once the length is known.
    missing: Option<u64>,
    sum: u8,
    trailer: Vec<u8>,
}

impl FixReader {
    /// Takes the bytes up to the end of the message, or all. Returns their number, and true at the end.
    ///
    /// # Errors
    /// [`Cause::BadMessage`] for a wrong beginning, length or checksum; [`Cause::MessageTooLarge`].
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<(usize, bool), Cause> {
        let mut taken = 0;
        while self.missing.is_none() {
            let Some(byte) = bytes.get(taken) else { return Ok((taken, false)) };
            taken += 1;
            self.head.push(*byte);
            self.missing = self.length()?;
        }
        if let Some(missing) = self.missing.as_mut().filter(|missing| **missing > 0) {
            let count = ((bytes.len() - taken) as u64).min(*missing) as usize;
            *missing -= count as u64;
            self.sum = self.sum.wrapping_add(sum(&bytes[taken..taken + count]));
            taken += count;
            if *missing > 0 {
                return Ok((taken, false));
            }
        }
        let count = (bytes.len() - taken).min(TRAILER - self.trailer.len());
        self.trailer.extend_from_slice(&bytes[taken..taken + count]);
        taken += count;
        if self.trailer.len() < TRAILER {
            return Ok((taken, false));
        }
        let expected = format!("10={:03}\x01", self.sum);
        if self.trailer == expected.as_bytes() { Ok((taken, true)) } else { Err(Cause::BadMessage) }
    }

    /// Returns the length of the body once the beginning is complete.
    fn length(&mut self) -> Result<Option<u64>, Cause> {
        let head = &self.head;
        let compared = head.len().min(2);
        if head[..compared] != b"8="[..compared] || head.len() > MAX_HEAD {
            return Err(Cause::BadMessage);
        }
        let mut fields = head.split(|byte| *byte == SOH);
        let (Some(_), Some(length), Some(_)) = (fields.next(), fields.next(), fields.next()) else { return Ok(None) };
        let digits = length.strip_prefix(b"9=").filter(|digits| digits.iter().all(u8::is_ascii_digit));
        let length = digits.and_then(|digits| std::str::from_utf8(digits).ok()?.parse::<u64>().ok());
        let length = length.filter(|length| *length > 0).ok_or(Cause::BadMessage)?;
        if length > MAX_MESSAGE {
            return Err(Cause::MessageTooLarge);
        }
        self.sum = sum(head);
        Ok(Some(length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(message: &[u8], number: u64) -> String {
        let mut out = Vec::new();
        put(message, number, 1_764_237_600_012_999_999, &mut out);
        String::from_utf8(out).unwrap().replace('\x01', "|")
    }

    #[test]
    fn a_message_gets_its_frame_and_its_number() {
        let logon = sent(b"35=A|49=ME|56=YOU|98=0|108=30|", 1);
        let body = "35=A|34=1|52=20251127-10:00:00.012|49=ME|56=YOU|98=0|108=30|";
        assert!(logon.starts_with(&format!("8=FIX.4.4|9={}|{body}10=", body.len())), "{logon}");
        let test = sent(b"8=FIX.4.2\x0135=1\x0149=A|B\x0134=\x0152=x\x01112=?\x01", 47);
        assert!(test.starts_with("8=FIX.4.2|9="), "{test}");
        assert!(test.contains("|35=1|49=A|B|34=47|52=20251127-10:00:00.012|112=47|10="), "{test}");
    }

    /// The example message of the standard's page on the checksum, with its SOH as bars.
    /// The longest version that may be sent is one that is read.
    #[test]
    fn a_long_version_is_refused() {
        let message = |length: usize| format!("8={}|35=D", "v".repeat(length)).into_bytes();
        assert_eq!(refuses(&message(MAX_VERSION)), None);
        assert!(refuses(&message(MAX_VERSION + 1)).is_some_and(|why| why.contains("tag 8 has 41 bytes")));
        let mut sent = Vec::new();
        put(&message(MAX_VERSION), 1, 0, &mut sent);
        assert_eq!(FixReader::default().feed(&sent), Ok((sent.len(), true)));
    }

    #[test]
    fn a_known_message_is_read_with_its_checksum() {
        let known = "8=FIX.4.2|9=178|35=8|49=PHLX|56=PERS|52=20071123-05:30:00.000|11=ATOMNOCCC9990900|20=3|150=E|39=E|55=MSFT|\
                     167=CS|54=1|38=15|40=2|44=15|58=PHLX EQUITY TESTING|59=0|47=C|32=0|31=0|151=15|14=0|6=0|10=128|";
        let known = known.replace('|', "\x01").into_bytes();
        for size in 1..=known.len() {
            let mut reader = FixReader::default();
            let ends: Vec<_> = known.chunks(size).map(|piece| reader.feed(piece).unwrap()).collect();
            let (last, before) = ends.split_last().unwrap();
            assert!(last.1 && before.iter().all(|end| !end.1), "by {size}");
        }
        for (at, byte) in [(30, b'9'), (known.len() - 2, b'9'), (0, b'9'), (12, b'x')] {
            let mut wrong = known.clone();
            wrong[at] = byte;
            assert_eq!(FixReader::default().feed(&wrong), Err(Cause::BadMessage), "{at}");
        }
        assert_eq!(value(&known, 11), Some(&b"ATOMNOCCC9990900"[..]));
        assert_eq!((value(&known, 1), value(&known, 112)), (None, None));
    }

    #[test]
    fn what_is_sent_can_be_read_and_what_is_endless_is_refused() {
        let mut out = Vec::new();
        put(b"35=0|58=\xff\xfe", 9, 0, &mut out);
        assert_eq!(FixReader::default().feed(&out), Ok((out.len(), true)));
        assert!(out.windows(21).any(|part| part == b"19700101-00:00:00.000"));
        assert_eq!(FixReader::default().feed(&[b"8=", &[b'F'; 100][..]].concat()), Err(Cause::BadMessage));
        assert_eq!(FixReader::default().feed(b"8=FIX.4.4\x019=999999999\x01"), Err(Cause::MessageTooLarge));
        assert_eq!(FixReader::default().feed(b"8=FIX.4.4\x019=0\x01"), Err(Cause::BadMessage));
        assert_eq!(FixReader::default().feed(b"8=FIX.4.4\x0135=A\x01"), Err(Cause::BadMessage));
    }

    #[test]
    fn messages_that_are_no_fix_are_refused() {
        assert_eq!(refuses(b"8=FIX.4.2|35=D|11=a|"), None);
        for (message, why) in [
            (&b""[..], "begins with its kind"),
            (b"49=A|35=D", "begins with its kind"),
            (b"35=D|hello", "'hello' is no field"),
            (b"35=D|x=1", "'x=1' is no field"),
            (b"35=D|9=5", "tag 9 is truetail's own"),
            (b"35=D|10=000", "tag 10 is truetail's own"),
        ] {
            assert!(refuses(message).unwrap_or_default().contains(why), "{}", message.escape_ascii());
        }
    }

    #[test]
    fn times_are_dates() {
        for (seconds, date) in [
            (951_782_400, "20000229-00:00:00.000"),
            (1_709_164_799, "20240228-23:59:59.000"),
            (4_102_444_799, "20991231-23:59:59.000"),
        ] {
            assert_eq!(utc(seconds * NANOS_PER_SECOND), date);
        }
    }
}
