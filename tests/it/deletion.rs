//! After a deletion no byte of the deleted text is in the data directory.

use fta_mem::{Error, segment::SessionId, units::UnitId};

use crate::support::{directory_holds, export, open, session, three_sessions, user};

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_session_leaves_no_byte() {
    let directory = tempfile::tempdir().unwrap();
    let memory = open(directory.path());
    let ines = user(&memory, "ines");
    for s in &three_sessions() {
        ines.ingest(s).await.unwrap();
    }
    assert!(directory_holds(directory.path(), "Greta called yesterday"));
    let deleted = ines.delete_session(&SessionId::from("s2")).await.unwrap();
    assert!(deleted.sessions == 1 && deleted.units > 0 && deleted.vectors > deleted.units);
    for text in ["Greta called yesterday", "so relieved", "invited"] {
        assert!(!directory_holds(directory.path(), text), "`{text}` is still there");
    }
    assert!(directory_holds(directory.path(), "Marienhof"));
    assert!(!export(&ines).contains("invited"));
    assert!(ines.links().iter().all(|l| ines.show(l.from).is_ok() && ines.show(l.to).is_ok()));
    drop((ines, memory));
    let ines = user(&open(directory.path()), "ines");
    assert_eq!(ines.sessions().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn deleting_all_leaves_other_users_and_no_byte() {
    let directory = tempfile::tempdir().unwrap();
    let memory = open(directory.path());
    let (ines, other) = (user(&memory, "ines"), user(&memory, "other"));
    for s in &three_sessions() {
        ines.ingest(s).await.unwrap();
    }
    other.ingest(&session("s1", "2024-01-01", &["I keep bees on the roof."])).await.unwrap();
    ines.delete_all().await.unwrap();
    for text in ["Marienhof", "Greta", "Lindau", "exhausted"] {
        assert!(!directory_holds(directory.path(), text), "`{text}` is still there");
    }
    assert!(directory_holds(directory.path(), "bees"));
    assert_eq!(ines.stats().units, 0);
    assert_eq!(ines.stats().vectors, 0);
    ines.ingest(&three_sessions()[0]).await.unwrap();
    assert!(ines.stats().units > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_unit_goes_and_its_turns_stay() {
    let directory = tempfile::tempdir().unwrap();
    let memory = open(directory.path());
    let ines = user(&memory, "ines");
    for s in &three_sessions() {
        ines.ingest(s).await.unwrap();
    }
    let unit = ines.list(&fta_mem::ListFilter::default()).remove(0);
    ines.delete_unit(unit.id).await.unwrap();
    assert!(matches!(ines.show(unit.id), Err(Error::NoUnit { .. })));
    assert!(directory_holds(directory.path(), "Marienhof"));
    assert!(matches!(ines.delete_unit(UnitId(9_999)).await, Err(Error::NoUnit { .. })));
    assert!(matches!(ines.delete_session(&SessionId::from("s9")).await, Err(Error::NoSession { .. })));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_other_units_say_stays_in_the_profile() {
    let ines = user(&crate::support::in_memory(), "ines");
    let said = "I have a dog, and his name is Bruno.";
    ines.ingest(&session("s1", "2024-03-04", &[said])).await.unwrap();
    ines.ingest(&session("s2", "2024-04-08", &["I have a dog, and his name is Bruno, my secret."]))
        .await
        .unwrap();
    let dogs = |ines: &fta_mem::UserMemory| {
        let profile = ines.longitudinal().profile;
        profile.into_iter().filter(|e| e.text.contains("Bruno")).collect::<Vec<_>>()
    };
    let before = dogs(&ines);
    assert!(
        before.len() == 1 && before[0].units.len() == 2 && before[0].text.contains("secret"),
        "{before:?}"
    );
    ines.delete_session(&SessionId::from("s2")).await.unwrap();
    let after = dogs(&ines);
    assert!(after.len() == 1 && after[0].units.len() == 1 && !after[0].text.contains("secret"), "{after:?}");
    ines.delete_session(&SessionId::from("s1")).await.unwrap();
    assert!(dogs(&ines).is_empty());
}
