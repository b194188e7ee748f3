//! Small dialogues for the tests of these modules.

use fta_segment::{BoundaryCue, Fragment, Role, Session, SessionId, Turn, TurnSpan};
use jiff::civil::date;

use crate::unit::{
    AffectAnchor, Evidence, FactAnchor, Lifecycle, Provenance, Quote, SituationType, TimeAnchor, Unit,
    UnitId, UnitStatus,
};

/// A session of Iris and Paul in turn, on Wednesday, 8 May 2024.
pub(crate) fn session(texts: &[&str]) -> Session {
    let turn = |(index, text): (u32, &&str)| Turn {
        index,
        source_id: format!("s:{}", index + 1),
        speaker: ["Iris", "Paul"][index as usize % 2].to_owned(),
        role: Role::Peer,
        at: None,
        text: (*text).to_owned(),
        caption: None,
    };
    Session {
        id: SessionId::from("s"),
        started_at: Some(date(2024, 5, 8).at(10, 0, 0, 0)),
        turns: (0..).zip(texts).map(turn).collect(),
    }
}

pub(crate) fn fragment(start: u32, end: u32) -> Fragment {
    Fragment { span: TurnSpan::new(start, end), cue: BoundaryCue::TopicChange }
}

/// A unit of Paul that claims this.
pub(crate) fn unit(id: u64, claim: &str) -> Unit {
    Unit {
        id: UnitId(id),
        fact: FactAnchor {
            claim: claim.to_owned(),
            situation: SituationType::CurrentState,
            participants: vec!["Paul".to_owned()],
            ..FactAnchor::default()
        },
        time: TimeAnchor { said_at: Some(date(2024, 5, 8).at(10, 0, 0, 0)), ..TimeAnchor::default() },
        affect: AffectAnchor::default(),
        evidence: Evidence {
            session: SessionId::from("s"),
            turns: TurnSpan::new(0, 1),
            quotes: vec![Quote { turn: 0, start: 0, end: 1 }],
        },
        status: UnitStatus::Complete,
        provenance: Provenance::default(),
        lifecycle: Lifecycle::default(),
    }
}
