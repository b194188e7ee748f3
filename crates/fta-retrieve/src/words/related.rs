//! Words that stand for each other, and kinds with their members: what stemming and small embeddings miss.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use super::stem;

/// Whether a sentence with the stem `said` may speak of what the stem `asked` names: both mean the same, or one is a
/// kind of the other. Every word is related to itself.
pub(crate) fn are_related(asked: &str, said: &str) -> bool {
    static PAIRS: LazyLock<Pairs> = LazyLock::new(|| {
        let mut pairs = Pairs::new();
        for group in SAME.split(';') {
            let stems: Vec<String> = group.split_whitespace().map(stem).collect();
            for (i, a) in stems.iter().enumerate() {
                stems[i + 1..].iter().for_each(|b| join(&mut pairs, a, b));
            }
        }
        for (head, members) in heads(KINDS).chain(heads(NEAR)) {
            members.iter().for_each(|member| join(&mut pairs, &head, member));
        }
        pairs
    });
    asked == said || PAIRS.get(asked).is_some_and(|others| others.contains(said))
}

/// Whether the stem `said` names a kind of what the stem `asked` names ("cello" of "instrument").
pub(crate) fn is_kind_of(asked: &str, said: &str) -> bool {
    static MEMBERS: LazyLock<HashMap<String, HashSet<String>>> =
        LazyLock::new(|| heads(KINDS).map(|(head, members)| (head, members.into_iter().collect())).collect());
    MEMBERS.get(asked).is_some_and(|members| members.contains(said))
}

type Pairs = HashMap<String, HashSet<String>>;

fn join(pairs: &mut Pairs, a: &str, b: &str) {
    if a != b {
        pairs.entry(a.to_owned()).or_default().insert(b.to_owned());
        pairs.entry(b.to_owned()).or_default().insert(a.to_owned());
    }
}

/// Stems of the heads and members of a table.
fn heads(table: &'static str) -> impl Iterator<Item = (String, Vec<String>)> {
    table.split(';').filter_map(|line| {
        let (head, members) = line.split_once(':')?;
        Some((stem(head.trim()), members.split_whitespace().map(stem).collect()))
    })
}

/// Words of one group may replace each other.
const SAME: &str = "live reside move relocate settle; work job employ career profession occupation; buy purchase; \
begin start; end finish stop; quit resign notice leave; wed marry wedding marriage; doctor physician; dog puppy; \
cat kitten; trip travel journey vacation holiday; visit trip go; argue fight quarrel argument; help support assist; \
lend borrow; love enjoy favourite prefer; baby birth born pregnant; die death funeral pass; prize award; \
sign register enrol enroll join; earn salary wage income; cost price pay; present gift; plan intend; sick ill; \
house home flat apartment; photo picture; shop store; autumn fall; town city; phone call; university college; \
child toddler; teach lesson course class teacher; study degree; race marathon; write wrote author; paint painting";

/// `kind: members`; members are not related to each other.
const KINDS: &str = "pet: dog puppy cat kitten hamster rabbit parrot turtle tortoise goldfish guinea; \
animal: dog cat horse bird rabbit snake turtle; \
instrument: guitar piano violin cello drum flute trumpet clarinet saxophone ukulele bass harp; \
music: song band concert album sing; \
sport: football soccer basketball tennis swim run hockey baseball golf volleyball climb ski surf; \
vehicle: car van bicycle truck motorcycle; \
colour: red blue green yellow orange purple pink black white grey brown";

/// `word: words that speak of it`.
const NEAR: &str = "child: son daughter twin baby; sibling: brother sister; parent: mother father; \
grandparent: grandmother grandfather; relative: aunt uncle cousin niece nephew; husband: marry; wife: marry; \
book: novel; illness: sick disease ill cancer diagnosis flu; degree: university college graduate; \
school: class graduate; meal: dinner lunch breakfast";

#[cfg(test)]
mod tests {
    use super::*;

    fn check(asked: &str, said: &str, expect: bool) {
        assert_eq!(are_related(&stem(asked), &stem(said)), expect, "{asked} {said}");
        assert_eq!(are_related(&stem(said), &stem(asked)), expect, "{said} {asked}");
    }

    #[test]
    fn groups_and_kinds() {
        check("live", "moved", true);
        check("instruments", "cello", true);
        check("cello", "violin", false);
        check("dog", "puppies", true);
        check("dog", "cat", false);
        check("lamp", "lamps", true);
        check("lamp", "tree", false);
        assert!(is_kind_of(&stem("colours"), &stem("yellow")));
        assert!(!is_kind_of(&stem("child"), &stem("son")));
    }
}
