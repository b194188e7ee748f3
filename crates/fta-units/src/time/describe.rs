//! Event times in words.

use jiff::civil::Date;

use super::calendar::{self, Season, Yearly};
use super::{DateInterval, EventTime, TimeBound};

impl EventTime {
    /// Says in words which days are meant: "7 May 2023", "the week of 1 May 2023", "summer 2022", "since 2016".
    ///
    /// An expression that could not be resolved is given as it was said.
    pub fn describe(&self) -> String {
        let Some(interval) = self.interval else {
            return self.text.clone();
        };
        let days = interval.describe();
        match self.bound {
            TimeBound::Within => days,
            TimeBound::Since => format!("since {days}"),
            TimeBound::Until => format!("until {days}"),
            TimeBound::Before => format!("before {days}"),
            TimeBound::After => format!("after {days}"),
        }
    }
}

impl DateInterval {
    /// Says in words which days these are: the shortest of the names that fit exactly.
    pub fn describe(self) -> String {
        let Self { first, last } = self;
        if first == last {
            return day(first);
        }
        if let Some(named) = self.calendar_name() {
            return named;
        }
        if first == first.first_of_month() && last == last.last_of_month() {
            if first.year() == last.year() {
                return format!("{} to {} {}", month(first), month(last), last.year());
            }
            return format!("{} {} to {} {}", month(first), first.year(), month(last), last.year());
        }
        match (first.year() == last.year(), first.month() == last.month()) {
            (true, true) => format!("{} to {}", first.day(), day(last)),
            (true, false) => format!("{} {} to {}", first.day(), month(first), day(last)),
            _ => format!("{} to {}", day(first), day(last)),
        }
    }

    fn calendar_name(self) -> Option<String> {
        let Self { first, last } = self;
        if calendar::week_of(first) == Some(self) {
            return Some(format!("the week of {}", day(first)));
        }
        if calendar::weekend_of(first) == Some(self) {
            return Some(format!("the weekend of {}", day(first)));
        }
        if calendar::month_of(first) == self {
            return Some(format!("{} {}", month(first), first.year()));
        }
        for (season, name) in [
            (Season::Spring, "spring"),
            (Season::Summer, "summer"),
            (Season::Autumn, "autumn"),
            (Season::Winter, "winter"),
        ] {
            if Yearly::Season(season).in_year(i64::from(first.year())) == Some(self) {
                let is_split = first.year() != last.year();
                let year = first.year();
                return Some(if is_split {
                    format!("{name} {year}/{}", last.year())
                } else {
                    format!("{name} {year}")
                });
            }
        }
        if first != first.first_of_year() || last != last.last_of_year() {
            return None;
        }
        if first.year() == last.year() {
            return Some(first.year().to_string());
        }
        if first.year() % 10 == 0 && last.year() - first.year() == 9 {
            return Some(format!("the {}s", first.year()));
        }
        Some(format!("{} to {}", first.year(), last.year()))
    }
}

fn day(date: Date) -> String {
    format!("{} {} {}", date.day(), month(date), date.year())
}

fn month(date: Date) -> String {
    date.strftime("%B").to_string()
}
