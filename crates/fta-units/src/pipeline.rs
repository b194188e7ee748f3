//! From fragments to final candidate units over one session: carry-over, fusion and repair (Eq. 3-5).

use std::sync::Arc;

use fta_segment::{Fragment, Session, SessionId, TurnSpan};

use crate::{
    extract::{ExtractError, Extraction, ExtractionInput, UnitExtractor},
    unit::{CandidateUnit, Quote, UnitStatus},
};

/// Settings of [`UnitPipeline`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PipelineSettings {
    /// How many fragments a partial unit is carried to before it becomes final as it is; 0 carries none.
    pub max_carries: u32,
}

impl Default for PipelineSettings {
    fn default() -> Self {
        Self { max_carries: 2 }
    }
}

/// What was wrong in an extractor's answer, and what was done about it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Repair {
    /// A unit without a claim was dropped.
    EmptyClaim,
    /// A unit whose evidence lies outside the fragment altogether was dropped.
    Ungrounded {
        /// Its span.
        turns: TurnSpan,
    },
    /// A span was turned round.
    SpanReversed {
        /// As it was given.
        turns: TurnSpan,
    },
    /// A span was cut to what had been said in the fragment or carried unit.
    SpanClamped {
        /// As it was given.
        turns: TurnSpan,
    },
    /// A span that was empty or outside was taken from the quotes, which were good.
    SpanFromQuotes {
        /// As it was given.
        turns: TurnSpan,
    },
    /// A quote was turned round.
    QuoteReversed {
        /// As it was given.
        quote: Quote,
    },
    /// A quote outside the evidence or its turn, empty, or not on character boundaries was removed.
    QuoteRemoved {
        /// As it was given.
        quote: Quote,
    },
    /// No quote was left; the whole turns were quoted.
    QuotesFilled,
    /// The session of the evidence was set right.
    SessionSet {
        /// As it was given.
        session: SessionId,
    },
    /// A fusion that names a unit that is not there, or one that is fused already, was ignored.
    FusionIgnored {
        /// As it was given: index in the carried units, index in the new units.
        pair: (usize, usize),
    },
    /// A fused unit had left out the carried unit's evidence, which was added.
    EvidenceJoined,
    /// A fragment reached past the session and was cut.
    FragmentClamped {
        /// As it was given.
        turns: TurnSpan,
    },
}

/// A repair and where it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepairNote {
    /// The session.
    pub session: SessionId,
    /// The fragment.
    pub fragment: TurnSpan,
    /// Index of the unit in the extractor's answer, where it concerns one.
    pub unit: Option<usize>,
    /// What was done.
    pub repair: Repair,
}

impl std::fmt::Display for RepairNote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "fragment `{}` of session `{}`", self.fragment, self.session)?;
        if let Some(unit) = self.unit {
            write!(f, ", unit `{unit}`")?;
        }
        write!(f, ": {:?}", self.repair)
    }
}

#[derive(Debug, Clone)]
struct Carried {
    unit: CandidateUnit,
    /// Number of fragments that it has been carried to.
    carries: u32,
}

/// Runs an extractor over the fragments of one session, in order.
///
/// What comes out is final, in text order within a step, and sound: non-empty claim, span inside what was said so far,
/// quotes inside the span on character boundaries, whatever the extractor answered. Partial units come out once a
/// later fragment completed them, once they have been carried [`PipelineSettings::max_carries`] times, or at
/// [`UnitPipeline::finish`]; none is lost.
/// # Source
/// Eq. 3-5; spec sections 9.3 and 9.4.
pub struct UnitPipeline {
    extractor: Arc<dyn UnitExtractor>,
    settings: PipelineSettings,
    carried: Vec<Carried>,
    notes: Vec<RepairNote>,
}

impl std::fmt::Debug for UnitPipeline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UnitPipeline")
            .field("extractor", &self.extractor.id())
            .field("settings", &self.settings)
            .field("carried", &self.carried.len())
            .finish_non_exhaustive()
    }
}

impl UnitPipeline {
    /// A pipeline that carries nothing yet.
    pub fn new(extractor: Arc<dyn UnitExtractor>, settings: PipelineSettings) -> Self {
        Self { extractor, settings, carried: Vec::new(), notes: Vec::new() }
    }

    /// Extracts from the next fragment and returns the units that became final, in text order.
    ///
    /// # Errors
    /// [`ExtractError`] of the extractor; nothing has changed then, and the step can be tried again.
    pub async fn step(
        &mut self,
        session: &Session,
        fragment: Fragment,
    ) -> Result<Vec<CandidateUnit>, ExtractError> {
        let extractor = self.extractor.clone();
        self.step_with(&*extractor, session, &[fragment]).await
    }

    /// Extracts from the next fragments, which tile a span, as one, with this extractor instead of the pipeline's own.
    ///
    /// Units carried from another session, if that was not finished, come out first as partial.
    ///
    /// # Errors
    /// [`ExtractError`] of the extractor; nothing has changed then, and the step can be tried again.
    pub async fn step_with(
        &mut self,
        extractor: &dyn UnitExtractor,
        session: &Session,
        fragments: &[Fragment],
    ) -> Result<Vec<CandidateUnit>, ExtractError> {
        let Some(fragment) = whole(fragments) else { return Ok(Vec::new()) };
        let (mine, others): (Vec<Carried>, Vec<Carried>) =
            self.carried.iter().cloned().partition(|c| c.unit.evidence.session == session.id);
        let end = fragment.span.end.min(session.turns.len() as u32);
        let span = TurnSpan::new(fragment.span.start.min(end), end);
        let mut repairs = Repairs { session: &session.id, fragment: span, notes: Vec::new() };
        if span != fragment.span {
            repairs.note(None, Repair::FragmentClamped { turns: fragment.span });
        }
        let carried: Vec<CandidateUnit> = mine.iter().map(|c| c.unit.clone()).collect();
        let extraction = if span.is_empty() {
            Extraction::default()
        } else {
            let input = ExtractionInput {
                session,
                fragment: Fragment { span, cue: fragment.cue },
                parts: fragments,
                carried: &carried,
            };
            extractor.extract(input).await?
        };
        let mut done: Vec<CandidateUnit> = others.into_iter().map(|c| c.unit).collect();
        sort(&mut done);
        let (mut fresh, kept) = self.settle(session, mine, extraction, &mut repairs);
        done.append(&mut fresh);
        self.carried = kept;
        self.notes.append(&mut repairs.notes);
        Ok(done)
    }

    /// Ends the session: the units that are still carried become final as partial, in text order.
    pub fn finish(&mut self) -> Vec<CandidateUnit> {
        let mut units: Vec<CandidateUnit> =
            std::mem::take(&mut self.carried).into_iter().map(|c| c.unit).collect();
        sort(&mut units);
        units
    }

    /// Carries a unit of an earlier fragment to the next one, as partial whatever it was.
    pub fn carry(&mut self, unit: CandidateUnit) {
        self.carried
            .push(Carried { unit: CandidateUnit { status: UnitStatus::Partial, ..unit }, carries: 0 });
    }

    /// The units that are carried to the next fragment, oldest first.
    pub fn carried(&self) -> impl ExactSizeIterator<Item = &CandidateUnit> {
        self.carried.iter().map(|c| &c.unit)
    }

    /// Takes out the notes on what had to be repaired so far, in order.
    pub fn take_notes(&mut self) -> Vec<RepairNote> {
        std::mem::take(&mut self.notes)
    }

    /// Splits repaired new units and the carried ones into those that are final and those to carry on.
    fn settle(
        &self,
        session: &Session,
        carried: Vec<Carried>,
        extraction: Extraction,
        repairs: &mut Repairs<'_>,
    ) -> (Vec<CandidateUnit>, Vec<Carried>) {
        let partners = partners(&carried, &extraction, repairs);
        let mut fused = vec![false; carried.len()];
        let mut all: Vec<Carried> = Vec::new();
        for (idx, unit) in extraction.units.into_iter().enumerate() {
            let parts: Vec<&Carried> = partners[idx].iter().map(|c| &carried[*c]).collect();
            let Some(unit) = repairs.unit(session, idx, unit, &parts) else { continue };
            // A fused unit is as old as its oldest part, or it could be carried for ever.
            let carries = parts.iter().map(|c| c.carries + 1).max().unwrap_or(0);
            all.push(Carried { unit, carries });
            for c in &partners[idx] {
                fused[*c] = true;
            }
        }
        let waiting = carried.into_iter().zip(fused).filter(|(_, fused)| !fused);
        let mut waiting: Vec<Carried> =
            waiting.map(|(c, _)| Carried { carries: c.carries + 1, ..c }).collect();
        waiting.append(&mut all);
        let (keep, done): (Vec<Carried>, Vec<Carried>) = waiting
            .into_iter()
            .partition(|c| c.unit.status == UnitStatus::Partial && c.carries < self.settings.max_carries);
        let mut done: Vec<CandidateUnit> = done.into_iter().map(|c| c.unit).collect();
        sort(&mut done);
        (done, keep)
    }
}

/// Neighbouring fragments as one; it ends as the last one does.
fn whole(fragments: &[Fragment]) -> Option<Fragment> {
    let (first, last) = (fragments.first()?, fragments.last()?);
    Some(Fragment { span: first.span.cover(last.span), cue: last.cue })
}

/// Puts neighbouring fragments into groups of at most `max_turns` turns, in order; a longer one is alone, and with 0
/// each is.
pub fn group(fragments: &[Fragment], max_turns: usize) -> Vec<&[Fragment]> {
    let mut groups = Vec::new();
    let mut start = 0;
    for end in 1..=fragments.len() {
        let turns = |range: &[Fragment]| range.iter().map(|f| f.span.len()).sum::<usize>();
        if end == fragments.len() || turns(&fragments[start..=end]) > max_turns {
            groups.push(&fragments[start..end]);
            start = end;
        }
    }
    groups
}

/// Text order: by the start of the evidence, then by the quotes.
fn sort(units: &mut [CandidateUnit]) {
    units.sort_by_cached_key(|u| {
        let quotes: Vec<(u32, u32, u32)> =
            u.evidence.quotes.iter().map(|q| (q.turn, q.start, q.end)).collect();
        (u.evidence.turns.start, quotes, u.evidence.turns.end)
    });
}

/// For each new unit, the carried units that it is fused with.
fn partners(carried: &[Carried], extraction: &Extraction, repairs: &mut Repairs<'_>) -> Vec<Vec<usize>> {
    let mut partners = vec![Vec::new(); extraction.units.len()];
    let mut taken = vec![false; carried.len()];
    for pair in &extraction.fused {
        let (old, new) = *pair;
        match (taken.get_mut(old), partners.get_mut(new)) {
            (Some(taken), Some(partners)) if !*taken => {
                *taken = true;
                partners.push(old);
            }
            _ => repairs.note(Some(new), Repair::FusionIgnored { pair: *pair }),
        }
    }
    partners
}

/// Collects notes while units are repaired.
struct Repairs<'a> {
    session: &'a SessionId,
    fragment: TurnSpan,
    notes: Vec<RepairNote>,
}

impl Repairs<'_> {
    fn note(&mut self, unit: Option<usize>, repair: Repair) {
        self.notes.push(RepairNote { session: self.session.clone(), fragment: self.fragment, unit, repair });
    }

    /// The unit with sound evidence, or `None` if it says nothing or rests on nothing.
    fn unit(
        &mut self,
        session: &Session,
        idx: usize,
        mut unit: CandidateUnit,
        parts: &[&Carried],
    ) -> Option<CandidateUnit> {
        if unit.fact.claim.trim().is_empty() {
            self.note(Some(idx), Repair::EmptyClaim);
            return None;
        }
        if unit.evidence.session != session.id {
            let given = std::mem::replace(&mut unit.evidence.session, session.id.clone());
            self.note(Some(idx), Repair::SessionSet { session: given });
        }
        let allowed = parts.iter().fold(self.fragment, |span, c| span.cover(c.unit.evidence.turns));
        for quote in &mut unit.evidence.quotes {
            if quote.end < quote.start {
                self.note(Some(idx), Repair::QuoteReversed { quote: *quote });
                (quote.start, quote.end) = (quote.end, quote.start);
            }
        }
        let mut turns = self.span(idx, &unit, allowed, session)?;
        if parts.iter().any(|c| turns.cover(c.unit.evidence.turns) != turns) {
            self.note(Some(idx), Repair::EvidenceJoined);
            for part in parts {
                turns = turns.cover(part.unit.evidence.turns);
                unit.evidence.quotes.extend(&part.unit.evidence.quotes);
            }
        }
        unit.evidence.turns = turns;
        self.quotes(idx, &mut unit, session);
        Some(unit)
    }

    /// The span of the unit's evidence, inside `allowed`.
    fn span(
        &mut self,
        idx: usize,
        unit: &CandidateUnit,
        allowed: TurnSpan,
        session: &Session,
    ) -> Option<TurnSpan> {
        let given = unit.evidence.turns;
        let mut span = given;
        if span.end < span.start {
            self.note(Some(idx), Repair::SpanReversed { turns: given });
            span = TurnSpan::new(span.end, span.start);
        }
        let inside = TurnSpan::new(span.start.max(allowed.start), span.end.min(allowed.end));
        if !inside.is_empty() {
            if inside != span {
                self.note(Some(idx), Repair::SpanClamped { turns: given });
            }
            return Some(inside);
        }
        let good = unit.evidence.quotes.iter().filter(|q| is_sound(**q, allowed, session));
        let cover = good.map(|q| TurnSpan::new(q.turn, q.turn + 1)).reduce(TurnSpan::cover);
        match cover {
            Some(_) => self.note(Some(idx), Repair::SpanFromQuotes { turns: given }),
            None => self.note(Some(idx), Repair::Ungrounded { turns: given }),
        }
        cover
    }

    /// Removes unsound quotes, orders the rest, and quotes the whole turns if none is left.
    fn quotes(&mut self, idx: usize, unit: &mut CandidateUnit, session: &Session) {
        let turns = unit.evidence.turns;
        let given = std::mem::take(&mut unit.evidence.quotes);
        for quote in given {
            if is_sound(quote, turns, session) {
                unit.evidence.quotes.push(quote);
            } else {
                self.note(Some(idx), Repair::QuoteRemoved { quote });
            }
        }
        let quotes = &mut unit.evidence.quotes;
        quotes.sort_by_key(|q| (q.turn, q.start, q.end));
        quotes.dedup();
        if quotes.is_empty() {
            self.note(Some(idx), Repair::QuotesFilled);
            let whole = |turn: u32| {
                let len = session.turns.get(turn as usize).map_or(0, |t| t.text.len());
                Quote { turn, start: 0, end: len as u32 }
            };
            quotes.extend(turns.range().map(whole).filter(|q| q.end > 0));
            // Turns of pictures alone have no text; one empty quote still names the place.
            if quotes.is_empty() {
                quotes.push(whole(turns.start));
            }
        }
    }
}

fn is_sound(quote: Quote, turns: TurnSpan, session: &Session) -> bool {
    let text = session.turns.get(quote.turn as usize).map(|t| t.text.as_str());
    turns.contains(quote.turn)
        && quote.start < quote.end
        && text.is_some_and(|t| t.get(quote.start as usize..quote.end as usize).is_some())
}

#[cfg(test)]
mod tests;
