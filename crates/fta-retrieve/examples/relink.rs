use fta_retrieve::Corpus;
use fta_units::*;
use std::collections::*;
fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
#[tokio::main(flavor = "current_thread")]
async fn main() {
    let path = std::env::args().nth(1).unwrap();
    let ns = std::env::args().nth(2).unwrap();
    let debug = std::env::args().nth(3);
    let n_near: usize = 12;
    let min = 0.3f32;
    let store = RedbStore::open(std::path::Path::new(&path)).unwrap();
    for ns in ns.split(',') {
        let snap = store.read(&Namespace::new(ns).unwrap()).unwrap();
        let vec: BTreeMap<UnitId, Vec<f32>> =
            snap.vectors.iter().filter(|v| v.view == 0).map(|v| (v.unit, v.values.clone())).collect();
        let mut corpus = Corpus::new(&MemorySnapshot::default());
        let rules = link::RuleClassifier::default();
        for s in &snap.sessions {
            corpus.apply(&[StoreOp::PutSession(s.clone())]);
            let mut units: Vec<Unit> =
                snap.units.iter().filter(|u| u.evidence.session == s.session.id).cloned().collect();
            for u in &mut units {
                u.lifecycle.superseded_by = None;
                u.lifecycle.valid_until = None;
                if snap.links.iter().any(|l| l.to == u.id && l.relation == Relation::FollowUp)
                    && u.fact.situation == SituationType::HomeworkOrPlan
                {
                    u.status = UnitStatus::Pending;
                    u.time.completion = Completion::Planned;
                }
            }
            for i in 0..units.len() {
                let u = units[i].clone();
                let q = &vec[&u.id];
                let mut near: Vec<(Unit, f32)> = corpus
                    .units()
                    .chain(units[..i].iter())
                    .map(|o| (o.clone(), dot(q, &vec[&o.id])))
                    .collect();
                near.sort_by(|a, b| b.1.total_cmp(&a.1));
                let words = corpus.lexical(&u.fact.claim).0;
                let mut by_words: Vec<(UnitId, f32)> = words.into_iter().collect();
                by_words.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
                by_words.truncate(8);
                let mut plans: Vec<UnitId> = near
                    .iter()
                    .filter(|(o, _)| {
                        link::is_open(o) && o.fact.participants.first() == u.fact.participants.first()
                    })
                    .map(|(o, _)| o.id)
                    .collect();
                plans.truncate(6);
                let preceding: Vec<UnitId> = units[i.saturating_sub(3)..i].iter().map(|o| o.id).collect();
                let cand: Vec<(usize, (Unit, f32))> = near
                    .into_iter()
                    .enumerate()
                    .filter(|(r, (o, s))| {
                        (*r < n_near && *s >= min)
                            || by_words.iter().any(|w| w.0 == o.id)
                            || plans.contains(&o.id)
                            || preceding.contains(&o.id)
                    })
                    .collect();
                let ns: Vec<Neighbour> =
                    cand.iter().map(|(_, (o, s))| Neighbour { unit: o, similarity: *s }).collect();
                let labels = rules.classify(&u, &ns).await.unwrap();
                if debug.as_deref() == Some("cand") {
                    println!("== {} {}", u.id, u.fact.claim);
                    for (r, (o, s)) in &cand {
                        println!("   {} rank {} sim {:.2} {}", o.id, r, s, o.fact.claim);
                    }
                }
                for ((r, (o, s)), l) in cand.iter().zip(labels) {
                    if let Some(l) = l {
                        println!(
                            "{:?} {} -> {} sim {:.2} rank {} {:?}\n    N: {}\n    O: {}",
                            l,
                            u.id,
                            o.id,
                            s,
                            r,
                            (u.fact.situation, o.fact.situation),
                            u.fact.claim,
                            o.fact.claim
                        );
                        let mut o2 = o.clone();
                        if link::effect(&u, o, l).apply(&mut o2) {
                            if let Some(own) = units.iter_mut().find(|x| x.id == o2.id) {
                                *own = o2;
                            } else {
                                corpus.apply(&[StoreOp::PutUnit(o2)]);
                            }
                        }
                    }
                }
            }
            corpus.apply(&units.into_iter().map(StoreOp::PutUnit).collect::<Vec<_>>());
        }
    }
}
