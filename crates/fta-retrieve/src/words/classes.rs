//! Closed word classes. Every test takes a normalised word: lower case, straight apostrophes, no possessive.

use std::sync::LazyLock;

/// Whether `word` stands in a list of words parted by white space.
pub(crate) fn listed(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|w| w == word)
}

/// Whether a word carries no content of its own.
pub(crate) fn is_stop(word: &str) -> bool {
    static SORTED: LazyLock<Vec<&str>> = LazyLock::new(|| {
        let mut words: Vec<&str> = STOP.split_whitespace().collect();
        words.sort_unstable();
        words
    });
    SORTED.binary_search(&word).is_ok()
}

const STOP: &str = "a about am an and any are as at be been being but by can can't could couldn't did didn't do does \
doesn't doing don't for from get gets getting got had hadn't has hasn't have haven't having he he'd he's her here hers \
him his how i i'd i'll i'm i've if in into is isn't it it's its just let let's may me might mine must my no not of off \
oh on or our ours out over own please really she she'd she's should shouldn't so some such than that that's the their \
theirs them then there there's these they they'd they'll they're they've this those to too um up upon us very was \
wasn't we we'd we'll we're we've were weren't what what's when where which who who's whom whose why will with won't \
would wouldn't yeah yes you you'd you'll you're you've your yours";

/// Whether a word is an auxiliary or modal verb.
pub(crate) fn is_auxiliary(word: &str) -> bool {
    const AUXILIARIES: &str = "am is are was were be been do does did has have had can could will would shall should may \
        might must isn't aren't wasn't weren't don't doesn't didn't hasn't haven't hadn't can't couldn't won't wouldn't \
        shouldn't";
    listed(AUXILIARIES, word)
}

/// Whether a word negates.
pub(crate) fn is_negation(word: &str) -> bool {
    listed("no not never nobody nothing none neither nor without cannot", word) || word.ends_with("n't")
}

/// Whether a word is a form of the first person singular.
pub(crate) fn is_first_person(word: &str) -> bool {
    listed("i me my mine myself i'm i've i'd i'll", word)
}

/// Whether a word is a form of the first person, plural included.
pub(crate) fn is_first_person_any(word: &str) -> bool {
    is_first_person(word) || listed("we us our ours we're we've we'd we'll ourselves", word)
}

/// Whether a word names a relative, partner, friend, colleague or helper, in the singular or plural.
pub(crate) fn is_kin(word: &str) -> bool {
    const KIN: &str = "mother father mom mum mama dad papa parent sister brother sibling son daughter kid child children \
        husband wife partner spouse boyfriend girlfriend fiance fianc\u{e9} fianc\u{e9}e aunt auntie uncle cousin niece \
        nephew grandma grandmother grandpa grandfather granny grandparent grandson granddaughter friend roommate flatmate \
        neighbour neighbor colleague coworker co-worker teammate boss manager teacher coach mentor therapist counsellor \
        counselor doctor classmate family relative stepmother stepfather stepmom stepdad in-law mother-in-law \
        father-in-law supervisor landlord ex bestie pal buddy team";
    listed(KIN, word) || (word.len() > 4 && word.strip_suffix('s').is_some_and(|w| listed(KIN, w)))
}

/// Whether a word names a weekday, month or great holiday.
pub(crate) fn is_calendar(word: &str) -> bool {
    const DAYS: &str =
        "monday tuesday wednesday thursday friday saturday sunday christmas easter thanksgiving halloween";
    is_month(word) || listed(DAYS, word)
}

/// Whether a word names a month.
pub(crate) fn is_month(word: &str) -> bool {
    const MONTHS: &str = "january february march april may june july august september october november december jan feb \
        aug sept oct nov dec";
    listed(MONTHS, word)
}

/// Whether a word is a number in words or digits.
pub(crate) fn is_number(word: &str) -> bool {
    const NUMBERS: &str = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen \
        seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million dozen";
    word.starts_with(|c: char| c.is_ascii_digit()) || listed(NUMBERS, word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_hold_their_words() {
        assert!(is_stop("the") && is_stop("won't") && !is_stop("garden"));
        assert!(is_kin("sisters") && is_kin("boss") && !is_kin("s"));
        assert!(is_number("3rd") && is_number("dozen") && !is_number("often"));
        assert!(is_negation("hasn't") && !is_negation("note"));
    }
}
