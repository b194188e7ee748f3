//! Steps that fail: the offline implementation does them, the session says so, and a retry does only those again.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use async_trait::async_trait;
use fta_index::testing::HashEmbedder;
use fta_mem::{
    Correction, Error, IngestOutcome, ListFilter, Memory, OnFailure, UserMemory,
    llm::ModelError,
    segment::{BoundaryDetector, BoundarySpan, Bws, BwsConfig, DetectError, Session, Window},
    units::{
        Comparison, ExtractError, Extraction, ExtractionInput, FallbackStep, Link, LinkError, Neighbour,
        Relation, RelationClassifier, RuleClassifier, Unit, UnitExtractor, offline::RuleExtractor,
    },
};

use crate::support::{export, session, three_sessions, user};

/// How a flaky part answers its next calls; when nothing is planned, it works.
#[derive(Default)]
struct Plan {
    failures: Mutex<Vec<Option<ModelError>>>,
    n_calls: AtomicUsize,
}

impl Plan {
    /// The calls to come: `None` works.
    fn set(&self, calls: Vec<Option<ModelError>>) {
        *self.failures.lock().unwrap() = calls.into_iter().rev().collect();
    }

    fn next(&self) -> Result<(), ModelError> {
        self.n_calls.fetch_add(1, Ordering::Relaxed);
        self.failures.lock().unwrap().pop().flatten().map_or(Ok(()), Err)
    }

    fn take_calls(&self) -> usize {
        self.n_calls.swap(0, Ordering::Relaxed)
    }
}

fn down() -> ModelError {
    ModelError::Transient { message: "the server is down".to_owned() }
}

/// The rules, under another name and with failures.
#[derive(Default)]
struct Flaky {
    extraction: Plan,
    relations: Plan,
    boundaries: Plan,
    rules: RuleExtractor,
    links: RuleClassifier,
    group: usize,
    batch: usize,
}

#[async_trait]
impl UnitExtractor for Flaky {
    fn id(&self) -> &'static str {
        "flaky/1"
    }

    fn max_group_turns(&self) -> usize {
        self.group
    }

    async fn extract(&self, input: ExtractionInput<'_>) -> Result<Extraction, ExtractError> {
        let failed = |source| ExtractError::Model { extractor: "flaky/1".to_owned(), source };
        self.extraction.next().map_err(failed)?;
        self.rules.extract(input).await
    }
}

#[async_trait]
impl RelationClassifier for Flaky {
    fn id(&self) -> &'static str {
        "flaky/1"
    }

    fn batch_size(&self) -> usize {
        self.batch
    }

    async fn classify(
        &self,
        unit: &Unit,
        neighbours: &[Neighbour<'_>],
    ) -> Result<Vec<Option<Relation>>, LinkError> {
        self.links.classify(unit, neighbours).await
    }

    async fn classify_batch(
        &self,
        comparisons: &[Comparison<'_>],
    ) -> Result<Vec<Vec<Option<Relation>>>, LinkError> {
        let failed = |source| LinkError::Model { classifier: "flaky/1".to_owned(), source };
        self.relations.next().map_err(failed)?;
        self.links.classify_batch(comparisons).await
    }
}

#[async_trait]
impl BoundaryDetector for Flaky {
    fn id(&self) -> &'static str {
        "flaky/1"
    }

    async fn detect(&self, window: Window<'_>) -> Result<Vec<BoundarySpan>, DetectError> {
        let failed = |source| DetectError::Model { detector: "flaky/1".to_owned(), source };
        self.boundaries.next().map_err(failed)?;
        let middle = window.span.start + (window.span.len() / 2) as u32;
        let cut = |start, end| BoundarySpan {
            span: fta_mem::segment::TurnSpan::new(start, end),
            cue: fta_mem::segment::BoundaryCue::TopicChange,
        };
        Ok(vec![cut(window.span.start, middle), cut(middle, window.span.end)])
    }
}

/// A memory whose every step is done by `flaky`.
fn memory(flaky: &Arc<Flaky>, on_failure: OnFailure) -> UserMemory {
    let bws = Bws::new(BwsConfig { window: 4, min_step: 2 }, flaky.clone()).unwrap();
    let memory = Memory::builder()
        .embedder(Arc::new(HashEmbedder::default()))
        .segmenter(Arc::new(bws))
        .extractor(flaky.clone())
        .classifier(flaky.clone())
        .on_failure(on_failure)
        .build()
        .unwrap();
    user(&memory, "ines")
}

async fn undisturbed(flaky: Flaky) -> UserMemory {
    let ines = memory(&Arc::new(flaky), OnFailure::Stop);
    for s in &three_sessions() {
        ines.ingest(s).await.unwrap();
    }
    ines
}

/// What a memory says, without ids.
fn claims(ines: &UserMemory) -> Vec<String> {
    let said = |u: &Unit| format!("{} {} {}", u.evidence.session, u.evidence.turns, u.fact.claim);
    let mut claims: Vec<String> = ines.list(&ListFilter::default()).iter().map(said).collect();
    claims.sort();
    claims
}

/// Links as pairs of claims.
fn links(ines: &UserMemory) -> Vec<(String, String, Relation)> {
    let claim = |id| ines.show(id).unwrap().unit.fact.claim;
    let mut links: Vec<_> = ines.links().iter().map(|l| (claim(l.from), claim(l.to), l.relation)).collect();
    links.sort();
    links
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_extraction_is_done_by_the_rules_marked_and_retried_alone() {
    let flaky = Arc::new(Flaky::default());
    let ines = memory(&flaky, OnFailure::FallBack);
    for (i, s) in three_sessions().iter().enumerate() {
        flaky.extraction.set(if i == 1 { vec![None, Some(down())] } else { vec![] });
        let report = ines.ingest(s).await.unwrap();
        assert_eq!(report.covered_turns, report.content_turns, "a turn is lost");
        assert_eq!(report.fallbacks.len(), usize::from(i == 1));
    }
    let stand_ins = |ines: &UserMemory| {
        let units = ines.list(&ListFilter::default());
        units.into_iter().filter(|u| u.provenance.is_fallback()).collect::<Vec<_>>()
    };
    let made = stand_ins(&ines);
    assert!(!made.is_empty() && made.iter().all(|u| u.evidence.session.0 == "s2"));
    assert_eq!(made[0].provenance.extractor, "rules/1 instead of flaky/1");
    assert_eq!(ines.stats().sessions_to_retry, 1);
    assert_eq!(ines.ingest(&three_sessions()[1]).await.unwrap().outcome, IngestOutcome::Unchanged);

    flaky.extraction.take_calls();
    let reports = ines.retry().await.unwrap();
    assert_eq!(reports.iter().map(|r| r.session.0.as_str()).collect::<Vec<_>>(), ["s2"]);
    assert_eq!(flaky.extraction.take_calls(), 1, "more than the marked fragment was extracted");
    assert!(stand_ins(&ines).is_empty());
    assert_eq!(ines.stats().sessions_to_retry, 0);
    let expect = undisturbed(Flaky::default()).await;
    assert_eq!(claims(&ines), claims(&expect));
    assert_eq!(links(&ines), links(&expect));
    assert!(ines.retry().await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_fails_again_stays_marked() {
    let flaky = Arc::new(Flaky::default());
    let ines = memory(&flaky, OnFailure::FallBack);
    flaky.extraction.set(vec![Some(down()), None, Some(down())]);
    ines.ingest(&three_sessions()[0]).await.unwrap();
    let marks = ines.sessions()[0].state.marks().len();
    flaky.extraction.set(vec![Some(down()); 9]);
    for _ in 0..3 {
        let report = ines.retry().await.unwrap().remove(0);
        assert_eq!(report.covered_turns, report.content_turns, "a turn is lost");
        assert_eq!(ines.sessions()[0].state.marks().len(), marks);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_links_are_made_again() {
    let flaky = Arc::new(Flaky { batch: 4, ..Flaky::default() });
    let ines = memory(&flaky, OnFailure::FallBack);
    for s in &three_sessions() {
        flaky.relations.set(if s.id.0 == "s1" { vec![] } else { vec![Some(down()); 9] });
        ines.ingest(s).await.unwrap();
    }
    let marked = ines.sessions().iter().flat_map(|s| s.state.marks().to_vec()).collect::<Vec<_>>();
    assert!(!marked.is_empty());
    assert!(marked.iter().all(|m| matches!(m.step, FallbackStep::Relations(_))));
    flaky.relations.set(vec![]);
    ines.retry().await.unwrap();
    assert_eq!(ines.stats().sessions_to_retry, 0);
    let expect = undisturbed(Flaky { batch: 4, ..Flaky::default() }).await;
    assert_eq!(claims(&ines), claims(&expect));
    assert_eq!(links(&ines), links(&expect));
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_boundaries_are_cut_by_cohesion_and_the_session_is_made_anew() {
    let flaky = Arc::new(Flaky::default());
    let ines = memory(&flaky, OnFailure::FallBack);
    flaky.boundaries.set(vec![None, Some(down())]);
    let report = ines.ingest(&three_sessions()[0]).await.unwrap();
    assert_eq!(report.fallbacks[0].step, FallbackStep::Boundaries);
    assert_eq!(report.covered_turns, report.content_turns);
    ines.retry().await.unwrap();
    let expect = undisturbed(Flaky::default()).await;
    assert_eq!(ines.sessions()[0], expect.sessions()[0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retry_keeps_what_a_person_corrected() {
    let flaky = Arc::new(Flaky::default());
    let ines = memory(&flaky, OnFailure::FallBack);
    flaky.boundaries.set(vec![None, Some(down())]);
    ines.ingest(&three_sessions()[0]).await.unwrap();
    let id = ines.list(&ListFilter::default())[0].id;
    let at = "2024-03-05T08:00:00".parse().ok();
    let claim = Some("Ines started as a day nurse.".to_owned());
    ines.correct(id, &Correction { claim: claim.clone(), at, ..Correction::default() }).await.unwrap();
    ines.retry().await.unwrap();
    assert_eq!(Some(ines.show(id).unwrap().unit.fact.claim), claim);
    assert_eq!(ines.sessions()[0].state.marks()[0].step, FallbackStep::Boundaries);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_session_goes_on_when_boundaries_fail() {
    for n_works in 0..4 {
        let flaky = Arc::new(Flaky { group: 6, ..Flaky::default() });
        let ines = memory(&flaky, OnFailure::FallBack);
        let mut calls = vec![None; n_works];
        calls.push(Some(down()));
        flaky.boundaries.set(calls);
        let whole = session("s", "2024-05-01", &["I walked along the river with Ada."; 11]);
        let mut running = ines.begin(whole.id.clone(), whole.started_at).unwrap();
        for turn in &whole.turns {
            running.push(turn.clone()).await.unwrap();
        }
        let report = running.finish().await.unwrap();
        assert_eq!(report.covered_turns, whole.turns.len());
        let mut next = 0;
        for fragment in &ines.sessions()[0].fragments {
            assert_eq!(fragment.span.start, next);
            next = fragment.span.end;
        }
        assert_eq!(next as usize, whole.turns.len());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn groups_of_a_running_session_are_those_of_a_whole_one() {
    for group in [0, 3, 5, 40] {
        let flaky = Arc::new(Flaky { group, ..Flaky::default() });
        let (whole, running) = (memory(&flaky, OnFailure::Stop), memory(&flaky, OnFailure::Stop));
        for s in &three_sessions() {
            flaky.extraction.take_calls();
            whole.ingest(s).await.unwrap();
            let n_calls = flaky.extraction.take_calls();
            let mut open = running.begin(s.id.clone(), s.started_at).unwrap();
            for turn in &s.turns {
                open.push(turn.clone()).await.unwrap();
            }
            open.finish().await.unwrap();
            assert_eq!(flaky.extraction.take_calls(), n_calls);
        }
        assert_eq!(claims(&running), claims(&whole));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_can_never_answer_stops_the_ingest_and_changes_nothing() {
    let flaky = Arc::new(Flaky::default());
    let ines = memory(&flaky, OnFailure::FallBack);
    let sessions: Vec<Session> = three_sessions();
    ines.ingest(&sessions[0]).await.unwrap();
    let before = export(&ines);
    flaky.extraction.set(vec![None, Some(ModelError::Permanent { message: "no such key".to_owned() })]);
    let error = ines.ingest(&sessions[1]).await.unwrap_err();
    assert!(matches!(error, Error::Extract(ExtractError::Model { .. })), "{error:?}");
    assert_eq!(export(&ines), before);

    let strict = memory(&flaky, OnFailure::Stop);
    flaky.extraction.set(vec![Some(down())]);
    assert!(strict.ingest(&sessions[0]).await.is_err());
    assert_eq!(strict.stats().sessions, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_that_come_in_late_are_linked_from_later_ones() {
    let late = memory(&Arc::new(Flaky::default()), OnFailure::Stop);
    let talks = [
        session("s1", "2024-03-04", &["I live in a flat in Porto with my sister Ada."]),
        session("s2", "2024-04-04", &["I am going to look for a job at the harbour with my sister Ada."]),
        session("s3", "2024-05-06", &["I no longer live in the flat in Porto with my sister Ada."]),
    ];
    for i in [1, 2, 0] {
        late.ingest(&talks[i]).await.unwrap();
    }
    let unit = |id| late.show(id).unwrap().unit;
    let updates =
        |l: &&Link| unit(l.from).evidence.session.0 == "s3" && unit(l.to).evidence.session.0 == "s1";
    let links = late.links();
    let update = links.iter().find(updates).expect("a link to the session that came in late");
    assert_eq!(unit(update.to).lifecycle.superseded_by, Some(update.from));
    for link in &links {
        let when = |id| unit(id).time.said_at;
        assert!(when(link.from) >= when(link.to), "a link leads from older to newer");
    }
}
