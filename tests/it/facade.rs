//! Ingest, running sessions, separation of users, correction, export and import.

use fta_mem::{Correction, Error, IngestOutcome, ListFilter, RetrieveOptions, units::UnitId};

use crate::support::{export, in_memory, open, session, three_sessions, user};

#[tokio::test(flavor = "multi_thread")]
async fn a_second_ingest_changes_nothing() {
    let memory = in_memory();
    let ines = user(&memory, "ines");
    for s in &three_sessions() {
        assert_eq!(ines.ingest(s).await.unwrap().outcome, IngestOutcome::Added);
    }
    let before = export(&ines);
    for s in &three_sessions() {
        assert_eq!(ines.ingest(s).await.unwrap().outcome, IngestOutcome::Unchanged);
    }
    assert_eq!(export(&ines), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_session_replaces_its_units_and_no_others() {
    let memory = in_memory();
    let ines = user(&memory, "ines");
    let sessions = three_sessions();
    for s in &sessions {
        ines.ingest(s).await.unwrap();
    }
    let others = |session: &str| {
        let mut units = ines.list(&ListFilter::default());
        units.retain(|u| u.evidence.session.0 != session);
        units.into_iter().map(|u| (u.id, u.fact)).collect::<Vec<_>>()
    };
    let before = others("s2");
    let mut changed = sessions[1].clone();
    changed.turns[2].text = "I am furious. They want me to stay on nights until autumn.".to_owned();
    let report = ines.ingest(&changed).await.unwrap();
    assert_eq!(report.outcome, IngestOutcome::Replaced);
    assert_eq!(others("s2"), before);
    let text = export(&ines);
    assert!(text.contains("furious") && !text.contains("so relieved"));
    for link in ines.links() {
        assert!(ines.show(link.from).is_ok() && ines.show(link.to).is_ok(), "link to a unit that is gone");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replaced_session_still_closes_what_it_updates() {
    let ines = user(&in_memory(), "ines");
    ines.ingest(&session("s1", "2024-03-04", &["I live in a flat in Porto with my sister Ada."]))
        .await
        .unwrap();
    let text = "I no longer live in the flat in Porto with my sister Ada.";
    let closed = |ines: &fta_mem::UserMemory| {
        let units = ines.list(&ListFilter::default());
        let newer = units.iter().find(|u| u.evidence.session.0 == "s2").unwrap().id;
        let older = units.iter().find(|u| u.evidence.session.0 == "s1").unwrap();
        older.lifecycle.superseded_by == Some(newer)
    };
    ines.ingest(&session("s2", "2024-05-06", &[text])).await.unwrap();
    assert!(closed(&ines));
    ines.ingest(&session("s2", "2024-05-06", &[text, "Where do you live then?"])).await.unwrap();
    assert!(closed(&ines), "the new version of the session updates the older unit as well");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_arrives_turn_by_turn_ends_as_the_same_units() {
    let (whole, running) = (in_memory(), in_memory());
    let (whole, running) = (user(&whole, "ines"), user(&running, "ines"));
    for s in &three_sessions() {
        let expected = whole.ingest(s).await.unwrap();
        let mut session = running.begin(s.id.clone(), s.started_at).unwrap();
        for turn in &s.turns {
            session.push(turn.clone()).await.unwrap();
            assert_eq!(running.sessions().last().unwrap().session.turns.last().unwrap().text, turn.text);
        }
        let report = session.finish().await.unwrap();
        assert_eq!((report.units, report.fragments), (expected.units, expected.fragments));
    }
    let claims =
        |text: String| text.lines().filter(|l| l.contains("\"unit\"")).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(claims(export(&running)), claims(export(&whole)));
}

#[tokio::test(flavor = "multi_thread")]
async fn users_cannot_see_each_other() {
    let directory = tempfile::tempdir().unwrap();
    let memory = open(directory.path());
    let (ines, other) = (user(&memory, "ines"), user(&memory, "ines "));
    ines.ingest(&three_sessions()[0]).await.unwrap();
    other.ingest(&session("s1", "2024-01-01", &["I keep bees on the roof."])).await.unwrap();
    let packet =
        other.retrieve("Where does Ines work as a nurse?", &RetrieveOptions::default()).await.unwrap();
    assert!(!packet.render().contains("Marienhof"));
    assert!(!export(&ines).contains("bees"));
    other.delete_all().await.unwrap();
    assert!(export(&ines).contains("Marienhof"));
    assert_eq!(memory.namespaces().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_memory_is_the_same_after_reopening_and_rebuilding() {
    let directory = tempfile::tempdir().unwrap();
    let (before, packet) = {
        let memory = open(directory.path());
        let ines = user(&memory, "ines");
        for s in &three_sessions() {
            ines.ingest(s).await.unwrap();
        }
        (export(&ines), ines.retrieve("When was the wedding?", &RetrieveOptions::default()).await.unwrap())
    };
    let memory = open(directory.path());
    let ines = user(&memory, "ines");
    assert_eq!(export(&ines), before);
    let options = RetrieveOptions::default();
    assert!(
        ines.retrieve("When was the wedding?", &options).await.unwrap() == packet,
        "another packet after reopening"
    );
    assert_eq!(ines.rebuild_index().unwrap(), ines.stats().vectors);
    assert!(
        ines.retrieve("When was the wedding?", &options).await.unwrap() == packet,
        "another packet after rebuilding"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn export_and_import_carry_a_memory_over() {
    let (from, to) = (in_memory(), in_memory());
    let (from, to) = (user(&from, "ines"), user(&to, "ines"));
    for s in &three_sessions() {
        from.ingest(s).await.unwrap();
    }
    let text = export(&from);
    let report = to.import(&mut text.as_bytes()).await.unwrap();
    assert_eq!((report.sessions, report.unchanged), (3, 0));
    assert_eq!(export(&to), text);
    let again = to.import(&mut text.as_bytes()).await.unwrap();
    assert_eq!((again.sessions, again.units, again.unchanged), (0, 0, 3));
    assert_eq!(export(&to), text);

    for (damage, line) in [("{\"unit\":{}}", 1), ("no json", 1), ("", 1)] {
        let error = to.import(&mut damage.as_bytes()).await.unwrap_err();
        assert!(matches!(error, Error::Import { line: l, .. } if l == line), "{damage}: {error}");
    }
    let cut = &text[..text.len() - 20];
    assert!(matches!(to.import(&mut cut.as_bytes()).await, Err(Error::Import { .. })));
    assert_eq!(export(&to), text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_correction_wins_and_keeps_evidence_and_links() {
    let memory = in_memory();
    let ines = user(&memory, "ines");
    for s in &three_sessions() {
        ines.ingest(s).await.unwrap();
    }
    let unit =
        ines.list(&ListFilter::default()).into_iter().find(|u| u.fact.claim.contains("Lindau")).unwrap();
    let links = ines.show(unit.id).unwrap().neighbours.len();
    let correction = Correction {
        claim: Some("Ines works at a bakery in Bregenz.".to_owned()),
        event_time: Some("last Thursday".to_owned()),
        at: Some(jiff::civil::date(2024, 7, 1).at(9, 0, 0, 0)),
        ..Correction::default()
    };
    ines.correct(unit.id, &correction).await.unwrap();
    let shown = ines.show(unit.id).unwrap();
    assert_eq!(shown.unit.fact.claim, "Ines works at a bakery in Bregenz.");
    assert_eq!(shown.unit.evidence, unit.evidence);
    assert_eq!(shown.neighbours.len(), links);
    let interval = shown.unit.time.event.unwrap().interval.unwrap();
    assert_eq!(interval.first, jiff::civil::date(2024, 6, 20));
    let packet = ines.retrieve("Does Ines work at a bakery?", &RetrieveOptions::default()).await.unwrap();
    assert_eq!(packet.ranked()[0].unit.id, unit.id);

    for (correction, id) in [
        (Correction { claim: Some(" ".to_owned()), ..correction.clone() }, unit.id),
        (Correction { event_time: Some("whenever".to_owned()), ..correction.clone() }, unit.id),
        (Correction { at: None, ..correction.clone() }, unit.id),
        (correction.clone(), UnitId(9_999)),
    ] {
        let error = ines.correct(id, &correction).await.unwrap_err();
        assert!(matches!(error, Error::Correction { .. } | Error::NoUnit { .. }), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_bounds_the_rendered_packet() {
    let memory = in_memory();
    let ines = user(&memory, "ines");
    for s in &three_sessions() {
        ines.ingest(s).await.unwrap();
    }
    for budget in [0, 20, 60, 120, 400] {
        let options = RetrieveOptions { token_budget: Some(budget), ..RetrieveOptions::default() };
        let packet = ines.retrieve("What happened at the wedding of Greta?", &options).await.unwrap();
        assert!(packet.tokens() <= budget, "{} tokens for a budget of {budget}", packet.tokens());
    }
}
