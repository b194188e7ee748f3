//! Words that name times: months, weekdays, seasons, units, numbers, holidays.

use jiff::civil::Weekday;

use super::calendar::{Holiday, Season, Unit};

/// A weekday by its full name, singular.
pub(super) fn weekday(word: &str) -> Option<Weekday> {
    Some(match word {
        "monday" => Weekday::Monday,
        "tuesday" => Weekday::Tuesday,
        "wednesday" => Weekday::Wednesday,
        "thursday" => Weekday::Thursday,
        "friday" => Weekday::Friday,
        "saturday" => Weekday::Saturday,
        "sunday" => Weekday::Sunday,
        _ => return None,
    })
}

/// A weekday by its short name.
pub(super) fn short_weekday(word: &str) -> Option<Weekday> {
    Some(match word {
        "mon" => Weekday::Monday,
        "tue" | "tues" => Weekday::Tuesday,
        "wed" | "weds" => Weekday::Wednesday,
        "thu" | "thur" | "thurs" => Weekday::Thursday,
        "fri" => Weekday::Friday,
        "sat" => Weekday::Saturday,
        "sun" => Weekday::Sunday,
        _ => return None,
    })
}

/// A month by its full name, 1 to 12.
pub(super) fn month(word: &str) -> Option<i8> {
    Some(match word {
        "january" => 1,
        "february" => 2,
        "march" => 3,
        "april" => 4,
        "may" => 5,
        "june" => 6,
        "july" => 7,
        "august" => 8,
        "september" => 9,
        "october" => 10,
        "november" => 11,
        "december" => 12,
        _ => return None,
    })
}

/// A month by its short name, 1 to 12.
pub(super) fn short_month(word: &str) -> Option<i8> {
    Some(match word {
        "jan" => 1,
        "feb" => 2,
        "mar" => 3,
        "apr" => 4,
        "jun" => 6,
        "jul" => 7,
        "aug" => 8,
        "sep" | "sept" => 9,
        "oct" => 10,
        "nov" => 11,
        "dec" => 12,
        _ => return None,
    })
}

/// Whether a month's name is also a common word or first name.
pub(super) fn month_is_ambiguous(month: i8) -> bool {
    matches!(month, 3..=6 | 8)
}

/// A season, singular.
pub(super) fn season(word: &str) -> Option<Season> {
    Some(match word {
        "spring" | "springtime" => Season::Spring,
        "summer" | "summertime" => Season::Summer,
        "fall" | "autumn" => Season::Autumn,
        "winter" | "wintertime" => Season::Winter,
        _ => return None,
    })
}

/// A unit of time, singular or plural; parts of the day count as days.
pub(super) fn unit(word: &str) -> Option<Unit> {
    Some(match word {
        "second" | "seconds" | "minute" | "minutes" | "mins" | "min" | "hour" | "hours" | "hrs" => {
            Unit::Moment
        }
        "day" | "days" | "night" | "nights" | "morning" | "mornings" | "afternoon" | "afternoons"
        | "evening" | "evenings" => Unit::Day,
        "weekend" | "weekends" => Unit::Weekend,
        "week" | "weeks" | "wk" | "wks" => Unit::Week,
        "fortnight" | "fortnights" => Unit::Fortnight,
        "month" | "months" => Unit::Month,
        "year" | "years" | "yr" | "yrs" => Unit::Year,
        "decade" | "decades" => Unit::Decade,
        "century" | "centuries" => Unit::Century,
        _ => {
            if let Some(found) = weekday(word).or_else(|| weekday(word.strip_suffix('s')?)) {
                return Some(Unit::Weekday(found));
            }
            return season(word).or_else(|| season(word.strip_suffix('s')?)).map(Unit::Season);
        }
    })
}

/// Whether a unit's word is plural.
pub(super) fn is_plural(word: &str) -> bool {
    word.ends_with('s') && unit(word).is_some()
}

/// A part of the day.
pub(super) fn day_part(word: &str) -> bool {
    matches!(
        word,
        "morning" | "afternoon" | "evening" | "night" | "noon" | "midday" | "lunchtime" | "midnight"
    )
}

/// A number word up to ninety; tens and units are joined by the grammar.
pub(super) fn number(word: &str) -> Option<i64> {
    Some(match word {
        "one" => 1,
        "two" => 2,
        "three" => 3,
        "four" => 4,
        "five" => 5,
        "six" => 6,
        "seven" => 7,
        "eight" => 8,
        "nine" => 9,
        "ten" => 10,
        "eleven" => 11,
        "twelve" => 12,
        "thirteen" => 13,
        "fourteen" => 14,
        "fifteen" => 15,
        "sixteen" => 16,
        "seventeen" => 17,
        "eighteen" => 18,
        "nineteen" => 19,
        "twenty" => 20,
        "thirty" => 30,
        "forty" => 40,
        "fifty" => 50,
        "sixty" => 60,
        "seventy" => 70,
        "eighty" => 80,
        "ninety" => 90,
        _ => return None,
    })
}

/// An ordinal word up to thirtieth.
pub(super) fn ordinal(word: &str) -> Option<i64> {
    Some(match word {
        "first" => 1,
        "second" => 2,
        "third" => 3,
        "fourth" => 4,
        "fifth" => 5,
        "sixth" => 6,
        "seventh" => 7,
        "eighth" => 8,
        "ninth" => 9,
        "tenth" => 10,
        "eleventh" => 11,
        "twelfth" => 12,
        "thirteenth" => 13,
        "fourteenth" => 14,
        "fifteenth" => 15,
        "sixteenth" => 16,
        "seventeenth" => 17,
        "eighteenth" => 18,
        "nineteenth" => 19,
        "twentieth" => 20,
        "thirtieth" => 30,
        _ => return None,
    })
}

/// A decade by its word ("nineties"): first year.
pub(super) fn decade(word: &str) -> Option<i64> {
    Some(match word {
        "twenties" => 20,
        "thirties" => 30,
        "forties" => 40,
        "fifties" => 50,
        "sixties" => 60,
        "seventies" => 70,
        "eighties" => 80,
        "nineties" => 90,
        _ => return None,
    })
}

/// A holiday that begins with these words (possessive `'s` kept), and how many words it takes.
pub(super) fn holiday(words: [&str; 3]) -> Option<(Holiday, usize)> {
    let [first, second, third] = words;
    Some(match (first, second, third) {
        ("christmas" | "xmas", "eve", _) => (Holiday::Fixed(12, 24), 2),
        ("christmas" | "xmas", "day", _) => (Holiday::Fixed(12, 25), 2),
        ("christmas" | "xmas" | "christmastime", ..) => (Holiday::Fixed(12, 25), 1),
        ("new", "year's" | "years" | "year", "eve") => (Holiday::Fixed(12, 31), 3),
        ("new", "year's" | "years", "day") => (Holiday::Fixed(1, 1), 3),
        ("new", "year's", _) => (Holiday::Fixed(1, 1), 2),
        ("halloween", ..) => (Holiday::Fixed(10, 31), 1),
        ("valentine's" | "valentines", "day", _) => (Holiday::Fixed(2, 14), 2),
        ("valentine's", ..) => (Holiday::Fixed(2, 14), 1),
        ("thanksgiving", "day", _) => (Holiday::NthWeekday(11, 4, Weekday::Thursday), 2),
        ("thanksgiving", ..) => (Holiday::NthWeekday(11, 4, Weekday::Thursday), 1),
        ("black", "friday", _) => (Holiday::BlackFriday, 2),
        ("good", "friday", _) => (Holiday::Easter(-2), 2),
        ("easter", "monday", _) => (Holiday::Easter(1), 2),
        ("easter", "sunday", _) => (Holiday::Easter(0), 2),
        ("easter", ..) => (Holiday::Easter(0), 1),
        ("independence", "day", _) => (Holiday::Fixed(7, 4), 2),
        ("labor" | "labour", "day", _) => (Holiday::NthWeekday(9, 1, Weekday::Monday), 2),
        ("memorial", "day", _) => (Holiday::NthWeekday(5, -1, Weekday::Monday), 2),
        ("mother's" | "mothers", "day", _) => (Holiday::NthWeekday(5, 2, Weekday::Sunday), 2),
        ("father's" | "fathers", "day", _) => (Holiday::NthWeekday(6, 3, Weekday::Sunday), 2),
        ("veterans", "day", _) => (Holiday::Fixed(11, 11), 2),
        ("boxing", "day", _) => (Holiday::Fixed(12, 26), 2),
        ("earth", "day", _) => (Holiday::Fixed(4, 22), 2),
        ("juneteenth", ..) => (Holiday::Fixed(6, 19), 1),
        _ => return None,
    })
}

/// Nouns that make a season or holiday before them a mere adjective ("summer camp", "Christmas tree").
pub(super) fn is_thing_of_season(word: &str) -> bool {
    matches!(
        word.strip_suffix('s').unwrap_or(word),
        "camp"
            | "school"
            | "job"
            | "house"
            | "home"
            | "dres"
            | "dress"
            | "clothe"
            | "coat"
            | "jacket"
            | "olympic"
            | "game"
            | "program"
            | "programme"
            | "internship"
            | "course"
            | "reading"
            | "tree"
            | "card"
            | "gift"
            | "present"
            | "movie"
            | "song"
            | "carol"
            | "music"
            | "decoration"
            | "light"
            | "spirit"
            | "costume"
            | "candy"
            | "sweater"
            | "cookie"
            | "ornament"
            | "list"
            | "market"
            | "egg"
            | "bunny"
            | "resolution"
            | "sport"
            | "wedding"
            | "collection"
            | "cleaning"
            | "roll"
            | "water"
            | "solstice"
            | "vibe"
            | "fling"
            | "fair"
            | "onion"
    )
}

/// Nouns that make a number before them a count, not a year or a day ("in 2000 people").
pub(super) fn is_counted(word: &str) -> bool {
    matches!(
        word,
        "people" | "men" | "women" | "children" | "percent" | "feet" | "km" | "kg" | "usd" | "bucks" | "k"
    ) || (word.len() > 4
        && word.ends_with('s')
        && !word.ends_with("'s")
        && !word.ends_with("ss")
        && !matches!(
            word,
            "always" | "sometimes" | "perhaps" | "besides" | "across" | "towards" | "afterwards"
        ))
}

/// Prepositions and the like after which a bare year or month name is a time.
pub(super) fn is_time_preposition(word: &str) -> bool {
    matches!(
        word,
        "in" | "since"
            | "of"
            | "by"
            | "until"
            | "till"
            | "til"
            | "from"
            | "during"
            | "before"
            | "after"
            | "around"
            | "circa"
            | "through"
            | "throughout"
            | "early"
            | "mid"
            | "late"
            | "year"
    )
}

/// Words that carry on a sentence after a complete time expression ("on the 5th we left").
pub(super) fn is_function_word(word: &str) -> bool {
    matches!(
        word,
        "and"
            | "or"
            | "but"
            | "so"
            | "because"
            | "when"
            | "while"
            | "with"
            | "at"
            | "in"
            | "for"
            | "to"
            | "from"
            | "after"
            | "before"
            | "since"
            | "that"
            | "this"
            | "i"
            | "i'm"
            | "i'll"
            | "i've"
            | "we"
            | "we're"
            | "we'll"
            | "he"
            | "she"
            | "it"
            | "it's"
            | "they"
            | "you"
            | "my"
            | "our"
            | "his"
            | "her"
            | "their"
            | "the"
            | "a"
            | "an"
            | "is"
            | "was"
            | "are"
            | "were"
            | "will"
            | "if"
            | "then"
            | "until"
            | "by"
            | "which"
            | "where"
            | "as"
            | "about"
            | "there"
            | "there's"
    )
}

/// Articles and possessives that begin a noun phrase.
pub(super) fn is_determiner(word: &str) -> bool {
    matches!(
        word,
        "my" | "our" | "your" | "his" | "her" | "their" | "its" | "the" | "a" | "an" | "that" | "this"
    ) || word.ends_with("'s")
}
