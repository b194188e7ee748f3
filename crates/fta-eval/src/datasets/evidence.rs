//! Tolerant reading of LoCoMo evidence: every match of `D:?(\d+):0*(\d+)` in every string.

/// A turn by session number and turn number.
pub(super) type TurnNumber = (u32, u32);

/// What an evidence string holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EvidenceText {
    /// Ids in text order.
    pub(super) ids: Vec<TurnNumber>,
    /// Whether every id is spelt as it should be (`D3:7`) and nothing but separators stands beside them.
    pub(super) clean: bool,
}

/// Reads an evidence string.
pub(super) fn read(text: &str) -> EvidenceText {
    let bytes = text.as_bytes();
    let (mut ids, mut clean) = (Vec::new(), true);
    let mut at = 0;
    while at < bytes.len() {
        if let Some((id, end, proper)) = id_at(bytes, at) {
            ids.push(id);
            clean &= proper;
            at = end;
        } else {
            clean &= matches!(bytes[at], b' ' | b';' | b',');
            at += 1;
        }
    }
    EvidenceText { ids, clean }
}

/// The single id of a turn (`D3:7`).
pub(super) fn turn_number(text: &str) -> Option<TurnNumber> {
    match read(text) {
        EvidenceText { ids, clean: true } if ids.len() == 1 => ids.first().copied(),
        _ => None,
    }
}

fn id_at(bytes: &[u8], start: usize) -> Option<(TurnNumber, usize, bool)> {
    if bytes[start] != b'D' {
        return None;
    }
    let colon = usize::from(bytes.get(start + 1) == Some(&b':'));
    let (session, middle) = digits(bytes, start + 1 + colon)?;
    if bytes.get(middle) != Some(&b':') {
        return None;
    }
    let (turn, end) = digits(bytes, middle + 1)?;
    let padded = bytes[middle + 1] == b'0' && end - middle > 2;
    Some(((session, turn), end, colon == 0 && !padded))
}

fn digits(bytes: &[u8], start: usize) -> Option<(u32, usize)> {
    let length = bytes[start.min(bytes.len())..].iter().take_while(|b| b.is_ascii_digit()).count();
    let number = std::str::from_utf8(&bytes[start..start + length]).ok()?.parse().ok()?;
    Some((number, start + length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, ids: &[TurnNumber], clean: bool) {
        assert_eq!(read(text), EvidenceText { ids: ids.to_vec(), clean }, "{text}");
    }

    #[test]
    fn spellings() {
        check("D3:7", &[(3, 7)], true);
        check("D8:6; D9:17", &[(8, 6), (9, 17)], true);
        check("D9:1 D4:4 D4:6", &[(9, 1), (4, 4), (4, 6)], true);
        check("D:11:26", &[(11, 26)], false);
        check("D30:05", &[(30, 5)], false);
        check("D3:0", &[(3, 0)], true);
        check("D", &[], false);
        check("", &[], true);
        check("D99999999999:1", &[], false);
        check("see D1:2é", &[(1, 2)], false);
    }

    #[test]
    fn only_a_single_clean_id_is_a_turn_number() {
        assert_eq!(turn_number("D3:7"), Some((3, 7)));
        assert_eq!(turn_number("D3:7 D3:8"), None);
        assert_eq!(turn_number("x"), None);
    }
}
